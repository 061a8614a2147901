"""The optional arm ``baseline-at-equal-budget``: the baseline with as many completion tokens as the winner used.

A candidate may win by making the judge write more before it answers. The student's settings are the same for both, so
what they used is measured, on accept, and the baseline's samples are raised until its tokens are at least the winner's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from lineage.errors import InputError, PlanError
from optimize.choice import number
from optimize.evaluation import Evaluation
from optimize.objectives import Comparison, compare
from optimize.student_plan import StudentPlan
from students import Student, WholeNoteScorer

ARM: Final = "baseline-at-equal-budget"
PURPOSE: Final = "equal-budget"
"""Purpose of the arm's evaluation in the ledger; it is made within the opening ``confirm``."""
MOST_SAMPLES: Final = 10

Status = Literal["bought", "equal", "not-more", "unknown"]


@dataclass(frozen=True, slots=True)
class EqualBudget:
    """Whether the arm is bought, and with how many samples.

    Attributes:
        status: ``bought``; ``equal`` by construction; ``not-more`` where the winner used no more than the baseline;
            ``unknown`` where no tokens are recorded.
        samples: answers a judgement of the arm; None where it is not bought.
        winner: completion tokens a judgement of the winner on accept, reasoning among them; NaN if unknown.
        baseline: the same of the baseline.
    """

    status: Status
    samples: int | None
    winner: float
    baseline: float

    @property
    def words(self) -> str:
        """Why the arm is bought or not."""
        used = f"{self.winner:.1f} completion tokens a judgement on accept, the baseline {self.baseline:.1f}"
        return {
            "bought": f"the winner used {used}, which is therefore given {self.samples} samples",
            "equal": "every answer is one token, so the arms have the same budget by construction",
            "not-more": f"the winner used {used}: their comparison is at no larger budget",
            "unknown": "no completion tokens are recorded on accept",
        }[self.status]


@dataclass(frozen=True, slots=True)
class EqualBudgetReading:
    """The winner against the baseline at equal budget, on held-out omissions: a second reading that decides nothing.

    Attributes:
        budget: how the arm came about.
        comparison: winner less the arm; None where the arm was not bought.
        winner: completion tokens a held-out judgement of the winner; NaN where the arm was not bought.
        arm: the same of the arm.
    """

    budget: EqualBudget
    comparison: Comparison | None = None
    winner: float = math.nan
    arm: float = math.nan

    @property
    def reached(self) -> bool:
        """Whether the arm used at least as many tokens as the winner on held-out data."""
        return self.arm >= self.winner

    def row(self) -> dict[str, Any]:
        """The JSON form but for the comparison; what is undefined is None."""
        return {
            "arm": ARM,
            "status": self.budget.status,
            "samples": self.budget.samples,
            "words": self.budget.words,
            "accept_tokens": {"winner": number(self.budget.winner), "baseline": number(self.budget.baseline)},
            "heldout_tokens": {"winner": number(self.winner), "arm": number(self.arm)},
        }


def no_equal_budget(student: StudentPlan) -> str:
    """Why the arm cannot be had with a student; empty where it can."""
    if student.shape == "per-fact":
        if student.budget.effort == "none" and student.budget.thinking_tokens is None:
            return ""
        return "shape per-fact has no samples to raise where it reasons before its one-token answers"
    if student.shape != "whole-note":
        return f"shape {student.shape} has no samples to raise"
    if student.samples >= MOST_SAMPLES:
        return f"the baseline has {student.samples} samples already, and {MOST_SAMPLES} is the most"
    if student.temperature == 0:
        return "more samples at temperature 0 are the same answer again; give a temperature above 0"
    return ""


def equal_budget(shape: str, samples: int, *, winner: Evaluation, baseline: Evaluation) -> EqualBudget:
    """How many samples give the baseline at least the winner's completion tokens a judgement, at most ten.

    Args:
        shape: of the student.
        samples: answers a judgement of the student.
        winner: on accept.
        baseline: on accept.
    """
    (ours, n_ours), (theirs, n_theirs) = _completion(winner), _completion(baseline)
    used = (_ratio(ours, n_ours), _ratio(theirs, n_theirs))
    if shape == "per-fact":
        return EqualBudget("equal", None, *used)
    if not ours or not theirs:
        return EqualBudget("unknown", None, *used)
    # In whole numbers, so that the ceiling is exact.
    needed = -(-samples * ours * n_theirs // (n_ours * theirs))
    if needed <= samples:
        return EqualBudget("not-more", None, *used)
    return EqualBudget("bought", min(needed, MOST_SAMPLES), *used)


def with_samples(student: Student, samples: int) -> Student:
    """The student with another number of answers a judgement, and so with another hash.

    Raises:
        PlanError: its design has none to raise; plans that ask for it are refused before anything is called.
    """
    if not isinstance(student, WholeNoteScorer):
        raise PlanError(f"gate.equal_budget: the student {student.name} has no samples to raise; remove it")
    return replace(student, samples=samples)


def read_equal_budget(
    budget: EqualBudget, winner: Evaluation, arm: Evaluation | None, *, level: float, rng: np.random.Generator
) -> EqualBudgetReading:
    """Compare the winner with the arm on held-out omissions.

    Raises:
        InputError: the arm is not the one that the budget asks for, or is of other replicates.
    """
    if (arm is None) != (budget.samples is None):
        raise InputError("the arm is judged exactly where the budget asks for samples of it")
    if arm is None:
        return EqualBudgetReading(budget)
    counts = {judgement.sent.get("samples") for judgement in arm.judgements}
    if counts != {budget.samples}:
        raise InputError(f"the arm is judged with samples {counts}, and the budget asks for {budget.samples}")
    comparison = compare(winner.pairs("omission"), arm.pairs("omission"), level=level, samples_may_differ=True, rng=rng)
    return EqualBudgetReading(budget, comparison, *(_ratio(*_completion(evaluation)) for evaluation in (winner, arm)))


def _completion(evaluation: Evaluation) -> tuple[int, int]:
    """Completion tokens, and the judgements that were answered."""
    used = [judgement.usage.completion_tokens for judgement in evaluation.judgements if judgement.usage.calls]
    return sum(used), len(used)


def _ratio(tokens: int, judgements: int) -> float:
    return tokens / judgements if judgements else math.nan
