"""Which proposals a page shows of a search that made more than can be read."""

from __future__ import annotations

from collections.abc import Sequence
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
            f"{len(self.proposals):,} of {self.of:,} {what} are shown: the baseline, the winner with its ancestors, "
            "those best on accept with theirs, and the first of the others. All are in holdgate lineage frame."
        )


def shown(proposals: Sequence[Proposal], *, winner: str | None, most: int) -> Shown:
    """At most so many proposals: the first, the winner, the best on accept, each with its ancestors, then the earliest.

    Args:
        proposals: all, in the order in which they were made.
        winner: candidate id of the winner, or None where there is none.
        most: how many are wanted; the winner's whole line is shown even where it is longer.
    """
    if len(proposals) <= most:
        return Shown(tuple(proposals), len(proposals))
    by_name = {proposal.name: proposal for proposal in proposals}
    ranked = sorted(
        (proposal for proposal in proposals if proposal.standing is not None),
        key=lambda proposal: -_paired(proposal),
    )
    first = [proposal for proposal in proposals if proposal.candidate == winner and proposal.outcome != "invalid"][:1]
    kept: dict[str, None] = dict.fromkeys([proposals[0].name])
    # A quarter of the places is for what was not accepted: a page of the accepted alone would hide what a search costs.
    for limit, wanted in ((0, first), (most - most // 4, ranked), (most, proposals)):
        for proposal in wanted:
            if limit and len(kept) >= limit:
                break
            line = _line(proposal, by_name)
            if limit and len(kept.keys() | set(line)) > limit:
                continue
            kept.update(dict.fromkeys(line))
    return Shown(tuple(proposal for proposal in proposals if proposal.name in kept), len(proposals))


def _line(proposal: Proposal, by_name: dict[str, Proposal]) -> list[str]:
    """A proposal and its ancestors by first parents, which a tree hangs it under."""
    line = [proposal.name]
    while (parent := next((name for name in by_name[line[-1]].parents if name in by_name), None)) is not None:
        if parent in line:
            break
        line.append(parent)
    return line


def _paired(proposal: Proposal) -> float:
    assert proposal.standing is not None
    value = proposal.standing["paired"]
    return -1.0 if value is None else float(value)
