"""The per-fact threshold: set once, on accept, with the baseline, and then fixed for every candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from optimize.choice import number
from optimize.evaluation import Evaluation

GRID: Final = tuple(round(0.05 * step, 2) for step in range(1, 20))
"""Thresholds tried, in (0, 1)."""


@dataclass(frozen=True, slots=True)
class FactThreshold:
    """The least P(yes) that counts as present, and how it was found.

    ``balanced_accuracy`` is the mean of the share of facts called present in clean documents and the share called
    absent where the fact was omitted completely; it is optimistic, as the threshold was chosen by it.
    """

    threshold: float
    balanced_accuracy: float
    n_present: int
    n_absent: int

    def row(self) -> dict[str, Any]:
        """The JSON form; an accuracy that is undefined is None."""
        return {
            "threshold": self.threshold,
            "balanced_accuracy": number(self.balanced_accuracy),
            "n_present": self.n_present,
            "n_absent": self.n_absent,
        }


def fact_threshold(evaluation: Evaluation) -> FactThreshold:
    """The threshold on a fixed grid with the highest balanced accuracy; of equals the one nearest to one half."""
    verdicts = {judgement.example: judgement.facts for judgement in evaluation.judgements if judgement.replicate == 0}
    present: list[float] = []
    absent: list[float] = []
    for example in evaluation.examples:
        for verdict in verdicts.get(example.id, ()):
            if example.label == "clean":
                present.append(verdict.p_yes)
            elif example.trace == "complete" and verdict.fact == example.fact:
                absent.append(verdict.p_yes)
    if not present or not absent:
        return FactThreshold(0.5, float("nan"), len(present), len(absent))

    def accuracy(threshold: float) -> float:
        kept = sum(p >= threshold for p in present) / len(present)
        missed = sum(p < threshold for p in absent) / len(absent)
        return (kept + missed) / 2

    best = max(GRID, key=lambda threshold: (accuracy(threshold), -abs(threshold - 0.5), -threshold))
    return FactThreshold(best, accuracy(best), len(present), len(absent))
