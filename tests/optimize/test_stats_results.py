"""The named results: NaN goes with a reason, and words say what a number is."""

from __future__ import annotations

import dataclasses
import math

import pytest

from lineage.errors import InputError
from optimize.stats.results import NO_PAIRS, Estimate, Interval, TestResult, check_count, check_level


def test_an_interval_prints_its_ends_level_method_and_groups() -> None:
    interval = Interval(-0.0417, 0.1622, 0.95, "percentile bootstrap interval by group", 20)
    assert str(interval) == "-0.042 to 0.162 (95% percentile bootstrap interval by group, 20 groups)"


def test_an_interval_contains_its_ends_and_nothing_beyond() -> None:
    interval = Interval(-0.5, 0.5, 0.95, "t", 3)
    assert interval.contains(-0.5)
    assert interval.contains(0.5)
    assert not interval.contains(0.51)


def test_an_undefined_interval_refuses_to_say_what_it_contains() -> None:
    interval = Interval.undefined(NO_PAIRS, level=0.95, method="t", n_groups=0)
    assert math.isnan(interval.low)
    assert not interval.defined
    assert NO_PAIRS in str(interval)
    with pytest.raises(InputError, match="interval is undefined, because there is no observation"):
        interval.contains(0.0)


def test_an_undefined_estimate_and_test_print_their_reason() -> None:
    interval = Interval.undefined(NO_PAIRS, level=0.95, method="t", n_groups=0)
    assert str(Estimate(math.nan, interval, 0, 0, NO_PAIRS)) == f"undefined: {NO_PAIRS}"
    result = TestResult.undefined(NO_PAIRS, alternative="greater", method="t", n_groups=0)
    assert math.isnan(result.p)
    assert str(result) == f"undefined (t): {NO_PAIRS}"


def test_defined_results_print_in_words() -> None:
    interval = Interval(0.1, 0.3, 0.9, "t", 4)
    assert str(Estimate(0.2, interval, 12, 4)) == "0.2000, interval 0.100 to 0.300 (90% t, 4 groups), n = 12"
    assert str(TestResult(0.03125, 2.0, "greater", "sign-flip", 5)) == "p = 0.03125 (sign-flip, greater, 5 groups)"


def test_a_number_without_value_must_carry_a_reason() -> None:
    with pytest.raises(AssertionError, match="NaN and a reason"):
        TestResult(math.nan, 0.0, "greater", "t", 3)
    with pytest.raises(AssertionError, match="NaN and a reason"):
        Interval(0.0, 1.0, 0.95, "t", 3, "but why")


def test_results_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Interval(0.0, 1.0, 0.95, "t", 3).low = 0.5  # type: ignore[misc]  # the assignment is what is tested


@pytest.mark.parametrize(("level", "remedy"), [(95.0, "0.95"), (90.0, "0.9"), (0.0, "0.95"), (math.nan, "0.95")])
def test_a_level_outside_its_range_is_refused_with_a_remedy(level: float, remedy: str) -> None:
    with pytest.raises(InputError, match=rf"level must be in \(0, 1\), got .*; use {remedy}$"):
        check_level(level)


@pytest.mark.parametrize("value", [-1, True])
def test_a_count_must_be_a_whole_number(value: int) -> None:
    with pytest.raises(InputError, match="n must be a whole number of at least 0"):
        check_count("n", value)
