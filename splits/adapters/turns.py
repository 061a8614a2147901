"""Turns of dialogues: transcription tags and speaker tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_TAG: Final = re.compile(r"</?UNSURE>|<UNIN/>|<INAUDIBLE_SPEECH/>")
_BETWEEN_WORDS: Final = re.compile(rf"(?<=\w)(?:{_TAG.pattern})+(?=\w)")
_INAUDIBLE: Final = re.compile(r"\[ ?inaudible(?: [\d:]+)? ?\]")
_SPEAKER: Final = re.compile(r"\[(doctor|patient|patient_guest)\]")
_NAMES: Final = {"doctor": "Doctor", "patient": "Patient", "patient_guest": "Guest"}


class Untagged(NamedTuple):
    """A text without transcription tags, and how many tags it had (a pair counts twice)."""

    text: str
    tags: int


def untagged(text: str) -> Untagged:
    """Strip PriMock57's transcription tags, keeping the words that were marked unsure."""
    bare = _TAG.sub("", _BETWEEN_WORDS.sub(" ", text))
    return Untagged(" ".join(bare.split()), len(_TAG.findall(text)))


class Turn(NamedTuple):
    """What one speaker says in one go."""

    speaker: str
    text: str


class Dialogue(NamedTuple):
    """Turns, and what was mended to get them.

    Attributes:
        turns: in order.
        continued: lines without a speaker tag, joined to the turn before (or a first turn without a speaker).
        bare: speaker tags without words.
        blank: blank lines.
        inaudible: marks of inaudible speech.
    """

    turns: tuple[Turn, ...]
    continued: int
    bare: int
    blank: int
    inaudible: int

    def __str__(self) -> str:
        return "\n".join(f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text for turn in self.turns)


def dialogue(text: str) -> Dialogue:
    """Cut a dialogue with ``[doctor]`` tags, one turn a line or all in one line, into turns."""
    counts = {"continued": 0, "bare": 0, "blank": 0}
    spoken, inaudible = _INAUDIBLE.subn(" ", text)
    turns: list[Turn] = []
    for line in spoken.strip().split("\n"):
        for speaker, words in _parts(line, counts):
            if speaker or not turns:
                turns.append(Turn(speaker, words))
            else:
                turns[-1] = Turn(turns[-1].speaker, f"{turns[-1].text} {words}")
    return Dialogue(tuple(turns), inaudible=inaudible, **counts)


def _parts(line: str, counts: dict[str, int]) -> Iterator[tuple[str, str]]:
    if not line.strip():
        counts["blank"] += 1
        return
    before, *tagged = _SPEAKER.split(line)
    if before.strip():
        counts["continued"] += 1
        yield "", " ".join(before.split())
    for speaker, words in zip(tagged[::2], tagged[1::2], strict=True):
        if words.strip():
            yield _NAMES[speaker], " ".join(words.split())
        else:
            counts["bare"] += 1
