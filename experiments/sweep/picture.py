"""The drawing of a study: two objectives against each other, or one against the number of trials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from experiments.report.blocks import Picture, Table
from experiments.report.charts import WIDTH, mark, svg, text
from experiments.sweep.tables import column, value
from optimize.sweep import StudyResult
from optimize.sweep.objectives import GREATEST
from optimize.sweep.plan import Measure

LEFT, RIGHT, TOP, BOTTOM = 58.0, WIDTH - 14.0, 46.0, 236.0
TICKS: Final = 4


def pictures(result: StudyResult) -> tuple[Picture, ...]:
    """The first objective against each of the others; of a study with one, against the number of the trial."""
    if not result.ranked:
        return ()
    first, *others = result.objectives
    return tuple(pareto_picture(result, first, other) for other in others) or (history_picture(result, first),)


def pareto_picture(result: StudyResult, first: Measure, other: Measure) -> Picture:
    """Complete trials by two objectives; those that no other is better than in every objective are filled."""
    front = {trial.number for trial in result.front}
    title = f"{_capital(column(result, first))} against {column(result, other)}"
    across, up = (
        "left" if other not in GREATEST else "right",
        "above" if first in GREATEST else "below",
    )
    desc = (
        f"One mark a complete trial: {column(result, first)} upwards, {column(result, other)} to the right, both of "
        f"the winner on accept. Better is {up} and to the {across}. Filled squares with their numbers are the Pareto "
        "front: no trial is better in one objective without being worse in another. Hollow circles are the other "
        "trials."
    )
    points = [(trial.values[other], trial.values[first], trial.number) for trial in result.ranked]
    table = Table(
        f"{title}: complete trials, best first.",
        ("Trial", column(result, first), column(result, other), "On the front"),
        tuple(
            (f"{number}", value(result, first, y), value(result, other, x), "yes" if number in front else "no")
            for x, y, number in points
        ),
    )
    drawn = [
        mark(LEFT, 12, 1),
        text(LEFT + 10, 16, "Pareto front"),
        mark(LEFT + 110, 12, 0),
        text(LEFT + 120, 16, "other complete trials"),
        *_scatter(points, front, upwards=column(result, first), rightwards=column(result, other)),
    ]
    return Picture(title, svg(f"pareto-{other}", title, desc, BOTTOM + 40, drawn), table)


def history_picture(result: StudyResult, first: Measure) -> Picture:
    """Complete trials in their order; the best so far are filled."""
    greatest = first in GREATEST
    points = sorted((float(trial.number), trial.values[first], trial.number) for trial in result.ranked)
    best: set[int] = set()
    so_far = -math.inf if greatest else math.inf
    for _, found, number in points:
        if found > so_far if greatest else found < so_far:
            so_far = found
            best.add(number)
    title = f"{_capital(column(result, first))} by trial"
    desc = (
        f"One mark a complete trial in the order of their numbers: {column(result, first)} of the winner on accept. "
        "Filled squares with their numbers are better than every trial before them."
    )
    table = Table(
        f"{title}: complete trials.",
        ("Trial", column(result, first), "Best so far"),
        tuple((f"{number}", value(result, first, y), "yes" if number in best else "no") for _, y, number in points),
    )
    drawn = [
        mark(LEFT, 12, 1),
        text(LEFT + 10, 16, "best so far"),
        mark(LEFT + 110, 12, 0),
        text(LEFT + 120, 16, "other complete trials"),
        *_scatter(points, best, upwards=column(result, first), rightwards="trial"),
    ]
    return Picture(title, svg("history", title, desc, BOTTOM + 40, drawn), table)


def _scatter(
    points: Sequence[tuple[float, float, int]], filled: set[int], *, upwards: str, rightwards: str
) -> list[str]:
    across, up = (_axis([point[axis] for point in points]) for axis in (0, 1))

    def x(found: float) -> float:
        return LEFT + (found - across[0]) / (across[-1] - across[0]) * (RIGHT - LEFT)

    def y(found: float) -> float:
        return BOTTOM - (found - up[0]) / (up[-1] - up[0]) * (BOTTOM - TOP)

    drawn = [
        text(4, TOP - 8, upwards),
        text(RIGHT, BOTTOM + 32, rightwards, anchor="end"),
    ]
    for tick in up:
        drawn.append(f'<line class="grid" x1="{LEFT:.1f}" x2="{RIGHT:.1f}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        drawn.append(text(LEFT - 6, y(tick) + 4, _tick(tick, up), anchor="end"))
    for tick in across:
        drawn.append(f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP:.1f}" y2="{BOTTOM:.1f}"/>')
        drawn.append(text(x(tick), BOTTOM + 16, _tick(tick, across), anchor="middle"))
    # What is filled is drawn last, and of trials at one place the best in rank is named.
    places: dict[tuple[str, str], int] = {}
    for found, height, number in sorted(points, key=lambda point: point[2] in filled):
        drawn.append(
            f'<g transform="translate({x(found):.1f} {y(height):.1f})">{mark(0, 0, 1 if number in filled else 0)}</g>'
        )
    for found, height, number in points:
        place = (f"{x(found):.0f}", f"{y(height):.0f}")
        if number in filled and place not in places:
            places[place] = number
            side, shift = ("end", -7) if x(found) > RIGHT - 24 else ("start", 7)
            drawn.append(text(x(found) + shift, y(height) - 5, f"{number}", anchor=side))
    return drawn


def _axis(values: Sequence[float]) -> list[float]:
    """Ticks of whole steps that span all values."""
    low, high = min(values), max(values)
    if high == low:
        low, high = low - abs(low) * 0.1 - 0.05, high + abs(high) * 0.1 + 0.05
    rough = (high - low) / TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * times for times in (1, 2, 5, 10) if unit * times >= rough)
    start, stop = math.floor(low / step), math.ceil(high / step)
    return [round(step * place, 12) for place in range(start, stop + 1)]


def _tick(number: float, axis: Sequence[float]) -> str:
    step = axis[1] - axis[0]
    return f"{number:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}" if step < 1 else f"{number:.0f}"


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]
