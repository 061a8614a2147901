"""Drawings that several pages share: values with intervals in rows, and rates against each other.

A series is told apart by its mark and the style of its lines as well as by its colour: a hollow circle and dashes, a
filled square and whole lines, a filled triangle and dots, a hollow diamond and long dashes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from experiments.report.blocks import Picture, Table

WIDTH: Final = 360
LEFT, RIGHT = 74.0, 346.0
LOOKS: Final = ("accept", "held", "third", "fourth")
"""Classes of the series, in their order."""
MARKS: Final = ("hollow circles, dashed lines", "filled squares, whole lines", "filled triangles", "hollow diamonds")
"""The series in words."""
_SHORT: Final = 11
"""Labels of at most so many letters stand beside their row, longer ones above it."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A value with the ends of its interval, where it has one."""

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any] | None) -> Dot | None:
        """The dot of a measure's row; None where it is undefined."""
        return None if row is None or row["value"] is None else cls(row["value"], row["low"], row["high"])


@dataclass(frozen=True, slots=True)
class DotRow:
    """A row of a chart: its label, and a dot or nothing for every series."""

    label: str
    dots: tuple[Dot | None, ...]


@dataclass(frozen=True, slots=True)
class Operating:
    """One judge on a plane of detection against false alarms.

    Attributes:
        name: of the judge.
        curve: rates at every threshold, false alarms before detection; empty where nothing is swept.
        point: rates at the threshold that is used, or None.
        false_alarm: interval of the point's false-alarm rate.
        detection: interval of the point's detection.
    """

    name: str
    curve: tuple[tuple[float, float], ...]
    point: tuple[float, float] | None
    false_alarm: tuple[float, float] = (math.nan, math.nan)
    detection: tuple[float, float] = (math.nan, math.nan)


def dots_picture(
    title: str,
    desc: str,
    rows: Sequence[DotRow],
    *,
    series: Sequence[str],
    key: str,
    table: Table,
    chance: float | None = 0.5,
    floor: float = 0.4,
) -> Picture:
    """Shares with intervals, one row a subject and one line in it a series; an interval ends where the drawing does.

    Args:
        title: what it shows.
        desc: the same in a sentence or two; marks and their meanings are added.
        rows: in the order drawn.
        series: at most four names.
        key: unique in the page, for ids.
        table: its numbers.
        chance: where a dotted line stands, if anywhere.
        floor: the axis begins here, or at the least end of an interval below it.
    """
    ends = [end for row in rows for dot in row.dots if dot for end in (dot.value, dot.low, dot.high) if end is not None]
    # Few groups make intervals far wider than any share can be: the axis ends where shares do, or a little above.
    low, high = max(0.0, math.floor(10 * min([floor, *ends])) / 10), min(1.05, max([1.0, *ends]))
    beside = all(len(row.label) <= _SHORT for row in rows)
    left = LEFT if beside else 14.0

    def x(value: float) -> float:
        return left + (min(max(value, low), high) - low) / (high - low) * (RIGHT - left)

    drawn = legend(series)
    top = 14.0 * (1 + (len(series) - 1) // 2) + 14.0
    y = top + 12.0
    for row in rows:
        if beside:
            drawn.append(text(left - 8, y + 4, row.label, anchor="end"))
        else:
            drawn.append(text(left, y + 4, row.label))
            y += 15.0
        placed = [(number, dot) for number, dot in enumerate(row.dots) if dot is not None]
        for number, dot in placed:
            drawn += whisker(x, dot, y, number)
            y += 13.0
        y += 13.0 if not placed else 9.0
    ticks = [tick / 10 for tick in range(round(10 * low), 11) if tick % 2 == 0]
    grid = [
        f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top:.1f}" y2="{y - 6:.1f}"/>'
        + text(x(tick), y + 8, f"{tick:.1f}", anchor="middle")
        for tick in ticks
    ]
    if chance is not None and low <= chance:
        grid.append(f'<line class="chance" x1="{x(chance):.1f}" x2="{x(chance):.1f}" y1="{top:.1f}" y2="{y - 6:.1f}"/>')
    marks = "; ".join(f"{MARKS[number]}: {name}" for number, name in enumerate(series))
    return Picture(title, svg(key, title, f"{desc} {marks}.", y + 14, [*grid, *drawn]), table)


