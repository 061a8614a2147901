"""What a study is about, and what makes two studies the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lineage.canonical import digest
from lineage.errors import PlanError
from optimize.models import price_of_plan
from optimize.plan import Plan
from optimize.sweep.objectives import CostUnit
from optimize.sweep.plan import StudyPlan
from optimize.sweep.sampling import trials_of
from optimize.sweep.searching import Resolved
from optimize.sweep.space import Space
from splits.corpus import Corpus
from splits.lock import SplitLock


@dataclass(frozen=True, slots=True)
class StudyInputs:
    """What a study is about.

    Attributes:
        plan: the study plan.
        space: over the campaign plan that it varies.
        base: that plan, resolved.
        resolve: finds what the plan at a point names.
        texts: texts of the instructions that points begin at, by the name that a plan gives them.
        unit: of the cost.
    """

    plan: StudyPlan
    space: Space
    base: Resolved
    resolve: Callable[[Plan], Resolved]
    texts: Mapping[str, str]
    unit: CostUnit

    @property
    def trials(self) -> int:
        """How many searches."""
        return trials_of(self.plan.trials, self.plan.sampler, self.space)


def fingerprint(inputs: StudyInputs, corpus: Corpus, lock: SplitLock) -> str:
    """What makes two studies the same: everything but how long they go on, and what they may spend."""
    return digest(
        {
            "study": inputs.plan.row(),
            "base": inputs.base.plan.row(),
            "models": inputs.base.models_hash,
            "texts": dict(inputs.texts),
            "corpus": corpus.hash,
            "lock": lock.hash,
        }
    )


def cost_unit(plans: list[Plan], *, where: str) -> CostUnit:
    """The unit in which all of some plans cost a document.

    Raises:
        PlanError: some have a price and some have none.
    """
    priced = {price_of_plan(plan.student.model.original) is not None for plan in plans}
    if len(priced) > 1:
        raise PlanError(
            f"{where}: objectives: cost has no one unit, as some of the students have a price and some none; take "
            "tokens, or state the missing price"
        )
    return "usd" if priced == {True} else "tokens"
