"""The family tree as a drawing."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.report.blocks import Picture, Table
from experiments.report.charts import LOOKS, RIGHT, mark, svg, text
from experiments.report.proposals import Proposal, family
from experiments.report.selection import DRAWN, shown

_LINE = 17.0
_MARKS: Mapping[str, int] = {"seed": 2, "accepted": 1, "rejected": 0}


def tree_picture(
    proposals: tuple[Proposal, ...],
    *,
    winner: str | None,
    paired: Mapping[str, float | None],
    what: str = "paired discrimination on accept omissions",
    key: str = "tree",
) -> Picture:
    """Candidates below their parents, by outcome.

    Args:
        proposals: all, in the order in which they were made.
        winner: candidate id of the winner, or None where there is none.
        paired: a number of each candidate, by its id.
        what: what that number is.
        key: unique in the page, for ids.
    """
    part = shown(proposals, winner=winner, most=DRAWN)
    rows = list(family(part.proposals))
    deepest = max((depth for depth, _ in rows), default=0)
    step = min(14.0, 150.0 / max(deepest, 1))
    places: dict[str, tuple[float, float]] = {}
    for place, (depth, proposal) in enumerate(rows):
        places.setdefault(proposal.name, (14.0 + step * depth, 34.0 + _LINE * place))
    lines, drawn = [], [*_legend()]
    for place, (depth, proposal) in enumerate(rows):
        x, y = 14.0 + step * depth, 34.0 + _LINE * place
        above = [places[name] for name in proposal.parents if name in places]
        for number, (px, py) in enumerate(above):
            look = "branch" if number == 0 else "branch second"
            path = f"{px:.1f},{py + (5 if py < y else -5):.1f} {px:.1f},{y:.1f} {x - 5:.1f},{y:.1f}"
            lines.append(f'<polyline class="{look}" points="{path}"/>')
        drawn.append(_mark(x, y, proposal.outcome))
        drawn.append(text(x + 9, y + 4, _label(proposal, winner, paired)))
    title = "Family tree"
    said = part.words("candidates")
    desc = (
        f"{len(rows)} of {part.of} candidates, each below its first parent and to the right of it; a dashed line leads "
        "to the second parent of a merge. Triangle: baseline; square: accepted; circle: rejected; cross: anything "
        f"else. A star marks the winner; numbers are {what}. {said}"
    ).strip()
    table = Table(
        f"Candidates of the drawing. {said}".strip(),
        ("Name", "Parents", "Outcome", what.capitalize()),
        tuple(
            (
                proposal.name,
                ", ".join(proposal.parents) or "none",
                proposal.outcome,
                _value(paired.get(proposal.candidate) if proposal.outcome != "invalid" else None),
            )
            for _, proposal in rows
        ),
    )
    return Picture(title, svg(key, title, desc, 34.0 + _LINE * len(rows), [*lines, *drawn]), table)


def _label(proposal: Proposal, winner: str | None, paired: Mapping[str, float | None]) -> str:
    star = "\N{BLACK STAR}" if proposal.candidate == winner and proposal.outcome != "invalid" else ""
    value = paired.get(proposal.candidate) if proposal.outcome != "invalid" else None
    merged = " (merge)" if proposal.kind == "merge" else ""
    shown_value = "" if value is None else f" {value:.3f}"
    return f"{proposal.name}{star}{merged}{shown_value}"


def _value(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3f}"


def _mark(x: float, y: float, outcome: str) -> str:
    if (number := _MARKS.get(outcome)) is not None:
        return mark(x, y, number)
    strokes = ((x - 4, y - 4, x + 4, y + 4), (x - 4, y + 4, x + 4, y - 4))
    return "".join(
        f'<line class="{LOOKS[0]} cross" x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}"/>'
        for a, b, c, d in strokes
    )


def _legend() -> list[str]:
    found = []
    for place, (words, outcome) in enumerate(
        (("baseline", "seed"), ("accepted", "accepted"), ("rejected", "rejected"), ("invalid", "invalid"))
    ):
        x = 14.0 + (RIGHT - 14.0) / 4 * place
        found += [_mark(x, 10.0, outcome), text(x + 9, 14.0, words)]
    return found
