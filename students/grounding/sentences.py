"""The sentences of a text with their places: line by line, as notes are written, and by a library within a line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

Speaker = Literal["clinician", "patient", "informant"]

_CLINICIANS: Final = "doctor|dr|gp|clinician|physician|nurse|pharmacist|interviewer|paramedic|midwife|d"
_INFORMANTS: Final = "mother|mum|mom|father|dad|parent|carer|caregiver|wife|husband|partner|daughter|son"
_ROLES: Final = re.compile(rf"\s*(?:({_CLINICIANS})|(patient|p)|({_INFORMANTS}))\s*:\s*", re.IGNORECASE)
_BULLET: Final = re.compile(r"\s*(?:[-*•+]|\d{1,2}[.)])\s+")
_HEADING: Final = re.compile(r"(?:[A-Z][A-Z &/()'-]{2,40}:?|#{1,6}\s.*|[A-Z][A-Za-z &/'-]{2,40}:)")
_DENYING: Final = re.compile(r"\b(?:NO|NOT|NIL|NONE|NEVER|WITHOUT|DENIES|DENIED|NKDA|NKA|ABSENT|NEGATIVE)\b")
MOST_OF_A_HEADING: Final = 5
"""Words; a longer line in capitals is a sentence that someone shouts."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a text.

    Attributes:
        text: the sentence without white space, bullet or speaker before it.
        start: offset of its first character in the text.
        end: offset after its last character.
        heading: the heading that it stands under; nothing where there is none.
        speaker: who says it, in a conversation written as turns.
        question: whether it asks.
        is_heading: whether it is a heading itself, which states nothing.
    """

    text: str
    start: int
    end: int
    heading: str = ""
    speaker: Speaker | None = None
    question: bool = False
    is_heading: bool = False


def split_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text in order; every ``text[sentence.start:sentence.end]`` is its ``sentence.text``.

    Each line stands by itself, as no sentence of a note goes over one; white space and bullets belong to no sentence.
    """
    found: list[Sentence] = []
    heading, speaker, at = "", None, 0
    for line in text.splitlines(keepends=True):
        body_at = at
        at += len(line)
        body = line.rstrip()
        if bullet := _BULLET.match(body):
            body, body_at = body[bullet.end() :], body_at + bullet.end()
        stripped = body.strip()
        if not stripped:
            continue
        lead = body_at + len(body) - len(body.lstrip())
        if _is_heading(stripped):
            heading = stripped.strip("#: ")
            found.append(Sentence(stripped, lead, lead + len(stripped), is_heading=True))
            continue
        speaker = None
        if role := _ROLES.match(body):
            speaker = _speaker(role)
            body, body_at = body[role.end() :], body_at + role.end()
        found += _of_a_line(body, body_at, heading, speaker)
    return tuple(found)


def _is_heading(line: str) -> bool:
    """Whether a line is a heading; a denial in capitals is a statement."""
    short = len(line.split()) <= MOST_OF_A_HEADING
    return short and _HEADING.fullmatch(line) is not None and _DENYING.search(line) is None


def _of_a_line(body: str, at: int, heading: str, speaker: Speaker | None) -> list[Sentence]:
    import sentencex  # a quarter of a second, which what splits nothing should not pay

    found = []
    for part in sentencex.segment("en", body):
        words = part.strip()
        if words and any(character.isalnum() for character in words):
            start = at + len(part) - len(part.lstrip())
            found.append(Sentence(words, start, start + len(words), heading, speaker, question=words.endswith("?")))
        at += len(part)
    return found


def _speaker(role: re.Match[str]) -> Speaker:
    return "clinician" if role[1] else "patient" if role[2] else "informant"
