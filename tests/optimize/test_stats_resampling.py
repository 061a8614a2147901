"""Resampling of groups for any statistic: against scipy, against copied rows, exact enumeration, degenerate input."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lineage.errors import InputError
from optimize.stats.detection import detection_at_fa
from optimize.stats.group_statistics import (
    auc_statistic,
    detection_statistic,
    difference_statistic,
    mean_statistic,
    ratio_statistic,
    rows_statistic,
)
from optimize.stats.resampling import (
    LEFT_OUT_UNDEFINED,
    MOSTLY_UNDEFINED,
    bootstrap_intervals,
    jackknife_interval,
    jackknifed,
    resample_counts,
    resampled,
)
from optimize.stats.results import NO_PAIRS, NO_VARIATION, ONE_GROUP
from optimize.stats.roc import auc


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def judged(seed: int, *, groups: int = 12) -> tuple[np.ndarray, ...]:
    """Coarse scores of flawed and clean documents in groups, with many ties."""
    source = rng(seed)
    flawed_groups, clean_groups = np.repeat(np.arange(groups), 3), np.repeat(np.arange(groups), 2)
    flawed = source.integers(0, 8, size=len(flawed_groups)) / 8
    clean = source.integers(2, 9, size=len(clean_groups)) / 8
    return flawed, clean, flawed_groups, clean_groups


def test_every_resample_draws_as_many_groups_as_there_are() -> None:
    counts = resample_counts(7, resamples=400, rng=rng())
    assert counts.shape == (400, 7)
    assert (counts.sum(axis=1) == 7).all()
    # A count of one group is binomial(7, 1/7).
    assert counts.mean(axis=0) == pytest.approx(np.ones(7), abs=0.25)
    assert counts.var() == pytest.approx(6 / 7, abs=0.1)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), cap=st.sampled_from([0.0, 0.1, 0.3, 1.0]))
def test_statistics_of_weights_equal_the_measure_of_copied_rows(seed: int, cap: float) -> None:
    flawed, clean, flawed_groups, clean_groups = judged(seed)
    groups = {"flawed_groups": flawed_groups, "clean_groups": clean_groups, "n_groups": 12}
    weights = resample_counts(12, resamples=5, rng=rng(seed))
    rates = auc_statistic(flawed, clean, **groups)(weights)
    found = detection_statistic(flawed, clean, cap=cap, **groups)(weights)
    for row, drawn in enumerate(weights.astype(int)):
        copied = [np.repeat(scores, drawn[of]) for scores, of in ((flawed, flawed_groups), (clean, clean_groups))]
        pairs = stats.mannwhitneyu(copied[1], copied[0]).statistic
        assert rates[row] == pytest.approx(pairs / len(copied[0]) / len(copied[1]))
        assert found[row] == pytest.approx(detection_at_fa(*copied, cap=cap).detection)


def test_a_statistic_of_rows_equals_the_ratio_that_it_computes() -> None:
    source = rng(3)
    groups, values = np.repeat(np.arange(9), [1, 2, 3, 1, 2, 3, 1, 2, 3]), source.normal(size=18)
    tops, bottoms = np.bincount(groups, weights=values), np.bincount(groups).astype(float)
    weights = resample_counts(9, resamples=50, rng=source)
    by_rows = rows_statistic(lambda rows: float(values[rows].mean()), groups=groups)(weights)
    assert by_rows == pytest.approx(ratio_statistic(tops, bottoms)(weights))
    halves = mean_statistic(ratio_statistic(tops, bottoms), ratio_statistic(3 * tops, bottoms))(weights)
    assert halves == pytest.approx(2 * by_rows)
    itself = difference_statistic(ratio_statistic(tops, bottoms), ratio_statistic(tops, bottoms))
    assert not itself(weights).any()


@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_intervals_of_a_ratio_equal_scipys(kind: str) -> None:
    source = rng(5)
    tops, bottoms = source.gamma(2.0, size=25), source.integers(1, 6, size=25).astype(float)

    def ratio(top: np.ndarray, bottom: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.sum(top, axis=axis) / np.sum(bottom, axis=axis)

    theirs = stats.bootstrap(
        (tops, bottoms), ratio, paired=True, vectorized=True, n_resamples=30_000, method=kind, rng=source
    ).confidence_interval
    both = bootstrap_intervals(ratio_statistic(tops, bottoms), 25, resamples=30_000, rng=source)
    ours = both.percentile if kind == "percentile" else both.bca
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.02)


def test_a_percentile_interval_agrees_with_all_resamples_of_four_groups() -> None:
    values = np.array([0.0, 1.0, 3.0, 7.0])
    every = sorted(np.mean(drawn) for drawn in itertools.product(values, repeat=4))
    sampled = np.sort(resampled(ratio_statistic(values, np.ones(4)), 4, resamples=40_000, rng=rng(1)))
    assert np.quantile(sampled, [0.1, 0.5, 0.9]) == pytest.approx(np.quantile(every, [0.1, 0.5, 0.9]), abs=0.26)
    # The smallest of the 256 resamples, four times the first group, comes up once in 256.
    assert np.mean(sampled == 0.0) == pytest.approx(1 / 256, abs=0.002)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 500))
def test_the_jackknife_of_a_mean_is_its_t_interval(seed: int) -> None:
    values = rng(seed).normal(size=12)
    interval = jackknife_interval(ratio_statistic(values, np.ones(12)), 12, level=0.9)
    expected = stats.t.interval(0.9, 11, loc=values.mean(), scale=stats.sem(values))
    assert (interval.low, interval.high) == pytest.approx(expected)


def test_the_jackknife_of_auc_agrees_with_its_linearised_interval() -> None:
    flawed, clean, flawed_groups, clean_groups = judged(7, groups=80)
    groups = {"flawed_groups": flawed_groups, "clean_groups": clean_groups}
    linearised = auc(flawed, clean, **groups).interval()
    jackknife = jackknife_interval(auc_statistic(flawed, clean, n_groups=80, **groups), 80)
    assert (jackknife.low, jackknife.high) == pytest.approx((linearised.low, linearised.high), abs=0.003)


def test_the_same_seed_gives_the_same_bytes() -> None:
    statistic = ratio_statistic(np.arange(9.0), np.ones(9))
    first, second = (bootstrap_intervals(statistic, 9, resamples=1500, rng=rng(8)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(("values", "reason"), [([], NO_PAIRS), ([1.0], ONE_GROUP), ([0.5, 0.5, 0.5], NO_VARIATION)])
def test_degenerate_samples_are_undefined_with_a_reason(values: list[float], reason: str) -> None:
    statistic = ratio_statistic(np.array(values), np.ones(len(values)))
    both = bootstrap_intervals(statistic, len(values), rng=rng())
    assert both.percentile.reason == both.bca.reason == reason
    assert jackknife_interval(statistic, len(values)).reason == reason


def test_resamples_without_a_value_are_left_out_counted_or_leave_it_undefined() -> None:
    # One of eight groups has no clean document: few resamples lack the seven others.
    some = ratio_statistic(np.arange(8.0), np.array([1.0] * 7 + [0.0]))
    both = bootstrap_intervals(some, 8, resamples=2000, rng=rng(2))
    assert both.percentile.defined
    # All clean documents in one of three groups: 30% of resamples have none.
    rare = bootstrap_intervals(ratio_statistic(np.arange(3.0), np.array([0.0, 0.0, 1.0])), 3, rng=rng(2))
    assert rare.percentile.reason == MOSTLY_UNDEFINED
    assert rare.n_undefined == pytest.approx(10_000 * (2 / 3) ** 3, rel=0.1)
    assert "resamples undefined, left out" in str(rare)
    two = ratio_statistic(np.array([1.0, 2.0, 9.0]), np.array([0.0, 0.0, 1.0]))
    assert np.isnan(jackknifed(two, 3)).tolist() == [False, False, True]
    assert jackknife_interval(two, 3).reason == LEFT_OUT_UNDEFINED


def test_options_outside_their_range_are_refused() -> None:
    statistic = ratio_statistic(np.arange(3.0), np.ones(3))
    with pytest.raises(InputError, match="resamples must be a whole number of at least 100, got 50"):
        bootstrap_intervals(statistic, 3, resamples=50, rng=rng())
    with pytest.raises(InputError, match=r"level must be in \(0, 1\)"):
        jackknife_interval(statistic, 3, level=95)
    with pytest.raises(InputError, match="at least one statistic"):
        mean_statistic()
