"""How many calls a plan needs at most, and how long they may take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from experiments.loading import LoadedPlan
from optimize.controls import accept_part
from optimize.equal_budget import MOST_SAMPLES
from optimize.models import capabilities_of
from optimize.student_plan import StudentPlan
from splits.corpus import Corpus, Example
from splits.lock import split_examples
from students import ReasoningBudget

SECONDS_A_LOCAL_CHECK: Final = (0.25, 0.75)
"""Seconds a closed check on the embedded 0.5B model, on a fast and on a slow pair of cores."""


@dataclass(frozen=True, slots=True)
class PlanSize:
    """Most calls of the student by phase, and most of the reflector.

    The counts hold if every proposal is accepted and nothing is found in the cache; a campaign usually needs fewer.
    """

    calibrate: int
    baseline: int
    minibatches: int
    accept: int
    confirm: int
    reflector: int
    equal_budget: int = 0

    @property
    def student(self) -> int:
        """Most calls of the student."""
        return self.calibrate + self.baseline + self.minibatches + self.accept + self.confirm + self.equal_budget

    def rows(self) -> tuple[tuple[str, int], ...]:
        """Phase and calls, in order."""
        return (
            ("baseline on accept", self.calibrate),
            ("baseline on held-out", self.baseline),
            ("minibatches, parent and child", self.minibatches),
            ("accepted candidates on accept", self.accept),
            ("winner on held-out", self.confirm),
            *([("baseline at equal budget", self.equal_budget)] if self.equal_budget else []),
        )


def plan_size(loaded: LoadedPlan) -> PlanSize:
    """The most calls that a plan can need."""
    plan, corpus, lock = loaded.plan, loaded.corpus, loaded.lock

    def calls(examples: Iterable[Example]) -> int:
        return sum(_calls(loaded, corpus, example) for example in examples)

    reflect = split_examples(lock, corpus, "reflect")
    accept = accept_part(plan.controls, lock, corpus).examples
    by_group: dict[str, int] = {}
    for example in reflect:
        by_group[example.group] = by_group.get(example.group, 0) + _calls(loaded, corpus, example)
    largest = sum(sorted(by_group.values(), reverse=True)[: plan.search.minibatch_groups])
    heldout = _heldout_calls(loaded)
    proposals = plan.search.iterations * plan.search.parallel
    repeated = not (plan.simulated or plan.student.prompt_cache == "exact")
    return PlanSize(
        calibrate=calls(accept),
        baseline=heldout * plan.replicates,
        minibatches=2 * largest * proposals,
        accept=calls(accept) * (proposals + len(plan.search.seeds)),
        confirm=heldout * plan.replicates * (2 if repeated else 1),
        reflector=proposals if plan.reflector.kind == "llm" else 0,
        equal_budget=_equal_budget_calls(loaded, heldout),
    )


def _calls(loaded: LoadedPlan, corpus: Corpus, example: Example) -> int:
    student = loaded.plan.student
    if student.shape == "per-fact":
        return _facts(loaded, len(corpus.facts.get(example.group, ()))) * stages(student)
    return student.samples * stages(student)


def _facts(loaded: LoadedPlan, count: int) -> int:
    most = loaded.plan.student.max_facts
    return count if most is None else min(count, most)


def _heldout_calls(loaded: LoadedPlan) -> int:
    """From the lock's counts and the fact lists: no held-out note is read."""
    lock, student = loaded.lock, loaded.plan.student
    notes = sum(lock.counts["heldout"]["kind"].values())
    if student.shape != "per-fact":
        return notes * student.samples * stages(student)
    groups = lock.splits["heldout"]
    most = max((_facts(loaded, len(loaded.corpus.facts.get(group, ()))) for group in groups), default=0)
    return notes * most * stages(student)


def _equal_budget_calls(loaded: LoadedPlan, heldout: int) -> int:
    """Calls of the baseline at equal budget with the most samples; none where its budget is equal by construction."""
    plan = loaded.plan
    if not plan.gate.equal_budget or plan.student.shape == "per-fact":
        return 0
    return heldout // plan.student.samples * MOST_SAMPLES * plan.replicates


def stages(student: StudentPlan) -> int:
    """Most calls that one answer takes: a scratchpad before it, and a retry of keyed verdicts after it."""
    budget, able = ReasoningBudget(**student.budget.model_dump()), capabilities_of(student.model)
    return 1 + (budget.scratchpad(able) is not None) + (student.shape == "per-fact-keyed")
