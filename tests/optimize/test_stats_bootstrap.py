"""The bootstrap by group against scipy, a plain loop and degenerate input."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lineage.errors import InputError
from optimize.stats import resampling
from optimize.stats.bootstrap import bootstrap_both, bootstrap_interval, resampled_means
from optimize.stats.grouped import group_sums, linearised_interval
from optimize.stats.resampling import ONE_SIDED, bca_interval, bca_tails
from optimize.stats.results import NO_PAIRS, NO_VARIATION, ONE_GROUP

G, SIZE = 24, 3


def equal_groups(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Values in groups of one size, where resampling groups is resampling group means."""
    rng = np.random.default_rng(seed)
    # Continuous, because scipy counts resamples level with the estimate without a guard for rounding.
    return rng.gamma(1.0, size=G * SIZE) - 1.0, np.repeat(np.arange(G), SIZE)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), level=st.sampled_from([0.8, 0.95]))
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_interval_equals_scipys_on_the_same_resamples(method: str, seed: int, level: float) -> None:
    values, groups = equal_groups(seed)
    means = resampled_means(group_sums(values, groups), resamples=999, rng=np.random.default_rng(seed))
    interval = bootstrap_interval(
        values,
        groups,
        level=level,
        resamples=999,
        rng=np.random.default_rng(seed),
        method="bca" if method == "bca" else "percentile",
    )
    theirs = stats.bootstrap(
        (values.reshape(G, SIZE).mean(axis=1),),
        np.mean,
        n_resamples=0,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=means),
        confidence_level=level,
        method=method,
    ).confidence_interval
    assert (interval.low, interval.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_resamples_level_with_the_estimate_count_half_in_bca() -> None:
    # Sixteen groups of whole numbers have exact means, many of them level with the estimate.
    values = np.array([0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 3], dtype=float)
    groups = np.arange(16)
    means = resampled_means(group_sums(values, groups), resamples=999, rng=np.random.default_rng(6))
    assert np.mean(means == values.mean()) > 0.05
    left_out = (values.sum() - values) / (len(values) - 1)
    tails = bca_tails(values.mean(), means, left_out, np.array([0.025, 0.975]))
    theirs = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=0,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=means),
        method="bca",
    ).confidence_interval
    assert tuple(np.quantile(means, tails)) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    below, level_with = np.mean(means < values.mean()), np.mean(means == values.mean())
    no_skew = bca_tails(0.0, means - values.mean(), np.array([-1.0, 1.0]), np.array([0.5]))
    assert stats.norm.ppf(no_skew[0]) / 2 == pytest.approx(stats.norm.ppf(below + level_with / 2))


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_independent_resamples_agree_with_scipys(method: str) -> None:
    values, groups = equal_groups(5)
    rng = np.random.default_rng(1)
    chosen = bootstrap_interval(
        values, groups, resamples=20_000, rng=rng, method="bca" if method == "bca" else "percentile"
    )
    theirs = stats.bootstrap(
        (values.reshape(G, SIZE).mean(axis=1),), np.mean, n_resamples=20_000, rng=rng, method=method
    ).confidence_interval
    assert (chosen.low, chosen.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_unequal_groups_agree_with_a_plain_loop_over_copied_pairs() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 7, size=20)
    groups, values = np.repeat(np.arange(20), sizes), rng.normal(size=sizes.sum())
    means = []
    for _ in range(4000):
        drawn = rng.integers(0, 20, size=20)
        means.append(np.concatenate([values[groups == group] for group in drawn]).mean())
    interval = bootstrap_interval(values, groups, resamples=4000, rng=rng)
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=0.03)


def test_the_same_seed_gives_the_same_bytes_whatever_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    values, groups = equal_groups(9)
    whole = bootstrap_interval(values, groups, resamples=1000, rng=np.random.default_rng(2))
    monkeypatch.setattr(resampling, "_CHUNK_ELEMENTS", 7 * G)
    assert bootstrap_interval(values, groups, resamples=1000, rng=np.random.default_rng(2)) == whole


def test_many_groups_agree_with_the_linearised_interval() -> None:
    rng = np.random.default_rng(11)
    sizes = rng.integers(1, 5, size=300)
    groups, values = np.repeat(np.arange(300), sizes), rng.integers(0, 2, size=sizes.sum()).astype(float)
    ours, theirs = bootstrap_interval(values, groups, rng=rng), linearised_interval(values, groups)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.005)


@pytest.mark.parametrize(
    ("values", "groups", "reason"),
    [([], [], NO_PAIRS), ([1.0, 0.0], ["a", "a"], ONE_GROUP), ([0.0, 0.0], ["a", "b"], NO_VARIATION)],
)
def test_degenerate_input_is_undefined_with_a_reason(values: list[float], groups: list[str], reason: str) -> None:
    assert bootstrap_interval(values, groups, rng=np.random.default_rng(0)).reason == reason


def test_bca_without_resamples_on_both_sides_is_undefined() -> None:
    interval = bca_interval(0.5, np.full(100, 0.9), np.array([0.0, 1.0]), level=0.95)
    assert interval.reason == ONE_SIDED


def test_both_intervals_from_one_set_of_resamples_are_the_two_alone() -> None:
    values, groups = equal_groups(4)
    both = bootstrap_both(values, groups, resamples=500, rng=np.random.default_rng(3))
    alone = bootstrap_interval(values, groups, resamples=500, rng=np.random.default_rng(3))
    bca = bootstrap_interval(values, groups, resamples=500, rng=np.random.default_rng(3), method="bca")
    assert (both.percentile, both.bca) == (alone, bca)
    assert "BCa bootstrap interval by group" in str(both)


def test_options_outside_their_range_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="resamples must be a whole number of at least 100, got 10"):
        bootstrap_interval([0.0, 1.0], ["a", "b"], resamples=10, rng=rng)
    with pytest.raises(InputError, match="method must be 'percentile' or 'bca', got 'basic'"):
        bootstrap_interval([0.0, 1.0], ["a", "b"], rng=rng, method="basic")  # type: ignore[arg-type]  # is tested
