"""The site map: every span of a note that states a fact, with offset, heading and strength."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, get_args

from lineage.errors import CorpusError

Strength = Literal["explicit", "paraphrase", "partial"]
STRENGTHS: Final[tuple[str, ...]] = get_args(Strength)

_OPEN = re.compile(r"\[\[(?P<fact>[\w-]+) (?P<strength>[a-z]+): ")
_HEADING = re.compile(r"[A-Z][A-Z0-9 /&,-]+")


@dataclass(frozen=True, slots=True)
class Site:
    """One span of a note that states one fact.

    ``start`` and ``end`` are character offsets into the note (``note[start:end] == text``).
    """

    fact: str
    strength: Strength
    start: int
    end: int
    heading: str
    text: str


def parse_note(markup: str, *, file: str = "") -> tuple[str, tuple[Site, ...]]:
    """Read a note whose sites are marked ``[[fact strength: text]]``.

    Returns:
        The note without marks, and its sites in order of their offsets. Sites never nest or overlap.

    Raises:
        CorpusError: a mark that is not closed, is nested, is empty or has an unknown strength.
    """
    plain: list[str] = []
    spans: list[tuple[str, Strength, int, int]] = []
    at = length = 0
    while (found := _OPEN.search(markup, at)) is not None:
        close = markup.find("]]", found.end())
        inner = markup[found.end() : close]
        if close < 0 or "[[" in inner or not inner.strip():
            raise CorpusError(
                f"mark {found.group(0)!r} is not closed by ]], is nested or is empty; mark flat, non-empty spans",
                file=file,
                field="note",
            )
        if found["strength"] not in STRENGTHS:
            raise CorpusError(
                f"strength {found['strength']!r} of {found['fact']} is not one of {', '.join(STRENGTHS)}",
                file=file,
                field="note",
            )
        before = markup[at : found.start()]
        plain += [before, inner]
        start = length + len(before)
        length = start + len(inner)
        spans.append((found["fact"], found["strength"], start, length))  # type: ignore[arg-type]  # checked above
        at = close + 2
    plain.append(markup[at:])
    note = "".join(plain)
    if "[[" in note or "]]" in note:
        raise CorpusError("a mark must read [[fact strength: text]]; found stray brackets", file=file, field="note")
    sites = tuple(
        Site(fact, strength, start, end, heading_of(note, start), note[start:end])
        for fact, strength, start, end in spans
    )
    return note, sites


def is_heading(line: str) -> bool:
    """Whether a line of a note is a heading: capitals only, alone on its line."""
    return _HEADING.fullmatch(line) is not None


def heading_of(note: str, offset: int) -> str:
    """The heading above ``offset``, or ``""`` before the first heading."""
    heading = ""
    at = 0
    for line in note.split("\n"):
        if at > offset:
            break
        if is_heading(line):
            heading = line
        at += len(line) + 1
    return heading
