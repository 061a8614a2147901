"""Drawings of a report as inline SVG: optimism of accept, score distributions, frontier leads.

They are drawn by hand for equal bytes everywhere. Every drawing is 360 units wide, which a phone shows at full size,
and tells its series apart by shape and pattern as well as by colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from experiments.report.blocks import Picture, Table
from experiments.report.charts import LEFT, RIGHT, Dot, DotRow, bar, dots_picture, svg, text
from experiments.report.data import ReportData
from experiments.report.selection import DRAWN
from experiments.report.wording import measure

BINS: Final = 20


def optimism_picture(data: ReportData) -> Picture:
    """Paired discrimination of pool candidates on accept and, where they were opened, on held-out data."""
    held = {data.verdict["baseline"]: data.baseline}
    if data.confirmed:
        held[data.verdict["winner"]] = data.winner
    ranking = data.choice["ranking"]
    chosen = [place for place in ranking[:DRAWN] if place["candidate"] not in held]
    chosen = chosen[: DRAWN - len(held)]
    kept = {place["candidate"] for place in chosen} | set(held)
    rows = []
    for place in ranking:
        if place["candidate"] not in kept:
            continue
        arm = held.get(place["candidate"])
        mark = "\N{BLACK STAR}" if place["candidate"] == data.verdict["winner"] else ""
        accept = data.accept[place["candidate"]].measures["omissions"]
        rows.append((place["name"], mark, accept, None if arm is None else arm.measures["omissions"]))
    title = "Optimism: accept against held-out data"
    opened = "the baseline and the winner" if data.confirmed else "the baseline"
    limit = "" if len(rows) == len(ranking) else f" {len(rows)} of {len(ranking):,} candidates of the pool are shown."
    said = f"Only {opened} {'were' if data.confirmed else 'was'} opened on held-out data.{limit}"
    desc = (
        "Paired discrimination on omissions with 95% intervals, one candidate a row, best on accept first. A star "
        f"marks the winner; the dotted line at 0.5 is a coin flip. {said}"
    )
    table = Table(
        f"Paired discrimination on omissions, best on accept first. {said}",
        ("Candidate", "Accept", "Held-out"),
        tuple(
            (
                f"{name} (winner)" if mark else name,
                measure(ours),
                "not opened there" if theirs is None else measure(theirs),
            )
            for name, mark, ours, theirs in rows
        ),
    )
    drawn = [DotRow(name + mark, (Dot.of(ours), Dot.of(theirs))) for name, mark, ours, theirs in rows]
    return dots_picture(title, desc, drawn, series=("accept", "held-out"), key="optimism", table=table)


def distribution_picture(
    title: str,
    clean: Sequence[float],
    flawed: Sequence[float],
    *,
    scale: float,
    key: str,
    threshold: float | None = None,
) -> Picture:
    """Scores of clean documents above the axis, of flawed ones below, each as a share of its own number.

    Args:
        title: what it shows.
        clean: scores of clean documents, in all replicates.
        flawed: scores of flawed documents.
        scale: the score of a flawless document; scores are from 0 to it.
        key: unique in the page, for ids.
        threshold: below which a document is flagged; None for a judge without one.
    """
    above, below = _binned(clean, scale), _binned(flawed, scale)
    most = max([*_shares(above), *_shares(below), 0.05])
    middle, reach, left = 118.0, 76.0, 34.0
    width = (RIGHT - left) / BINS
    drawn = [
        f'<pattern id="{key}-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<rect class="ground" width="5" height="5"/><line class="hatch" x1="0" y1="0" x2="0" y2="5"/></pattern>',
        '<rect class="held" x="34" y="6" width="10" height="10"/>' + text(49, 15, f"clean, n = {len(clean)} (above)"),
        f'<rect class="flawed" fill="url(#{key}-hatch)" x="190" y="6" width="10" height="10"/>'
        + text(205, 15, f"flawed, n = {len(flawed)} (below)"),
    ]
    for place in range(BINS):
        at = left + place * width
        if up := _shares(above)[place]:
            tall = reach * up / most
            drawn.append(bar('class="held"', at, middle - tall, width, tall))
        if down := _shares(below)[place]:
            tall = reach * down / most
            drawn.append(bar(f'class="flawed" fill="url(#{key}-hatch)"', at, middle, width, tall))
    drawn.append(f'<line class="axis" x1="{left:.1f}" x2="{RIGHT:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>')
    drawn += [
        text(left - 4, middle - reach + 4, f"{100 * most:.0f}%", anchor="end"),
        text(left - 4, middle + 4, "0", anchor="end"),
    ]
    for step in range(0, 11, 2):
        drawn.append(text(left + step / 10 * (RIGHT - left), 212, f"{scale * step / 10:g}", anchor="middle"))
    said = "It has no flag threshold."
    if threshold is not None:
        at = left + min(max(threshold / scale, 0.0), 1.0) * (RIGHT - left)
        side, shift = ("end", -4) if at > 230 else ("start", 4)
        drawn.append(f'<line class="chance" x1="{at:.1f}" x2="{at:.1f}" y1="28" y2="198"/>')
        drawn.append(text(at + shift, 36, f"flag below {threshold:g}", anchor=side))
        said = f"A dashed line marks the flag threshold, {threshold:g}."
    desc = (
        f"Histogram of scores from 0 to {scale:g}, higher is a better document. {len(clean)} clean scores above "
        f"the axis, {len(flawed)} flawed scores, hatched, below it, each as a share of its own number. {said}"
    )
    edges = [scale * place / BINS for place in range(BINS + 1)]
    table = Table(
        f"{title}: documents by score.",
        ("Score from", "to below", "Clean", "Flawed"),
        tuple(
            (f"{edges[i]:g}", f"{edges[i + 1]:g}", f"{above[i]}", f"{below[i]}")
            for i in range(BINS)
            if above[i] or below[i]
        ),
    )
    return Picture(title, svg(key, title, desc, 220, drawn), table)


def leads_picture(data: ReportData) -> Picture:
    """On how many accept examples each pool candidate has the highest reward."""
    leads: Mapping[str, int] = data.choice["leads"]
    rows = [(data.proposal(candidate).name, count) for candidate, count in leads.items()]
    rows.sort(key=lambda row: (-row[1], row[0]))
    of, rows = len(rows), rows[:DRAWN]
    limit = "" if len(rows) == of else f" The {len(rows)} of {of:,} candidates that lead most are shown."
    most = max(count for _, count in rows) or 1
    drawn = []
    for place, (name, count) in enumerate(rows):
        y, long = 8.0 + 20 * place, 232.0 * count / most
        drawn.append(text(LEFT - 8, y + 11, name, anchor="end"))
        drawn.append(f'<rect class="held" x="{LEFT:.1f}" y="{y:.1f}" width="{long:.1f}" height="14"/>')
        drawn.append(text(LEFT + long + 5, y + 11, f"{count}"))
    title = "Frontier: accept examples led"
    desc = (
        "Bars: on how many accept examples each candidate of the pool has the highest reward; ties count for each."
        + limit
    )
    table = Table(
        f"Accept examples led; ties count for each.{limit}", ("Candidate", "Led"), tuple((n, f"{c}") for n, c in rows)
    )
    return Picture(title, svg("leads", title, desc, 14 + 20 * len(rows), drawn), table)


def _binned(scores: Sequence[float], scale: float) -> list[int]:
    counts = [0] * BINS
    for score in scores:
        counts[min(max(int(score / scale * BINS), 0), BINS - 1)] += 1
    return counts


def _shares(counts: Sequence[int]) -> list[float]:
    return [count / sum(counts) if count else 0.0 for count in counts]
