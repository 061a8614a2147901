"""One published figure beside ours, and what counts as a match: the rounding of printed numbers allows it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from experiments.reproduce.printed import Printed, Record

Status = Literal["match", "differs", "not determined"]


@dataclass(frozen=True, slots=True)
class Range:
    """What the rounding of printed inputs allows a number to be.

    Args:
        low: smallest value.
        high: largest value; the same for inputs that are exact.
    """

    low: float
    high: float

    @classmethod
    def exact(cls, value: float) -> Range:
        """A number of exact inputs."""
        return cls(value, value)

    @classmethod
    def of(cls, printed: Printed, *, places: int | None = None) -> Range:
        """What a printed number may have been before it was rounded to its places."""
        half = half_unit(printed.places if places is None else places)
        return cls(float(printed) - half, float(printed) + half)

    def widened(self, reach: float) -> Range:
        """With ends that lie further out by a distance."""
        return Range(self.low - reach, self.high + reach)

    def meets(self, other: Range) -> bool:
        """Whether both hold one number; ends within a rounding error of each other meet."""
        noise = 1e-12 * max(1.0, abs(self.low), abs(other.high))
        return self.low <= other.high + noise and other.low <= self.high + noise

    def show(self, places: int) -> str:
        """With so many places, as one number where there is one."""
        low, high = f"{self.low:.{places}f}", f"{self.high:.{places}f}"
        return low if low == high else f"{low} to {high}"


def half_unit(places: int) -> float:
    """Half of the last place printed."""
    return float(0.5 * 10.0**-places)


@dataclass(frozen=True, slots=True)
class Figure:
    """A published figure and ours.

    Attributes:
        file: the published file's name.
        key: place in it.
        published: as printed.
        ours: what the data give; empty where they determine nothing.
        status: match, differs, or not determined.
        how: how ours was computed, or why the data do not determine it.
    """

    file: str
    key: str
    published: str
    ours: str
    status: Status
    how: str

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "file": self.file,
            "key": self.key,
            "published": self.published,
            "ours": self.ours or None,
            "status": self.status,
            "how": self.how,
        }


def compare(
    record: Record, ours: Range | Sequence[Range], how: str, *, places: int | None = None, reach: float = 0.0
) -> Figure:
    """A printed number, or a list of them, beside ours.

    Args:
        record: the printed number or list.
        ours: what the inputs allow, one for each printed number.
        how: how ours was computed.
        places: decimal places printed, where the file lost trailing zeros.
        reach: how much further apart both may lie, such as the ends of two bootstrap intervals.
    """
    numbers = [item.number for item in record.items] if isinstance(record.value, list) else [record.number]
    ranges = [ours] if isinstance(ours, Range) else list(ours)
    if len(numbers) != len(ranges):
        raise record.wrong(f"a list of {len(ranges)} numbers")
    shown = max(number.places for number in numbers) if places is None else places
    same = all(
        found.widened(reach).meets(Range.of(number, places=places))
        for number, found in zip(numbers, ranges, strict=True)
    )
    return Figure(
        record.file.name,
        record.key,
        _list([number.text for number in numbers], record),
        # One place more than printed, so that a difference shows.
        _list([found.show(shown + 1) for found in ranges], record),
        "match" if same else "differs",
        how,
    )


def compare_exactly(record: Record, ours: int | str | bool, how: str) -> Figure:
    """A printed count, name or truth value beside ours."""
    value: int | str | bool = record.value
    if isinstance(ours, bool):
        value = record.truth
    elif isinstance(ours, int):
        value = record.count
    else:
        value = record.text
    status: Status = "match" if value == ours else "differs"
    return Figure(record.file.name, record.key, _word(value), _word(ours), status, how)


def undetermined(record: Record, why: str) -> Figure:
    """A figure that the data do not determine, with the reason."""
    value = record.value
    if isinstance(value, list):
        text = _list([item.number.text for item in record.items], record)
    else:
        text = value if isinstance(value, str) else _word(value) if isinstance(value, bool) else record.number.text
    return Figure(record.file.name, record.key, text, "", "not determined", why)


def share_on_grid(printed: Printed, n: int, *, halves: bool = False) -> float:
    """The share of n that lies nearest to a printed one; ties may count half.

    With few enough units it is the only share that prints so, and with it the count behind a printed rate is known.
    """
    units = n * (2 if halves else 1)
    return round(float(printed) * units) / units if units else math.nan


def _word(value: int | str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _list(texts: Sequence[str], record: Record) -> str:
    return f"[{', '.join(texts)}]" if isinstance(record.value, list) else texts[0]
