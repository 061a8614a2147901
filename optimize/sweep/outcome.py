"""What came of a trial, as ledgers hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lineage.records import VOLATILE
from optimize.sweep.objectives import Reading
from optimize.sweep.pruning import Halving


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a trial.

    Attributes:
        state: ``complete``, ``pruned`` or ``failed``.
        reason: why it was pruned or failed; empty where it is complete.
        reading: of the winner on accept; of a pruned trial, of its baseline on the last set of groups.
        baseline: of the baseline on accept, where it was judged on all of it.
        winner: candidate id.
        words: of the winner's prompt.
        candidates: prompts that were looked at.
        halvings: decisions on the sets of groups.
        head: hash of the trial's last event.
    """

    state: str
    reason: str
    reading: Reading | None
    baseline: Reading | None
    winner: str | None
    words: int | None
    candidates: int
    halvings: tuple[Halving, ...]
    head: str

    def row(self) -> dict[str, Any]:
        """The JSON form; the head depends on times, and may differ between equal trials."""
        return {
            "state": self.state,
            "reason": self.reason,
            "reading": None if self.reading is None else self.reading.row(),
            "baseline": None if self.baseline is None else self.baseline.row(),
            "winner": self.winner,
            "words": self.words,
            "candidates": self.candidates,
            "halvings": [halving.row() for halving in self.halvings],
            VOLATILE: {"head": self.head},
        }
