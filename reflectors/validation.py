"""Rules that a proposed instruction must keep to be evaluated at all."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Final

from reflectors.excerpts import sentences
from reflectors.marking import BEGIN, END, fenced
from splits.contamination import Kind, NgramIndex, Overlap
from splits.shingles import words_of
from students.prompted import PromptedStudent
from students.student import Student

MAX_WORDS: Final = 1_500
CONTRACT_WORDS: Final = 7
"""Length in words of the runs that restate the fixed part of a prompt; shorter sentences of it count as a whole."""
_LEAST_SENTENCE: Final = 4
"""Fewest words of a whole sentence of it that counts; shorter ones may stand anywhere."""
_PLACEHOLDER = re.compile(r"\$\{?([a-z_]\w*)\}?|\{([a-z_]\w*)\}")

_OVERLAPS: Final[Mapping[Kind, str]] = {
    "ngram": "repeats text",
    "passage": "nearly repeats a passage",
    "answer_key": "states a fact or a changed sentence",
    "name": "gives names",
}


def invalid_reason(
    text: str,
    *,
    parents: Collection[str],
    earlier: Collection[str],
    forbidden: NgramIndex,
    overlaps: Collection[Overlap] = (),
    contract: Collection[str] = (),
    max_words: int = MAX_WORDS,
) -> str | None:
    """Why an instruction cannot become a candidate, or None. No reason repeats a word of an example.

    Args:
        text: the proposed instruction.
        parents: the instructions it was made from.
        earlier: every instruction tried before.
        forbidden: n-grams of accept and held-out text, as hashes.
        overlaps: what else was found in it of accept or held-out examples.
        contract: the fixed texts around the instruction (see :func:`fixed_texts`).
        max_words: most words.
    """
    if not text.strip():
        return "empty"
    if _plain(text) in {_plain(old) for old in earlier}:
        return "duplicate of an earlier candidate"
    if _plain(text) in {_plain(parent) for parent in parents}:
        return "the same as a parent"
    if lost := sorted(set.union(set(), *(placeholders(parent) for parent in parents)) - placeholders(text)):
        return f"lost placeholder {', '.join(lost)}"
    if (words := len(text.split())) > max_words:
        return f"{words} words, more than {max_words}"
    if text.count("```") % 2:
        return "truncated: an open code fence"
    if fenced(text):
        return "a code fence around the whole instruction"
    if any(marker in text for marker in (BEGIN, END)):
        return "holds a marker of the reflector's answer"
    before = max((_restated(parent, contract) for parent in parents), default=0)
    if _restated(text, contract) > before:
        return "restates the fixed part of the prompt: its inputs or its answer format"
    if copied := forbidden.copied(text):
        return f"repeats {len(copied)} run(s) of {forbidden.size} words of accept or held-out text"
    if overlaps:
        said = "; ".join(dict.fromkeys(_OVERLAPS[overlap.kind] for overlap in overlaps))
        return f"{said} of accept or held-out examples"
    return None


def placeholders(text: str) -> set[str]:
    """Names of the ``$slot``, ``${slot}`` and ``{slot}`` placeholders of a text."""
    return {first or second for first, second in _PLACEHOLDER.findall(text)}


def fixed_texts(student: Student) -> tuple[str, ...]:
    """What stands around the evolving instruction in a student's prompt; nothing is known of a program's prompts."""
    return tuple(body for _, body in student.prompt.shape.sections) if isinstance(student, PromptedStudent) else ()


def _restated(text: str, contract: Collection[str]) -> int:
    """Runs of words and whole short sentences that a text has of the fixed part; a paraphrase is not seen."""
    lines = [_PLACEHOLDER.sub("\n", fixed) for fixed in contract]
    pieces = [body[slice(*unit)] for body in lines for unit in sentences(body)]
    short = {
        f" {' '.join(words)} " for piece in pieces if _LEAST_SENTENCE <= len(words := words_of(piece)) < CONTRACT_WORDS
    }
    said = f" {' '.join(words_of(text))} "
    runs = NgramIndex.of((line for body in lines for line in body.split("\n\n")), size=CONTRACT_WORDS).copied(text)
    return len(runs) + sum(sentence in said for sentence in short)


@lru_cache(maxsize=4096)  # every proposal is compared with all earlier ones
def _plain(text: str) -> str:
    return " ".join(text.split())
