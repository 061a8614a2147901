"""Drawings of a report as inline SVG: optimism of accept, score distributions, frontier leads.

They are drawn by hand for equal bytes everywhere. Every drawing is 360 units wide, which a phone shows at full size,
and tells its series apart by shape and pattern as well as by colour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from experiments.report.arms import Arm
from experiments.report.blocks import Picture, Table
from experiments.report.data import ReportData
from experiments.report.wording import measure

WIDTH: Final = 360
LEFT, RIGHT = 74.0, 346.0
BINS: Final = 20


def optimism_picture(data: ReportData) -> Picture:
    """Paired discrimination of every pool candidate on accept and, where measured, on held-out data."""
    held = {data.verdict["baseline"]: data.baseline}
    if data.confirmed:
        held[data.verdict["winner"]] = data.winner
    rows = []
    for place in data.choice["ranking"]:
        arm = held.get(place["candidate"])
        mark = " (winner)" if place["candidate"] == data.verdict["winner"] else ""
        accept = data.accept[place["candidate"]].measures["omissions"]
        rows.append((place["name"] + mark, accept, None if arm is None else arm.measures["omissions"]))
    defined = [row for _, *both in rows for row in both if row is not None and row["value"] is not None]
    ends: list[float] = [row[end] for row in defined for end in ("value", "low", "high") if row[end] is not None]
    low = math.floor(10 * min([0.4, *ends])) / 10
    high = max([1.0, *ends])

    def x(value: float) -> float:
        return LEFT + (value - low) / (high - low) * (RIGHT - LEFT)

    y, drawn = 40.0, [*_legend(("accept", 74, 12), ("held-out", 164, 12))]
    for name, *both in rows:
        drawn.append(_text(LEFT - 8, y + 4, name.replace(" (winner)", "\N{BLACK STAR}"), anchor="end"))
        for row, split in zip(both, ("accept", "held-out"), strict=True):
            if row is not None and row["value"] is not None:
                drawn += _whisker(x, row, y, split)
                y += 14
        y += 10
    axis = [_tick(x(tick / 10), 28, y - 6, f"{tick / 10:.1f}") for tick in range(round(10 * low), 11) if tick % 2 == 0]
    chance = (
        f'<line class="chance" x1="{x(0.5):.1f}" x2="{x(0.5):.1f}" y1="28" y2="{y - 6:.1f}"/>' if low <= 0.5 else ""
    )
    title = "Optimism: accept against held-out data"
    desc = (
        "Paired discrimination on omissions with 95% intervals, one candidate a row. Hollow circles with dashed lines "
        "are accept, filled squares with whole lines held-out data. A star marks the winner; 0.5 is a coin flip."
    )
    table = Table(
        "Paired discrimination on omissions, best on accept first.",
        ("Candidate", "Accept", "Held-out"),
        tuple(
            (name, measure(ours), "not measured" if theirs is None else measure(theirs)) for name, ours, theirs in rows
        ),
    )
    return Picture(title, _svg("optimism", title, desc, y + 14, [*axis, chance, *drawn]), table)


def distribution_picture(title: str, arm: Arm, *, scale: float, key: str) -> Picture:
    """Scores of clean documents above the axis, of flawed ones below, each as a share of its own number.

    Args:
        title: what it shows.
        arm: the candidate on the split.
        scale: the score of a flawless document; scores are from 0 to it.
        key: unique in the page, for ids.
    """
    clean, flawed = _binned(arm.clean, scale), _binned(arm.flawed, scale)
    most = max([*_shares(clean), *_shares(flawed), 0.05])
    middle, reach, left = 118.0, 76.0, 34.0
    width = (RIGHT - left) / BINS
    drawn = [
        f'<pattern id="{key}-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<rect class="ground" width="5" height="5"/><line class="hatch" x1="0" y1="0" x2="0" y2="5"/></pattern>',
        '<rect class="held" x="34" y="6" width="10" height="10"/>'
        + _text(49, 15, f"clean, n = {len(arm.clean)} (above)"),
        f'<rect class="flawed" fill="url(#{key}-hatch)" x="190" y="6" width="10" height="10"/>'
        + _text(205, 15, f"flawed, n = {len(arm.flawed)} (below)"),
    ]
    for place in range(BINS):
        at = left + place * width
        if up := _shares(clean)[place]:
            tall = reach * up / most
            drawn.append(_bar('class="held"', at, middle - tall, width, tall))
        if down := _shares(flawed)[place]:
            tall = reach * down / most
            drawn.append(_bar(f'class="flawed" fill="url(#{key}-hatch)"', at, middle, width, tall))
    drawn.append(f'<line class="axis" x1="{left:.1f}" x2="{RIGHT:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>')
    drawn += [
        _text(left - 4, middle - reach + 4, f"{100 * most:.0f}%", anchor="end"),
        _text(left - 4, middle + 4, "0", anchor="end"),
    ]
    for step in range(0, 11, 2):
        drawn.append(_text(left + step / 10 * (RIGHT - left), 212, f"{scale * step / 10:g}", anchor="middle"))
    said = "It has no flag threshold."
    if arm.threshold is not None:
        at = left + min(max(arm.threshold / scale, 0.0), 1.0) * (RIGHT - left)
        side, shift = ("end", -4) if at > 230 else ("start", 4)
        drawn.append(f'<line class="chance" x1="{at:.1f}" x2="{at:.1f}" y1="28" y2="198"/>')
        drawn.append(_text(at + shift, 36, f"flag below {arm.threshold:g}", anchor=side))
        said = f"A dashed line marks the flag threshold, {arm.threshold:g}."
    desc = (
        f"Histogram of scores from 0 to {scale:g}, higher is a better document. {len(arm.clean)} clean scores above "
        f"the axis, {len(arm.flawed)} flawed scores, hatched, below it, each as a share of its own number. {said}"
    )
    edges = [scale * place / BINS for place in range(BINS + 1)]
    table = Table(
        f"{title}: documents by score.",
        ("Score from", "to below", "Clean", "Flawed"),
        tuple(
            (f"{edges[i]:g}", f"{edges[i + 1]:g}", f"{clean[i]}", f"{flawed[i]}")
            for i in range(BINS)
            if clean[i] or flawed[i]
        ),
    )
    return Picture(title, _svg(key, title, desc, 220, drawn), table)


def leads_picture(data: ReportData) -> Picture:
    """On how many accept examples each pool candidate has the highest reward."""
    leads: Mapping[str, int] = data.choice["leads"]
    rows = [(data.proposal(candidate).name, count) for candidate, count in leads.items()]
    rows.sort(key=lambda row: (-row[1], row[0]))
    most = max(count for _, count in rows) or 1
    drawn = []
    for place, (name, count) in enumerate(rows):
        y, long = 8.0 + 20 * place, 232.0 * count / most
        drawn.append(_text(LEFT - 8, y + 11, name, anchor="end"))
        drawn.append(f'<rect class="held" x="{LEFT:.1f}" y="{y:.1f}" width="{long:.1f}" height="14"/>')
        drawn.append(_text(LEFT + long + 5, y + 11, f"{count}"))
    title = "Frontier: accept examples led"
    desc = "Bars: on how many accept examples each candidate of the pool has the highest reward; ties count for each."
    table = Table(
        "Accept examples led; ties count for each.", ("Candidate", "Led"), tuple((n, f"{c}") for n, c in rows)
    )
    return Picture(title, _svg("leads", title, desc, 14 + 20 * len(rows), drawn), table)


def _svg(key: str, title: str, desc: str, height: float, drawn: Sequence[str]) -> str:
    return (
        f'<svg role="img" viewBox="0 0 {WIDTH} {height:.0f}" aria-labelledby="{key}-title {key}-desc">'
        f'<title id="{key}-title">{escape(title)}</title><desc id="{key}-desc">{escape(desc)}</desc>'
        f"{''.join(drawn)}</svg>"
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _bar(look: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect {look} x="{x + 0.5:.1f}" y="{y:.1f}" width="{width - 1:.1f}" height="{height:.1f}"/>'


def _tick(x: float, top: float, bottom: float, label: str) -> str:
    return f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}"/>' + _text(
        x, bottom + 14, label, anchor="middle"
    )


def _mark(x: float, y: float, split: str) -> str:
    if split == "accept":
        return f'<circle class="accept" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    return f'<rect class="held" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>'


def _legend(*items: tuple[str, float, float]) -> list[str]:
    return [_mark(x + 4, y, split) + _text(x + 14, y + 4, split) for split, x, y in items]


def _whisker(x: Any, row: Mapping[str, Any], y: float, split: str) -> list[str]:
    drawn = []
    if row["low"] is not None:
        kind = "accept" if split == "accept" else "held"
        drawn.append(
            f'<line class="{kind} span" x1="{x(row["low"]):.1f}" x2="{x(row["high"]):.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
    return [*drawn, _mark(x(row["value"]), y, split)]


def _binned(scores: Sequence[float], scale: float) -> list[int]:
    counts = [0] * BINS
    for score in scores:
        counts[min(max(int(score / scale * BINS), 0), BINS - 1)] += 1
    return counts


def _shares(counts: Sequence[int]) -> list[float]:
    return [count / sum(counts) if count else 0.0 for count in counts]
