"""The length of texts in tokens, estimated, and documents cut around the places that matter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

BYTES_A_TOKEN: Final = 4
"""Bytes of UTF-8 that count as one token, whatever the model: near enough for English, and too many for no language."""
CUT: Final = "[...]"
"""Stands where a document was cut."""

_UNIT_ENDS: Final = re.compile(r"(?<=[.!?])\s+|\n+")


def estimate_tokens(text: str) -> int:
    """Tokens of a text: a fourth of its bytes, rounded up. No model counts exactly so."""
    return -(-len(text.encode("utf-8")) // BYTES_A_TOKEN)


def around(document: str, places: Sequence[int], *, tokens: int) -> str:
    """A document, or where that is too long its sentences next to some places, with ``CUT`` where others were.

    Args:
        document: the text.
        places: character offsets; none means the beginning.
        tokens: most tokens of what is returned; where not one sentence fits, that is nothing.
    """
    if estimate_tokens(document) <= tokens:
        return document
    units = sentences(document)
    kept: set[int] = set()
    room = BYTES_A_TOKEN * tokens
    used = 0
    for index in sorted(range(len(units)), key=lambda index: (_distance(units[index], places or (0,)), index)):
        gaps = 1 - (index - 1 in kept) - (index + 1 in kept)  # stretches of kept sentences more
        used += len(document[slice(*units[index])].encode("utf-8")) + gaps * (len(CUT) + 2)
        if used + len(CUT) + 2 > room:
            break
        kept.add(index)
    return _joined(document, units, kept) if kept else ""


def sentences(text: str) -> list[tuple[int, int]]:
    """Beginning and end of each sentence or line, white space after it included; together they are the whole text."""
    ends = [0, *(found.end() for found in _UNIT_ENDS.finditer(text)), len(text)]
    return [(start, end) for start, end in pairwise(ends) if end > start]


def _distance(unit: tuple[int, int], places: Sequence[int]) -> int:
    """Characters from a sentence to the nearest place; 0 where it holds one."""
    start, end = unit
    return min(max(start - place, place - end + 1, 0) for place in places)


def _joined(document: str, units: Sequence[tuple[int, int]], kept: set[int]) -> str:
    pieces: list[str] = []
    for index, unit in enumerate(units):
        if index in kept:
            pieces.append(document[slice(*unit)])
        elif index == 0 or index - 1 in kept:
            pieces.append(f"{CUT}\n" if index == 0 or pieces[-1].endswith("\n") else f"{CUT} ")
    return "".join(pieces).strip()
