"""Aggregations: in [0, 1], higher for a better note, and in the order of what they aggregate."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import InputError
from students.parsing import logistic
from students.steps import AGGREGATIONS, Aggregation, StepRead, aggregated, sum_of_logs
from students.steps.aggregating import beside
from students.steps.reading import log_logistic

reads = st.lists(st.floats(-30, 30), min_size=1, max_size=60).map(
    lambda margins: [StepRead(logistic(m), log_logistic(m), m) for m in margins]
)
aggregations = st.sampled_from(AGGREGATIONS)


def of(*probabilities: float) -> list[StepRead]:
    return [StepRead(p, math.log(p), None) for p in probabilities]


def test_the_aggregations_of_three_steps_by_hand() -> None:
    steps = of(0.9, 0.5, 0.8)
    assert sum_of_logs(steps) == pytest.approx(math.log(0.36))
    assert aggregated(steps, "sum") == pytest.approx(1 / (1 - math.log(0.36)), abs=1e-6)
    assert aggregated(steps, "length-normalised") == pytest.approx(0.36 ** (1 / 3), abs=1e-6)
    assert aggregated(steps, "minimum") == 0.5
    assert aggregated(steps, "mean") == pytest.approx(2.2 / 3, abs=1e-6)


@given(reads, aggregations)
def test_a_score_is_in_the_unit_interval_and_does_not_depend_on_the_order(
    steps: list[StepRead], aggregation: Aggregation
) -> None:
    score = aggregated(steps, aggregation)
    assert 0 <= score <= 1
    assert score == aggregated(list(reversed(steps)), aggregation)
    assert score == round(score, 6)


@given(reads, st.integers(0, 59), st.floats(0, 20), aggregations)
def test_a_better_step_never_lowers_a_score(
    steps: list[StepRead], place: int, gain: float, aggregation: Aggregation
) -> None:
    at = place % len(steps)
    margin = (steps[at].margin or 0.0) + gain
    better = [*steps[:at], StepRead(logistic(margin), log_logistic(margin), margin), *steps[at + 1 :]]
    assert aggregated(better, aggregation) >= aggregated(steps, aggregation)


@given(reads, reads)
def test_the_mapped_sum_orders_notes_as_the_sum_does(first: list[StepRead], second: list[StepRead]) -> None:
    a, b = sum_of_logs(first), sum_of_logs(second)
    if aggregated(first, "sum") < aggregated(second, "sum"):
        assert a < b
    if a < b - 1e-3 * (1 + b * b):
        assert aggregated(first, "sum") < aggregated(second, "sum"), "long notes do not all come to 0"


@given(reads)
def test_the_sum_falls_with_every_step_and_the_other_three_are_bounded_by_minimum_and_maximum(
    steps: list[StepRead],
) -> None:
    assert aggregated([*steps, *of(0.5)], "sum") < aggregated(steps, "sum") or aggregated(steps, "sum") < 0.01
    low, high = min(step.p for step in steps), max(step.p for step in steps)
    others: tuple[Aggregation, ...] = ("length-normalised", "mean")
    for name in others:
        assert low - 1e-6 <= aggregated(steps, name) <= high + 1e-6
    assert aggregated(steps, "length-normalised") <= aggregated(steps, "mean") + 1e-6


@given(st.floats(0.01, 0.99), st.integers(1, 30))
def test_equal_steps_have_the_same_length_normalised_score_at_any_length(p: float, count: int) -> None:
    assert aggregated(of(*[p] * count), "length-normalised") == pytest.approx(p, abs=1e-6)
    assert beside(of(*[p] * count))["steps"] == count


@pytest.mark.parametrize(
    ("steps", "aggregation", "said"),
    [([], "sum", "undefined without steps"), (of(0.5), "median", "must be one of sum")],
)
def test_what_is_undefined_is_an_error(steps: Any, aggregation: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        aggregated(steps, aggregation)
