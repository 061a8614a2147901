"""How many calls a plan needs at most, and how long they may take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from experiments.loading import LoadedPlan
from optimize.controls import accept_part
from optimize.equal_budget import MOST_SAMPLES
from optimize.models import student_of
from splits.corpus import Corpus, Example
from splits.lock import split_examples
from students import Student
from students.student import CallsAtMost

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
    student = student_of(plan.student, {})

    def calls(examples: Iterable[Example]) -> int:
        found = [(example.group, _calls(student, corpus, example)) for example in examples]
        # What is asked about a source alone is asked once for all documents of its group.
        shared = {group: most.group for group, most in found}
        return sum(most.document for _, most in found) + sum(shared.values())

    reflect = split_examples(lock, corpus, "reflect")
    accept = accept_part(plan.controls, lock, corpus).examples
    by_group: dict[str, int] = {}
    for example in reflect:
        by_group[example.group] = by_group.get(example.group, 0) + _calls(student, corpus, example).document
    for group in by_group:
        by_group[group] += student.calls_at_most(len(corpus.facts.get(group, ()))).group
    largest = sum(sorted(by_group.values(), reverse=True)[: plan.search.minibatch_groups])
    heldout = _heldout_calls(loaded, student)
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


def _calls(student: Student, corpus: Corpus, example: Example) -> CallsAtMost:
    return student.calls_at_most(len(corpus.facts.get(example.group, ())))


def _heldout_calls(loaded: LoadedPlan, student: Student) -> int:
    """From the lock's counts and the fact lists: no held-out note is read."""
    lock = loaded.lock
    notes = sum(lock.counts["heldout"]["kind"].values())
    each = [student.calls_at_most(len(loaded.corpus.facts.get(group, ()))) for group in lock.splits["heldout"]]
    return notes * max((most.document for most in each), default=0) + sum(most.group for most in each)


def _equal_budget_calls(loaded: LoadedPlan, heldout: int) -> int:
    """Calls of the baseline at equal budget with the most samples; none where its budget is equal by construction."""
    plan = loaded.plan
    if not plan.gate.equal_budget or plan.student.shape == "per-fact":
        return 0
    return heldout // plan.student.samples * MOST_SAMPLES * plan.replicates
