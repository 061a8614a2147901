"""Successive halving over nested sets of accept groups.

The rule is that of Optuna's successive halving (Li et al., 2020, asynchronous), which Optuna has for one objective
only: a study of several is pruned by its first. One rule for both makes them comparable, and its decisions are
recorded with the values that they rest on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lineage.canonical import digest
from lineage.errors import PlanError
from optimize.sweep.plan import PruningPlan
from splits.corpus import Corpus


@dataclass(frozen=True, slots=True)
class Halving:
    """Whether a trial goes on: its value, how many were judged on the same set so far, and how many of them rank above.

    A value that is undefined does not go on.
    """

    groups: int
    value: float
    judged: int
    above: int
    keeps: bool

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "groups": self.groups,
            "value": None if self.value != self.value else self.value,
            "judged": self.judged,
            "above": self.above,
            "keeps": self.keeps,
        }


def halve(value: float, others: Sequence[float], *, groups: int, reduction: int, greatest: bool) -> Halving:
    """Decide on one trial after one set of groups.

    It goes on if it is among the best ``n // reduction`` of the ``n`` trials judged on this set so far, itself among
    them, or the best where there are fewer than ``reduction``. Ties go on.

    Args:
        value: of the trial.
        others: of the other trials that were judged on this set, whatever became of them.
        groups: size of the set.
        reduction: of so many, one goes on.
        greatest: whether more is better.
    """
    sign = 1.0 if greatest else -1.0
    n = len(others) + 1
    above = sum(sign * other > sign * value for other in others)
    keeps = value == value and above < max(n // reduction, 1)
    return Halving(groups, value, n, above, keeps)


def nested_groups(accept: Corpus, plan: PruningPlan, *, seed: int) -> tuple[tuple[str, ...], ...]:
    """The sets of accept groups, each within the next; the same for every trial of a study.

    Groups without a flawed example that has a twin compare nothing, and are in none of them.

    Raises:
        PlanError: a set is as large as accept itself, or larger.
    """
    usable = [group for group, examples in accept.groups.items() if any(example.twin for example in examples)]
    if plan.groups[-1] >= len(usable):
        raise PlanError(
            f"pruning.groups: {plan.groups[-1]} of {len(usable)} accept groups with pairs is no part of them; every "
            "trial that goes on is judged on all of them anyway"
        )
    rng = np.random.default_rng(int(digest([seed, "pruning"])[:16], 16))
    order = [usable[place] for place in rng.permutation(len(usable))]
    return tuple(tuple(sorted(order[:size])) for size in plan.groups)
