"""Which proposals a page shows of a search that made more than can be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from experiments.report.proposals import Proposal

ROWS: Final = 120
"""Rows of a table of candidates."""
DRAWN: Final = 40
"""Candidates in a drawing."""
TEXTS: Final = 40
"""Candidates whose whole texts are in the page."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Some proposals, in the order in which they were made, and of how many.

    Attributes:
        proposals: those that are shown.
        of: how many there are.
    """

    proposals: tuple[Proposal, ...]
    of: int

    def words(self, what: str) -> str:
        """How many of how many are shown, and where the others are; empty where all are."""
        if len(self.proposals) == self.of:
            return ""
        return (
            f"{len(self.proposals):,} of {self.of:,} {what} are shown: the baseline, the winner with its nearest "
            "ancestors, those best on accept with theirs, and the first of the others. All are in holdgate lineage "
            "frame."
        )


def shown(proposals: Sequence[Proposal], *, winner: str | None, most: int) -> Shown:
    """At most so many proposals: the first, the winner, the best on accept, each with its ancestors, then the earliest.

    Of a winner with more ancestors than half of the places only the nearest are shown.

    Args:
        proposals: all, in the order in which they were made.
        winner: candidate id of the winner, or None where there is none.
        most: how many are shown, at least 4.
    """
    if len(proposals) <= most:
        return Shown(tuple(proposals), len(proposals))
    by_name = {proposal.name: proposal for proposal in reversed(proposals)}
    kept: dict[str, None] = dict.fromkeys([proposals[0].name])
    first = [proposal for proposal in proposals if proposal.candidate == winner and proposal.outcome != "invalid"][:1]
    for proposal in first:
        kept.update(dict.fromkeys(_unkept(proposal, by_name, kept, most // 2)))
    ranked = sorted((one for one in proposals if one.standing is not None), key=lambda one: -_paired(one))
    # A quarter of the places is for what was not accepted: a page of the accepted alone would hide what a search costs.
    for limit, wanted in ((most - most // 4, ranked), (most, proposals)):
        for proposal in wanted:
            if len(kept) >= limit:
                break
            line = _unkept(proposal, by_name, kept, limit - len(kept) + 1)
            if len(kept) + len(line) <= limit:
                kept.update(dict.fromkeys(line))
    return Shown(tuple(proposal for proposal in proposals if proposal.name in kept), len(proposals))


def _unkept(
    proposal: Proposal, by_name: Mapping[str, Proposal], kept: Mapping[str, None], most: int
) -> dict[str, None]:
    """A proposal and its ancestors by first parents up to one that is kept, the nearest so many of them."""
    line: dict[str, None] = {}
    name: str | None = proposal.name
    while name is not None and name not in kept and name not in line and len(line) < most:
        line[name] = None
        name = next((parent for parent in by_name[name].parents if parent in by_name), None)
    return line


def _paired(proposal: Proposal) -> float:
    assert proposal.standing is not None
    value = proposal.standing["paired"]
    return -1.0 if value is None else float(value)
