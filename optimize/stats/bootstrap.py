"""The bootstrap by group of a mean over pairs: whole groups are drawn with replacement, and their pairs come along.

A resample is a count of how often each group was drawn, so the mean of a resample is a ratio of two products with group
totals, and no pair is copied.

References:
    Davison and Hinkley (1997), Bootstrap Methods and their Application, sec. 3.8: hierarchical data.
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, ch. 14: BCa.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError
from optimize.stats.group_statistics import ratio_statistic
from optimize.stats.grouped import GroupSums, group_sums
from optimize.stats.groups import Floats, Groups
from optimize.stats.resampling import BCA, PERCENTILE, BootstrapIntervals, bootstrap_intervals, resampled
from optimize.stats.results import Interval, check_count, check_level

BootstrapMethod = Literal["percentile", "bca"]


def resampled_means(totals: GroupSums, *, resamples: int, rng: np.random.Generator) -> Floats:
    """Means over pairs of resamples of groups, shape (resamples,), in the unit of the values.

    Args:
        totals: group totals with at least one group.
        resamples: at least 1.
        rng: source of all randomness; the result does not depend on the size of the chunks.
    """
    return resampled(ratio_statistic(totals.sums, totals.sizes), totals.n_groups, resamples=resamples, rng=rng)


def bootstrap_both(
    values: npt.ArrayLike,
    groups: Groups,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    rng: np.random.Generator,
) -> BootstrapIntervals:
    """Percentile and BCa interval for the mean over pairs, by groups, from one set of resamples.

    Args:
        values: shape (n,), any unit; 0/1 for a rate; candidate less baseline for a difference.
        groups: shape (n,), group labels.
        level: in (0, 1).
        resamples: at least 100.
        rng: source of all randomness.

    Raises:
        InputError: shapes differ, a value is not finite, or an option is outside its range.
    """
    check_level(level)
    check_count("resamples", resamples, at_least=100)
    totals = group_sums(values, groups)
    if obstacle := totals.influence.obstacle:
        percentile, bca = (
            Interval.undefined(obstacle, level=level, method=method, n_groups=totals.n_groups)
            for method in (PERCENTILE, BCA)
        )
        return BootstrapIntervals(percentile, bca, resamples)
    statistic = ratio_statistic(totals.sums, totals.sizes)
    return bootstrap_intervals(statistic, totals.n_groups, level=level, resamples=resamples, rng=rng)


def bootstrap_interval(
    values: npt.ArrayLike,
    groups: Groups,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    rng: np.random.Generator,
    method: BootstrapMethod = "percentile",
) -> Interval:
    """Two-sided bootstrap interval for the mean over pairs, by groups.

    With few groups a percentile interval is too narrow, by about the factor sqrt((G - 1) / G) and by the missing t
    quantile. Its ends carry Monte-Carlo noise that shrinks with the square root of ``resamples``.

    Args:
        values: shape (n,), any unit; 0/1 for a rate; candidate less baseline for a difference.
        groups: shape (n,), group labels.
        level: in (0, 1).
        resamples: at least 100.
        rng: source of all randomness.
        method: ``percentile``, or ``bca`` for bias-corrected and accelerated, the acceleration by a jackknife over
            groups.

    Raises:
        InputError: shapes differ, a value is not finite, or an option is outside its range.
    """
    if method not in ("percentile", "bca"):
        raise InputError(f"method must be 'percentile' or 'bca', got {method!r}; use 'percentile'")
    both = bootstrap_both(values, groups, level=level, resamples=resamples, rng=rng)
    return both.bca if method == "bca" else both.percentile
