"""The parts that a report is made of, the same for every format it is written in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Operation = Literal["same", "removed", "added"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain words."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Words that must not be missed."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Names with their values; a value may be a long hash."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first cell of each row is its header."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A text as it is, such as an instruction."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A word-level difference between two texts."""

    label: str
    parts: tuple[tuple[Operation, str], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing, what it shows in words, and its numbers as a table."""

    title: str
    svg: str
    table: Table


@dataclass(frozen=True, slots=True)
class Pictures:
    """Drawings that stand beside each other where there is room."""

    items: tuple[Picture, ...]


Simple = Paragraph | Notice | Bullets | Pairs | Table | Verbatim | Difference


@dataclass(frozen=True, slots=True)
class Folded:
    """Parts that are shown on request, and always on paper."""

    summary: str
    parts: tuple[Simple, ...]


Block = Simple | Pictures | Folded


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its parts; ``anchor`` is its place in links."""

    anchor: str
    title: str
    parts: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A report: over-line, title, what must be read first, and sections.

    Without an over-line of its own it is the report of the campaign ``name``.
    """

    name: str
    title: str
    lead: tuple[Block, ...]
    sections: tuple[Section, ...]
    over: str | None = None
