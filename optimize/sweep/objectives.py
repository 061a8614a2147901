"""What a study reads of a search: measures of its winner on accept, which are optimistic, as it was chosen there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final, Literal

from lineage.records import Candidate, Usage
from optimize.choice import detection, number
from optimize.evaluation import Evaluation
from optimize.objectives import PairedDiscrimination, paired_discrimination
from optimize.sweep.plan import Measure

CostUnit = Literal["usd", "tokens"]
COST_WORDS: Final[Mapping[CostUnit, str]] = {"usd": "US dollars a document", "tokens": "tokens a document"}
GREATEST: Final[frozenset[Measure]] = frozenset({"paired", "commissions", "detection"})
"""Measures of which more is better; of the others less is."""
WORDS: Final[Mapping[Measure, str]] = {
    "paired": "paired discrimination on omissions",
    "commissions": "paired discrimination on commissions",
    "detection": "detection at FA ≤ 10%",
    "cost": "cost a document",
    "tokens": "tokens a document",
    "words": "words of the prompt",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A candidate's measures on accept groups.

    Attributes:
        values: by objective; NaN where one is undefined.
        paired: on omissions, with its interval by group.
        unit: of the cost.
    """

    values: Mapping[Measure, float]
    paired: PairedDiscrimination
    unit: CostUnit

    @property
    def undefined(self) -> str:
        """Why there is no value, empty where there is one of every objective."""
        missing = [measure for measure, value in self.values.items() if math.isnan(value)]
        if not missing:
            return ""
        why = f": {self.paired.reason}" if "paired" in missing and self.paired.reason else ""
        return f"{', '.join(WORDS[measure] for measure in missing)} is undefined on accept{why}"

    def row(self) -> dict[str, Any]:
        """The JSON form; what is undefined is None."""
        return {
            "values": {measure: number(value) for measure, value in self.values.items()},
            "paired": {
                "value": number(self.paired.value),
                "low": number(self.paired.interval.low),
                "high": number(self.paired.interval.high),
                "level": self.paired.interval.level,
                "pairs": self.paired.n,
                "groups": self.paired.n_groups,
            },
            "unit": self.unit,
        }


def read(measures: Sequence[Measure], candidate: Candidate, evaluation: Evaluation, *, unit: CostUnit) -> Reading:
    """The measures of a candidate.

    Args:
        measures: which.
        candidate: whose prompt is counted.
        evaluation: its judgements on accept groups.
        unit: of the cost: US dollars where the student's model has a price.
    """
    paired = paired_discrimination(evaluation.pairs("omission"))

    def one(measure: Measure) -> float:
        match measure:
            case "paired":
                return paired.value
            case "commissions":
                return paired_discrimination(evaluation.pairs("commission")).value
            case "detection":
                return detection(evaluation).detection
            case "cost":
                return document_cost(evaluation, unit)
            case "tokens":
                return document_cost(evaluation, "tokens")
            case "words":
                return float(sum(len(text.split()) for text in candidate.texts.values()))

    return Reading({measure: one(measure) for measure in measures}, paired, unit)


def document_cost(evaluation: Evaluation, unit: CostUnit) -> float:
    """Mean cost of judging one document, as it was used; NaN where none was judged.

    A judgement without a score is taken for the dearest of the others, or at what it cost where that was more: a call
    that came to nothing may have no usage, and must not make its judge look cheap.
    """
    costs = [_cost(judgement.usage, unit) for judgement in evaluation.judgements if judgement.score is not None]
    failed = [_cost(judgement.usage, unit) for judgement in evaluation.judgements if judgement.score is None]
    # In this order a cost that is not known, as NaN, leaves the dearest.
    return fmean([*costs, *(max(max(costs), cost) for cost in failed)]) if costs else math.nan


def _cost(usage: Usage, unit: CostUnit) -> float:
    if unit == "usd":
        return math.nan if usage.cost_usd is None else usage.cost_usd
    return float(usage.prompt_tokens + usage.completion_tokens)
