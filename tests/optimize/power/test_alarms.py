from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.power import alarm_steps, chance_beyond
from optimize.power.alarms import flag_error, shown_margin
from optimize.stats import detection_at_fa, wilson


@given(n=st.integers(1, 120), cap=st.floats(0.0, 1.0))
@settings(max_examples=40, deadline=None)
def test_the_cap_allows_the_most_that_keeps_the_rate_within_it(n: int, cap: float) -> None:
    steps = alarm_steps(n, cap=cap)
    assert steps.allowed / n <= cap
    assert steps.allowed == n or (steps.allowed + 1) / n > cap
    assert steps.step == 1 / n


@given(n=st.integers(1, 60))
@settings(max_examples=40, deadline=None)
def test_the_sweep_never_passes_more_than_the_steps_allow(n: int) -> None:
    swept = detection_at_fa([-1.0], [float(score) for score in range(n)], cap=0.10)
    assert swept.false_alarms <= alarm_steps(n, cap=0.10).allowed


def test_one_in_ten_is_within_a_cap_of_a_tenth_whatever_a_tenth_is_in_binary() -> None:
    assert [alarm_steps(n, cap=0.1).allowed for n in (6, 10, 20, 30, 47)] == [0, 1, 2, 3, 4]


def test_the_published_accept_split_says_little_about_the_held_out_one() -> None:
    accept, heldout = alarm_steps(20, cap=0.10), alarm_steps(47, cap=0.10)
    assert (round(accept.interval.low, 3), round(accept.interval.high, 3)) == (0.028, 0.301)
    assert chance_beyond(accept, heldout) == pytest.approx(0.63, abs=0.01)
    assert heldout.shown is not None
    assert wilson(heldout.shown, 47).low > 0.10 >= wilson(heldout.shown - 1, 47).low


def test_without_clean_documents_nothing_is_defined_and_nothing_is_zero() -> None:
    none = alarm_steps(0, cap=0.1)
    assert math.isnan(none.step)
    assert not none.interval.defined
    assert math.isnan(chance_beyond(none, alarm_steps(10, cap=0.1)))
    assert none.row()["step"] is None


def test_a_cap_outside_its_range_is_refused() -> None:
    with pytest.raises(InputError, match=r"cap must be in \[0, 1\], got 10"):
        alarm_steps(20, cap=10)


@given(error=st.floats(0.01, 0.2), groups=st.integers(3, 200), alpha=st.sampled_from([0.05, 0.01]))
@settings(max_examples=40, deadline=None)
def test_the_margin_that_is_shown_with_some_power_is_shown_with_that_power(
    error: float, groups: int, alpha: float
) -> None:
    first = shown_margin("commissions", 0.1, differ=0.2, error=error, n_groups=groups, alpha=alpha)
    again = shown_margin("commissions", first.margin, differ=0.2, error=error, n_groups=groups, alpha=alpha)
    assert again.holds == pytest.approx(0.80, abs=1e-4)


def test_one_group_shows_no_margin() -> None:
    found = shown_margin("commissions", 0.1, differ=0.2, error=0.1, n_groups=1, alpha=0.05)
    assert math.isnan(found.margin)
    assert found.holds == 0.0
    assert found.row()["margin"] is None


def test_the_error_of_a_flag_difference_is_that_of_its_pairs() -> None:
    assert flag_error([1] * 50, 0.1, correlation=0.5) == pytest.approx(math.sqrt(0.1 / 50))
    assert flag_error([2] * 25, 0.1, correlation=1.0) == pytest.approx(math.sqrt(0.1 / 25))
