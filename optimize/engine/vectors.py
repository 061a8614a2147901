"""Objectives of a candidate as a whole, and dominance among candidates in all of them at once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

import numpy as np

from lineage.records import Candidate, Usage
from optimize.choice import detection
from optimize.engine.parents import Front
from optimize.evaluation import Evaluation
from optimize.objectives import paired_discrimination

OBJECTIVES: Final = ("omissions", "commissions", "false_alarms", "cost", "length")
"""What a frontier of objectives compares; see :class:`Objectives`."""
STEP: Final = 2.0**-20
"""Objectives are multiples of it: gepa averages each over the accept examples, and such a mean is then exact."""


class Objectives:
    """The objectives of one search, in the measures of its baseline. Higher is better in each.

    ``omissions`` and ``commissions`` are paired discrimination on accept. ``false_alarms`` is the least false-alarm
    rate at which as large a share of flawed documents is flagged as the baseline flags at its own threshold, with a
    minus: moving every score changes nothing. ``cost`` is that of judging a document, in millionths of a US dollar, or
    in tokens where no price applies, with a minus; a judgement without a score is taken for the dearest of the others,
    or at what it cost where that was more, so that failing is not cheap. ``length`` is the words of the prompt, with a
    minus. What is undefined, such as commissions where there are none, is left out.

    Args:
        baseline: its evaluation on accept.
    """

    def __init__(self, baseline: Evaluation) -> None:
        seen = detection(baseline)
        self._detected, self._of = seen.detected, seen.n_flawed
        scored = [judgement.usage for judgement in baseline.judgements if judgement.score is not None]
        self._priced = all(usage.cost_usd is not None for usage in scored)

    def of(self, candidate: Candidate, evaluation: Evaluation) -> dict[str, float]:
        """Objectives of a candidate by its evaluation on accept."""
        found = {
            "omissions": paired_discrimination(evaluation.pairs("omission")).value,
            "commissions": paired_discrimination(evaluation.pairs("commission")).value,
            "false_alarms": -self._false_alarms(evaluation),
            "cost": -self._mean_cost(evaluation),
            "length": -float(sum(len(text.split()) for text in candidate.texts.values())),
        }
        return {name: round(value / STEP) * STEP for name, value in found.items() if value == value}

    def _mean_cost(self, evaluation: Evaluation) -> float:
        costs = [self._cost(judgement.usage) for judgement in evaluation.judgements if judgement.score is not None]
        failed = [self._cost(judgement.usage) for judgement in evaluation.judgements if judgement.score is None]
        total = sum([*costs, *(max(max(costs), cost) for cost in failed)]) if costs else float("nan")
        return total / len(evaluation.judgements)

    def _cost(self, usage: Usage) -> float:
        if self._priced:
            return 1e6 * (usage.cost_usd or 0.0)
        return float(usage.prompt_tokens + usage.completion_tokens)

    def _false_alarms(self, evaluation: Evaluation) -> float:
        flawed = np.sort(evaluation.scores(label="omission") + evaluation.scores(label="commission"))
        clean = np.sort(evaluation.scores(label="clean"))
        if not len(flawed) or not len(clean) or not self._of:
            return float("nan")
        thresholds = np.append(np.unique(np.concatenate([flawed, clean])), np.inf)
        enough = np.searchsorted(flawed, thresholds, side="left") * self._of >= self._detected * len(flawed)
        threshold = thresholds[int(np.argmax(enough))]
        return float(np.searchsorted(clean, threshold, side="left") / len(clean))


def undominated(vectors: Sequence[Mapping[str, float]]) -> frozenset[int]:
    """Places of the vectors that no other is at least as good as in every objective and better than in one.

    An objective that a vector does not have is its worst.
    """
    table = np.array([[vector.get(name, -np.inf) for name in OBJECTIVES] for vector in vectors])
    return frozenset(
        place for place, row in enumerate(table) if not ((table >= row).all(axis=1) & (table > row).any(axis=1)).any()
    )


def front_of(state: Any, means: Sequence[float], *, whole: bool) -> Front:
    """Who leads, as gepa's state has it.

    Args:
        state: gepa's state.
        means: mean reward of each candidate.
        whole: whether objectives lead too. Then no dominated candidate leads in one, and each that no other dominates
            has a place of its own, though it may be best in nothing.
    """
    leaders: Mapping[Hashable, AbstractSet[int]] = state.get_pareto_front_mapping()
    if not whole:
        return Front(leaders, means)
    alive = undominated(state.prog_candidate_objective_scores)
    kept = {key: who & alive if _of_objective(key) else who for key, who in leaders.items()}
    return Front({**kept, **{("undominated", place): {place} for place in sorted(alive)}}, means)


def _of_objective(key: Hashable) -> bool:
    """Whether a key of gepa's frontier is an objective: examples have numbers, and are marked beside objectives."""
    return isinstance(key, str) or (isinstance(key, tuple) and key[0] == "objective")
