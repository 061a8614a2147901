"""What is wrong with a text in itself: mojibake, HTML escapes, and characters that no reader sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from html.entities import html5
from typing import Final, NamedTuple

from ftfy import fix_encoding
from ftfy.badness import BADNESS_RE

_REFERENCE: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|([A-Za-z][A-Za-z0-9]{1,31}));")
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ODD: Final = re.compile(r"[^\t\n\x20-\x25\x27-\x7e]")
"""What every defect has one of; most texts in English have none."""
_INVISIBLE: Final = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_AROUND: Final = 12
_NEAR: Final = 8
"""Characters beside a run outside ASCII that may tell of a wrong encoding; the tell-tale sequences are shorter."""


@dataclass(frozen=True, slots=True)
class TextDefect:
    """One kind of defect in a text: how often, where first (0-based characters), and what it looks like there."""

    kind: str
    count: int
    offset: int
    words: str


def text_defects(text: str) -> Iterator[TextDefect]:
    """Every kind of defect that a text has, in words; nothing if there is none."""
    for rule in _RULES if _ODD.search(text) else ():
        spans = list(rule.find(text))
        if spans:
            start, end = spans[0]
            times = "" if len(spans) == 1 else f"{len(spans)} times, first "
            shown = text[max(0, start - _AROUND) : end + _AROUND]
            words = f"holds {rule.said(text[start:end])} ({times}at character {start}: {shown!r})"
            yield TextDefect(rule.kind, len(spans), start, words)


class _Rule(NamedTuple):
    """A kind of defect: where a text has it, first and last character apart, and what is said of one place."""

    kind: str
    find: Callable[[str], Iterator[tuple[int, int]]]
    said: Callable[[str], str]


def _matches(pattern: re.Pattern[str]) -> Callable[[str], Iterator[tuple[int, int]]]:
    return lambda text: (match.span() for match in pattern.finditer(text))


def _mojibake(text: str) -> Iterator[tuple[int, int]]:
    """Whole runs of characters outside ASCII in which something tells of a wrong encoding."""
    runs = [match.span() for match in _FOREIGN.finditer(text)]
    near: list[tuple[int, int]] = []  # the pattern is slow, and what it finds is never far from such a run
    for first, last in runs:
        begin = near.pop()[0] if near and first - _NEAR <= near[-1][1] else max(0, first - _NEAR)
        near.append((begin, last + _NEAR))
    marks = [match.span() for place in near for match in BADNESS_RE.finditer(text, *place)]
    for first, last in runs:
        if any(start < last and first < end for start, end in marks):
            yield first, last


def _escapes(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _REFERENCE.finditer(text) if match[1] is None or f"{match[1]};" in html5)


def _misread(seen: str) -> str:
    meant = fix_encoding(seen)
    return f"text that was read in a wrong encoding, {seen!r}" + (f" for {meant!r}" if meant != seen else "")


def _code(seen: str) -> str:
    return f"character U+{ord(seen):04X}"


_RULES: Final = (
    _Rule(
        "replacement character",
        _matches(re.compile("\ufffd")),
        lambda _: "a replacement character in place of one that was lost",
    ),
    _Rule("mojibake", _mojibake, _misread),
    _Rule("HTML escape", _escapes, lambda seen: f"the HTML escape {seen} for {unescape(seen)!r}"),
    _Rule("control character", _matches(_CONTROL), lambda seen: f"the control {_code(seen)}"),
    _Rule("carriage return", _matches(re.compile("\r")), lambda _: "a carriage return"),
    _Rule("invisible character", _matches(_INVISIBLE), lambda seen: f"the invisible {_code(seen)}"),
)
