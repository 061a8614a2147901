"""The linearised interval against a cluster-robust regression on a constant, theory and degenerate input."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from lineage.errors import InputError
from optimize.stats.grouped import group_sums, grouped_mean, linearised_interval, one_sided_p
from optimize.stats.results import NO_PAIRS, NO_VARIATION, ONE_GROUP

rows = st.lists(st.tuples(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), st.integers(0, 6)), min_size=2, max_size=40)


@settings(max_examples=60, deadline=None)
@given(rows=rows, level=st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_equals_cluster_robust_regression_on_a_constant(
    rows: list[tuple[float, int]], level: float
) -> None:
    values, groups = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    interval = linearised_interval(values, groups, level=level)
    assume(interval.defined)
    g, n = len(set(groups)), len(values)
    fit = sm.OLS(values, np.ones(n)).fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False})
    reach = stats.t.ppf((1 + level) / 2, g - 1) * fit.bse[0] * math.sqrt(g / (g - 1))
    assert interval.low == pytest.approx(fit.params[0] - reach, abs=1e-9)
    assert interval.high == pytest.approx(fit.params[0] + reach, abs=1e-9)
    # With its correction on, statsmodels adds (n-1)/(n-k), which is 1 for a constant alone.
    corrected = sm.OLS(values, np.ones(n)).fit(cov_type="cluster", cov_kwds={"groups": groups})
    assert corrected.bse[0] * stats.t.ppf((1 + level) / 2, g - 1) == pytest.approx(reach, abs=1e-9)


@given(values=st.lists(st.floats(-10, 10), min_size=2, max_size=30), level=st.floats(0.5, 0.99))
def test_with_one_pair_a_group_it_is_the_t_interval_of_a_mean(values: list[float], level: float) -> None:
    assume(np.ptp(values) > 1e-3)
    interval = linearised_interval(values, list(range(len(values))), level=level)
    expected = stats.t.interval(level, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))
    assert (interval.low, interval.high) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(rows=rows, null=st.sampled_from([-0.3, 0.0, 0.2]))
def test_the_one_sided_p_is_the_dual_of_the_interval(rows: list[tuple[float, int]], null: float) -> None:
    values, groups = [row[0] for row in rows], [row[1] for row in rows]
    result = one_sided_p(values, groups, null=null)
    assume(not result.reason and 1e-6 < result.p < 0.499)
    assert linearised_interval(values, groups, level=1 - 2 * result.p).low == pytest.approx(null, abs=1e-7)


@given(rows=rows, seed=st.integers(0, 99))
def test_the_order_of_rows_and_the_names_of_groups_do_not_matter(rows: list[tuple[float, int]], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(rows))
    plain = grouped_mean([row[0] for row in rows], [row[1] for row in rows])
    shuffled = grouped_mean([rows[i][0] for i in order], [f"g{rows[i][1]}" for i in order])
    assert repr(plain) == repr(shuffled)


def test_the_interval_covers_the_true_mean_about_as_often_as_its_level() -> None:
    rng = np.random.default_rng(7)
    covered, runs, g = 0, 600, 40
    for _ in range(runs):
        sizes = rng.integers(1, 6, size=g)
        values = rng.binomial(1, np.repeat(rng.beta(4, 2, size=g), sizes)).astype(float)
        covered += linearised_interval(values, np.repeat(np.arange(g), sizes)).contains(4 / 6)
    assert 0.92 < covered / runs < 0.98


def test_a_rate_of_flags_has_a_grouped_interval() -> None:
    estimate = grouped_mean([1, 0, 1, 1, 0, 0], ["a", "a", "b", "b", "c", "c"])
    # Residuals 0, 1, -1 of three groups of two: sqrt(3/2 * 2) / 6.
    reach = stats.t.ppf(0.975, 2) * math.sqrt(3) / 6
    assert estimate.value == 0.5
    assert estimate.n == 6
    assert estimate.n_groups == 3
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx((0.5 - reach, 0.5 + reach))


def test_zero_pairs_have_no_mean_and_say_so() -> None:
    estimate = grouped_mean([], [])
    assert math.isnan(estimate.value)
    assert estimate.reason == estimate.interval.reason == NO_PAIRS
    assert one_sided_p([], []).reason == NO_PAIRS


def test_one_group_has_a_mean_but_no_interval_and_no_p() -> None:
    estimate = grouped_mean([1.0, 0.5], ["a", "a"])
    assert estimate.value == 0.75
    assert estimate.reason == ""
    assert estimate.interval.reason == ONE_GROUP
    assert one_sided_p([1.0, 0.5], ["a", "a"]).reason == ONE_GROUP


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, -1.0])
def test_groups_that_agree_exactly_give_no_interval_of_zero_width(value: float) -> None:
    values, groups = [value] * 7, ["a", "b", "b", "c", "c", "c", "d"]
    estimate = grouped_mean(values, groups)
    assert estimate.value == pytest.approx(value)
    assert estimate.interval.reason == NO_VARIATION
    assert one_sided_p(values, groups).reason == NO_VARIATION


def test_a_value_that_is_not_finite_is_refused_with_its_place() -> None:
    with pytest.raises(InputError, match="values must be finite, got nan at position 1"):
        group_sums([0.0, math.nan], ["a", "b"])


def test_a_missing_label_is_refused() -> None:
    with pytest.raises(InputError, match="one label per value"):
        group_sums([0.0, 1.0], ["a"])


def test_a_level_in_per_cent_is_refused() -> None:
    with pytest.raises(InputError, match=r"use 0\.95$"):
        linearised_interval([0.0, 1.0], ["a", "b"], level=95)


def test_differences_that_cancel_have_a_mean_of_exactly_zero() -> None:
    thirds = [1 / 3, 1 / 3, -2 / 3, 1.0, -1 / 3, -1 / 3, -1 / 3]
    assert sum(thirds) != 0.0
    assert grouped_mean(thirds, list("aabbccd")).value == 0.0
