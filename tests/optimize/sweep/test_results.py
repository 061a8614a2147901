from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lineage.records import Usage
from optimize.sweep import StudyResult, TrialResult
from optimize.sweep.plan import Measure
from optimize.sweep.spend import Spent


def result_of(
    values: Sequence[Sequence[float]], objectives: tuple[Measure, ...] = ("paired", "cost"), **changes: Any
) -> StudyResult:
    trials = [
        TrialResult(
            number,
            "complete",
            {"search.seed": number},
            {
                "state": "complete",
                "reason": "",
                "reading": {"values": dict(zip(objectives, found, strict=True))},
                "candidates": 3,
            },
            f"plan {number}",
            "worker",
            "event",
        )
        for number, found in enumerate(values, start=1)
    ]
    options: dict[str, Any] = {"unit": "tokens", "planned": len(trials), "simulated": False} | changes
    return StudyResult(
        "study",
        "f",
        objectives,
        options.pop("unit"),
        options.pop("planned"),
        tuple(trials),
        Spent(Usage(), Usage()),
        options.pop("simulated"),
    )


pairs = st.lists(st.tuples(st.integers(0, 5).map(float), st.integers(0, 5).map(float)), min_size=1, max_size=12)


@given(pairs)
def test_the_front_is_what_no_other_trial_is_better_than(values: list[tuple[float, float]]) -> None:
    found = result_of(values)
    front = {trial.number for trial in found.front}
    for number, (paired, cost) in enumerate(values, start=1):
        beaten = any(
            other_paired >= paired and other_cost <= cost and (other_paired, other_cost) != (paired, cost)
            for other_paired, other_cost in values
        )
        assert (number in front) is not beaten


@given(pairs)
def test_trials_rank_by_the_first_objective_then_the_next_then_the_earlier(values: list[tuple[float, float]]) -> None:
    ranked = [trial.number for trial in result_of(values).ranked]
    assert ranked == sorted(ranked, key=lambda number: (-values[number - 1][0], values[number - 1][1], number))
    assert result_of(values).front[0].number == ranked[0], "the first in rank is always on the front"


def test_candidates_of_equal_plans_are_counted_once() -> None:
    result = result_of([(0.5, 1.0), (0.5, 1.0), (0.6, 1.0)])
    first, second, third = result.trials
    same = TrialResult(2, "complete", second.parameters, second.outcome, first.plan_hash, "worker", "event")
    assert result.candidates == 9
    counted = StudyResult("study", "f", ("paired", "cost"), "tokens", 3, (first, same, third), result.spend, False)
    assert counted.candidates == 6
    pruned = TrialResult(2, "pruned", second.parameters, {"candidates": 1}, first.plan_hash, "worker", "event")
    counted = StudyResult("study", "f", ("paired", "cost"), "tokens", 3, (first, pruned, third), result.spend, False)
    assert counted.candidates == 6, "an equal trial that was pruned later hides none of what the first looked at"


def test_a_study_is_finished_when_every_planned_trial_has_an_outcome() -> None:
    assert result_of([(0.5, 1.0)]).finished
    assert not result_of([(0.5, 1.0)], planned=2).finished
    assert result_of([(0.5, 1.0)]).row()["counts"]["complete"] == 1
