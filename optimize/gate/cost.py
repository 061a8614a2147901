"""What the candidate costs a document, as a multiple of the baseline."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from lineage.records import Judgement
from optimize.choice import number
from optimize.evaluation import Evaluation

Unit = Literal["usd", "tokens"]


@dataclass(frozen=True, slots=True)
class CostRatio:
    """Mean cost of judging one held-out document in each arm, as it was used: cached prompt tokens at their price.

    Attributes:
        unit: US dollars where every judgement has a price, else tokens of prompt and answer, reasoning among them.
        candidate: mean a document of the candidate.
        baseline: mean a document of the baseline.
    """

    unit: Unit
    candidate: float
    baseline: float

    @property
    def ratio(self) -> float:
        """Candidate over baseline; 1 where neither used anything, NaN where only the baseline used nothing."""
        if self.baseline == 0.0:
            return 1.0 if self.candidate == 0.0 else math.nan
        return self.candidate / self.baseline

    def __str__(self) -> str:
        if self.candidate == self.baseline == 0.0:
            return "no usage is recorded in either arm"
        shown = "{:.6f} US dollars" if self.unit == "usd" else "{:.1f} tokens"
        ours, theirs = shown.format(self.candidate), shown.format(self.baseline).split(" ", 1)[0]
        times = "not defined" if math.isnan(self.ratio) else f"{self.ratio:.2f} times the baseline's"
        return f"{times} ({ours} a document against {theirs})"

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "unit": self.unit,
            "candidate": self.candidate,
            "baseline": self.baseline,
            "ratio": number(self.ratio),
        }


def cost_ratio(candidate: Evaluation, baseline: Evaluation) -> CostRatio:
    """The costs of two arms on the same documents.

    A judgement without a score is taken for the dearest of its arm in the candidate, and for the cheapest in the
    baseline: a call that came to nothing may have no usage, and must not make its arm look cheap.
    """
    scored = [j for arm in (candidate, baseline) for j in arm.judgements if j.score is not None]
    unit: Unit = "usd" if scored and all(judgement.usage.cost_usd is not None for judgement in scored) else "tokens"
    return CostRatio(unit, _mean(candidate.judgements, unit, max), _mean(baseline.judgements, unit, min))


def _mean(judgements: Sequence[Judgement], unit: Unit, failed_as: Callable[[list[float]], float]) -> float:
    """Mean cost; a judgement without a score costs what ``failed_as`` says of the others."""
    costs = [_cost(judgement, unit) for judgement in judgements if judgement.score is not None]
    failed = len(judgements) - len(costs)
    return fmean([*costs, *[failed_as(costs)] * failed]) if costs else 0.0


def _cost(judgement: Judgement, unit: Unit) -> float:
    usage = judgement.usage
    if unit == "usd":
        return usage.cost_usd or 0.0
    return float(usage.prompt_tokens + usage.completion_tokens)