def plane_picture(
    title: str, desc: str, judges: Sequence[Operating], *, key: str, table: Table, cap: float | None = 0.10
) -> Picture:
    """Detection against false alarms, with the line on which a judge knows nothing, and the cap of the sweep.

    Args:
        title: what it shows.
        desc: the same in a sentence or two; marks and lines are added.
        judges: at most four.
        key: unique in the page, for ids.
        table: its numbers.
        cap: false-alarm rate that a dotted line stands at, or None.
    """
    names = [judge.name for judge in judges]
    top = 14.0 * (1 + (len(names) - 1) // 2) + 28.0
    bottom, left = top + 250.0, 40.0

    def x(rate: float) -> float:
        return left + rate * (RIGHT - left)

    def y(rate: float) -> float:
        return bottom - rate * (bottom - top)

    drawn = []
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        drawn.append(f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top:.1f}" y2="{bottom:.1f}"/>')
        drawn.append(f'<line class="grid" x1="{left:.1f}" x2="{RIGHT:.1f}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        drawn.append(text(x(tick), bottom + 13, f"{tick:.1f}", anchor="middle"))
        drawn.append(text(left - 5, y(tick) + 4, f"{tick:.1f}", anchor="end"))
    drawn.append(f'<line class="nothing" x1="{x(0):.1f}" y1="{y(0):.1f}" x2="{x(1):.1f}" y2="{y(1):.1f}"/>')
    drawn.append(text(x(0.64), y(0.55), "no signal"))
    if cap is not None:
        drawn.append(f'<line class="chance" x1="{x(cap):.1f}" x2="{x(cap):.1f}" y1="{top:.1f}" y2="{bottom:.1f}"/>')
        drawn.append(text(x(cap) + 3, bottom - 5, f"cap {cap:g}"))
    drawn.append(text((left + RIGHT) / 2, bottom + 27, "flag rate on clean documents", anchor="middle"))
    drawn.append(text(left, top - 5, "flag rate on flawed documents"))
    for number, judge in enumerate(judges):
        look = LOOKS[number]
        if len(judge.curve) > 1:
            path = " ".join(f"{x(alarm):.1f},{y(found):.1f}" for alarm, found in thinned(judge.curve))
            drawn.append(f'<polyline class="{look} curve" points="{path}"/>')
    for number, judge in enumerate(judges):
        if judge.point is not None:
            drawn += _cross(x, y, judge, number)
    marks = "; ".join(f"{MARKS[number]}: {name}" for number, name in enumerate(names))
    said = (
        f"{desc} {marks}. Curves are all thresholds, a mark with its intervals is the one that is used. On the "
        "diagonal a judge flags flawed and clean documents alike: no signal."
    )
    return Picture(title, svg(key, title, said, bottom + 34, [*legend(names), *drawn]), table)


def thinned(curve: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points of a curve that a drawing can tell apart, its ends among them."""
    kept = [curve[0]]
    for point in curve[1:-1]:
        if abs(point[0] - kept[-1][0]) + abs(point[1] - kept[-1][1]) >= 0.004:
            kept.append(point)
    return [*kept, curve[-1]]


def svg(key: str, title: str, desc: str, height: float, drawn: Iterable[str]) -> str:
    """A drawing with its name and description for those who do not see it."""
    return (
        f'<svg role="img" viewBox="0 0 {WIDTH} {height:.0f}" aria-labelledby="{key}-title {key}-desc">'
        f'<title id="{key}-title">{escape(title)}</title><desc id="{key}-desc">{escape(desc)}</desc>'
        f"{''.join(drawn)}</svg>"
    )


def text(x: float, y: float, words: str, *, anchor: str = "start") -> str:
    """Words at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def bar(look: str, x: float, y: float, width: float, height: float) -> str:
    """A bar with air on either side."""
    return f'<rect {look} x="{x + 0.5:.1f}" y="{y:.1f}" width="{width - 1:.1f}" height="{height:.1f}"/>'


def mark(x: float, y: float, number: int) -> str:
    """The mark of a series."""
    look = LOOKS[number]
    if number == 0:
        return f'<circle class="{look}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    if number == 1:
        return f'<rect class="{look}" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>'
    if number == 2:
        return f'<polygon class="{look}" points="{x:.1f},{y - 5:.1f} {x + 5:.1f},{y + 4:.1f} {x - 5:.1f},{y + 4:.1f}"/>'
    corners = f"{x:.1f},{y - 5:.1f} {x + 5:.1f},{y:.1f} {x:.1f},{y + 5:.1f} {x - 5:.1f},{y:.1f}"
    return f'<polygon class="{look}" points="{corners}"/>'


def legend(names: Sequence[str]) -> list[str]:
    """Marks with their meanings, two a line."""
    drawn = []
    for number, name in enumerate(names):
        x, y = 14.0 + 172.0 * (number % 2), 10.0 + 14.0 * (number // 2)
        drawn += [mark(x, y, number), text(x + 10, y + 4, name)]
    return drawn


def whisker(x: Callable[[float], float], dot: Dot, y: float, number: int) -> list[str]:
    """A dot with its interval."""
    drawn = []
    if dot.low is not None and dot.high is not None:
        ends = f'x1="{x(dot.low):.1f}" x2="{x(dot.high):.1f}" y1="{y:.1f}" y2="{y:.1f}"'
        drawn.append(f'<line class="{LOOKS[number]} span" {ends}/>')
    return [*drawn, mark(x(dot.value), y, number)]


def _cross(x: Callable[[float], float], y: Callable[[float], float], judge: Operating, number: int) -> list[str]:
    assert judge.point is not None
    alarm, found = judge.point
    drawn = []
    for (low, high), upright in ((judge.false_alarm, False), (judge.detection, True)):
        if not math.isnan(low):
            ends = (
                f'x1="{x(alarm):.1f}" x2="{x(alarm):.1f}" y1="{y(low):.1f}" y2="{y(high):.1f}"'
                if upright
                else f'x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{y(found):.1f}" y2="{y(found):.1f}"'
            )
            drawn.append(f'<line class="{LOOKS[number]} span" {ends}/>')
    return [*drawn, mark(x(alarm), y(found), number)]
