"""The heat map of a search: the reward of each candidate on each accept example, as shades that need no colour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from statistics import fmean
from typing import Final

from rich.text import Text

from experiments.explore.frontier import Frontier, Leader

SHADES: Final = "\N{MIDDLE DOT}\N{LIGHT SHADE}\N{MEDIUM SHADE}\N{DARK SHADE}\N{FULL BLOCK}"
PLAIN: Final = ".:+%#"
"""The same where the output has ASCII alone."""
STYLES: Final = ("red", "dark_orange", "yellow", "green", "bold green")
NONE: Final = "?"
MOST: Final = 8
"""Candidates that are shown: those that lead most."""
BANDS: Final = 3
"""Rows of columns that are shown before columns become means of groups."""


def heat_map(frontier: Frontier, *, width: int, ascii_only: bool = False) -> Iterator[Text]:
    """Lines: what they show, then a row a candidate, in as many bands as the width needs.

    A shade is the reward as a share of the highest that there can be on that example: none of it, up to a third, up to
    two thirds, less than all, all. Rewards are those the frontier is made of; accept examples only.

    Args:
        frontier: the pool.
        width: columns of the output.
        ascii_only: whether it can show nothing but ASCII.
    """
    shades = PLAIN if ascii_only else SHADES
    shown = frontier.leaders[:MOST]
    if not shown:
        return
    label = max(len(leader.row.name) for leader in shown) + 1
    room = max(width - label, 10)
    columns = [[example] for example in _by_group(frontier)]
    what = "example"
    if len(columns) > BANDS * room:
        columns, what = [list(found) for _, found in groupby(_by_group(frontier), key=frontier.groups.get)], "group"
    yield Text(
        f"rewards on accept, a column each {what} ({len(columns)}), a row each of the {len(shown)} that lead most: "
        f"{shades[0]} no reward, {shades[1]}{shades[2]}{shades[3]} some, {shades[4]} all there is, "
        f"{NONE} not scored",
        style="dim",
    )
    for start in range(0, len(columns), room):
        for leader in shown:
            line = Text(f"{leader.row.name:<{label}}")
            for column in columns[start : start + room]:
                place = _place(leader, column, frontier.most)
                line.append(NONE if place is None else shades[place], style="dim" if place is None else STYLES[place])
            yield line


def _by_group(frontier: Frontier) -> list[str]:
    return sorted(frontier.examples, key=lambda example: (frontier.groups[example], example))


def _place(leader: Leader, column: Sequence[str], most: Mapping[str, float]) -> int | None:
    """The shade of some examples together; None where the candidate has no reward on any of them."""
    shares = [
        leader.rewards[example] / most[example] if most[example] > 0.0 else 0.0
        for example in column
        if example in leader.rewards
    ]
    if not shares:
        return None
    share = fmean(shares)
    return 0 if share <= 0.0 else 4 if share >= 1.0 else 1 + min(int(share * 3), 2)
