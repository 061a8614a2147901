"""The drawing of a crossed experiment: every prompt over the settings, so that lines cross where prompts interact."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

from experiments.crossing.data import ExperimentData
from experiments.report.blocks import Picture, Table
from experiments.report.charts import RIGHT, svg, text
from experiments.report.wording import measure

TOP, BOTTOM, LEFT = 52.0, 232.0, 46.0
HEIGHT: Final = 262
LOOKS: Final = (("axis", "2 3"), ("held", ""), ("accept", "6 3"))
"""Class and dashes of the lines of the seed, and of the prompts in turn."""


def crossed_picture(data: ExperimentData) -> Picture:
    """Paired discrimination of each prompt over the settings, with the interval of each cell."""
    prompts = ["seed", *data.order]
    cells = {key: row["measures"]["omissions"] for key, row in data.cells.items()}
    ends = [row[name] for row in cells.values() for name in ("value", "low", "high") if row[name] is not None]
    low, high = math.floor(10 * min([0.4, *ends])) / 10, math.ceil(10 * max([1.0, *ends])) / 10

    def y(value: float) -> float:
        return float(BOTTOM - (value - low) / (high - low) * (BOTTOM - TOP))

    def x(setting: int, prompt: int) -> float:
        middle = LEFT + (setting + 0.5) * (RIGHT - LEFT) / len(data.order)
        return middle + 16 * (prompt - (len(prompts) - 1) / 2)

    drawn: list[str] = []
    for tick in range(round(10 * low), round(10 * high) + 1):
        at = y(tick / 10)
        look = "chance" if tick == 5 else "grid"
        drawn.append(f'<line class="{look}" x1="{LEFT:.1f}" x2="{RIGHT:.1f}" y1="{at:.1f}" y2="{at:.1f}"/>')
        drawn.append(text(LEFT - 6, at + 4, f"{tick / 10:.1f}", anchor="end"))
    for place, setting in enumerate(data.order):
        middle = LEFT + (place + 0.5) * (RIGHT - LEFT) / len(data.order)
        drawn.append(text(middle, BOTTOM + 22, f"judged at {setting}", anchor="middle"))
    for number, prompt in enumerate(prompts):
        look, dashes = LOOKS[number % len(LOOKS)]
        points = [
            (x(place, number), cells[prompt, setting])
            for place, setting in enumerate(data.order)
            if cells[prompt, setting]["value"] is not None
        ]
        dashed = f' style="stroke-dasharray:{dashes}"' if dashes else ' style="stroke-dasharray:none"'
        for (a, one), (b, other) in pairwise(points):
            drawn.append(
                f'<line class="{look}"{dashed} x1="{a:.1f}" y1="{y(one["value"]):.1f}" x2="{b:.1f}" '
                f'y2="{y(other["value"]):.1f}"/>'
            )
        for at, row in points:
            if row["low"] is not None:
                drawn.append(
                    f'<line class="{look} span" style="stroke-dasharray:none" x1="{at:.1f}" x2="{at:.1f}" '
                    f'y1="{y(row["low"]):.1f}" y2="{y(row["high"]):.1f}"/>'
                )
            drawn.append(_mark(at, y(row["value"]), number))
        words = "seed" if prompt == "seed" else f"searched at {prompt}"
        along, down = 14 + 172 * (number % 2), 12 + 16 * (number // 2)
        drawn += [_mark(along, down, number), text(along + 10, down + 4, words)]
    title = "Prompts over settings"
    desc = (
        "Paired discrimination on held-out omissions with 95% intervals, one line a prompt, settings side by side. "
        "Where prompts are each better in the setting in which they were searched, their lines cross. 0.5 is a coin "
        "flip."
    )
    table = Table(
        "Paired discrimination on held-out omissions.",
        ("Prompt", *(f"judged at {setting}" for setting in data.order)),
        tuple((prompt, *(measure(cells[prompt, setting]) for setting in data.order)) for prompt in prompts),
    )
    return Picture(title, svg("crossed", title, desc, HEIGHT, drawn), table)


def _mark(x: float, y: float, number: int) -> str:
    """A mark of its own shape for each prompt: ring, square, triangle."""
    kind = number % 3
    if kind == 0:
        return (
            f'<circle class="ring" fill="none" stroke="currentColor" stroke-width="2" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        )
    if kind == 1:
        return f'<rect class="held" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>'
    corners = f"{x:.1f},{y - 5:.1f} {x - 5:.1f},{y + 4:.1f} {x + 5:.1f},{y + 4:.1f}"
    return f'<polygon class="accept" fill="none" stroke="currentColor" stroke-width="2" points="{corners}"/>'
