"""Resampling of groups for any statistic: percentile and BCa bootstrap intervals, and the jackknife.

A statistic is a function of how often each group counts. It takes weights of shape (m, n_groups), one row a resample,
and returns m values; a bootstrap draws whole numbers as weights, a jackknife sets one weight to 0. So a ratio of group
totals needs two matrix products, and no observation is copied. `group_statistics` makes such functions.

References:
    Davison and Hinkley (1997), Bootstrap Methods and their Application, sec. 3.8: hierarchical data.
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, ch. 11 and 14: jackknife, BCa.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from optimize.stats.groups import ROUNDING, Floats
from optimize.stats.influence import t_quantile
from optimize.stats.results import NO_PAIRS, NO_VARIATION, ONE_GROUP, Interval, check_count, check_level

GroupStatistic = Callable[[Floats], Floats]
"""Weights of groups, shape (m, n_groups), to values, shape (m,); NaN where the weighted sample has no value."""

PERCENTILE: Final = "percentile bootstrap interval by group"
BCA: Final = "BCa bootstrap interval by group"
JACKKNIFE: Final = "jackknife t interval by group"
ONE_SIDED: Final = "all resampled values lie on one side of the estimate, so the bias correction is infinite"
MOSTLY_UNDEFINED: Final = "the statistic has no value in more than one resample of ten"
LEFT_OUT_UNDEFINED: Final = "the statistic has no value without one of the groups"

# 2**21 counts are 16 MiB; more resamples than fit are drawn in further chunks, with the same result.
_CHUNK_ELEMENTS = 2**21
# Chunks of this size stay in the processor's cache and are not handed back to the system after each.
_CACHED_ELEMENTS = 2**13
_LEAST_ROWS = 64


@dataclass(frozen=True, slots=True)
class BootstrapIntervals:
    """The percentile and the BCa interval from the same resamples.

    Attributes:
        percentile: with few groups too narrow, by about the factor sqrt((G - 1) / G) and by the missing t quantile.
        bca: bias-corrected and accelerated; for few groups no better than the percentile interval, often worse.
        resamples: drawn.
        n_undefined: resamples in which the statistic had no value; they are left out.
    """

    percentile: Interval
    bca: Interval
    resamples: int
    n_undefined: int = 0

    def __str__(self) -> str:
        left_out = f"; {self.n_undefined} of {self.resamples} resamples undefined, left out" if self.n_undefined else ""
        return f"{self.percentile}; {self.bca}{left_out}"


def resample_counts(n_groups: int, *, resamples: int, rng: np.random.Generator) -> Floats:
    """How often each group is drawn in each resample of ``n_groups`` groups, shape (resamples, n_groups)."""
    drawn = rng.integers(0, n_groups, size=(resamples, n_groups))
    drawn += np.arange(resamples)[:, None] * n_groups
    counts = np.bincount(drawn.ravel(), minlength=resamples * n_groups)
    return counts.reshape(resamples, n_groups).astype(np.float64)


def resampled(statistic: GroupStatistic, n_groups: int, *, resamples: int, rng: np.random.Generator) -> Floats:
    """Values of a statistic in resamples of groups, shape (resamples,).

    Args:
        statistic: of weights of the groups.
        n_groups: at least 1.
        resamples: at least 1.
        rng: source of all randomness; the result does not depend on the size of the chunks.
    """
    chunk = max(1, min(max(_LEAST_ROWS, _CACHED_ELEMENTS // n_groups), _CHUNK_ELEMENTS // n_groups))
    values = np.empty(resamples)
    for start in range(0, resamples, chunk):
        stop = min(start + chunk, resamples)
        values[start:stop] = statistic(resample_counts(n_groups, resamples=stop - start, rng=rng))
    return values


def jackknifed(statistic: GroupStatistic, n_groups: int) -> Floats:
    """Values of a statistic without each group in turn, shape (n_groups,)."""
    chunk = max(1, _CHUNK_ELEMENTS // n_groups)
    values = np.empty(n_groups)
    for start in range(0, n_groups, chunk):
        left_out = np.arange(start, min(start + chunk, n_groups))
        weights = np.ones((len(left_out), n_groups))
        weights[np.arange(len(left_out)), left_out] = 0.0
        values[left_out] = statistic(weights)
    return values


def bootstrap_intervals(
    statistic: GroupStatistic,
    n_groups: int,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    rng: np.random.Generator,
) -> BootstrapIntervals:
    """Two-sided bootstrap intervals of any statistic, by groups.

    Their ends carry Monte-Carlo noise that shrinks with the square root of ``resamples``. Neither is right for the best
    of several candidates, nor for a statistic that sits at the end of its scale.

    Args:
        statistic: of weights of the groups, such as those of `group_statistics`; a difference of two arms is a
            statistic too.
        n_groups: groups.
        level: in (0, 1).
        resamples: at least 100.
        rng: source of all randomness.

    Raises:
        InputError: an option is outside its range.
    """
    check_level(level)
    check_count("resamples", resamples, at_least=100)
    check_count("n_groups", n_groups)
    reason = {0: NO_PAIRS, 1: ONE_GROUP}.get(n_groups, "")
    estimate = float(statistic(np.ones((1, n_groups)))[0]) if not reason else math.nan
    if not reason and math.isnan(estimate):
        reason = NO_PAIRS
    if reason:
        return _undefined(reason, level=level, n_groups=n_groups, resamples=resamples)
    values = resampled(statistic, n_groups, resamples=resamples, rng=rng)
    kept = values[~np.isnan(values)]
    missing = resamples - len(kept)
    if missing > resamples / 10:
        return _undefined(MOSTLY_UNDEFINED, level=level, n_groups=n_groups, resamples=resamples, missing=missing)
    if np.abs(kept - estimate).max() <= ROUNDING * max(1.0, abs(estimate)):
        return _undefined(NO_VARIATION, level=level, n_groups=n_groups, resamples=resamples, missing=missing)
    tails = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    low, high = np.quantile(kept, tails)
    left_out = jackknifed(statistic, n_groups)
    bca = bca_interval(estimate, kept, left_out, level=level)
    return BootstrapIntervals(Interval(float(low), float(high), level, PERCENTILE, n_groups), bca, resamples, missing)


def bca_interval(estimate: float, values: Floats, left_out: Floats, *, level: float) -> Interval:
    """The BCa interval from resampled values and from the values without each group."""
    if np.isnan(left_out).any():
        return Interval.undefined(LEFT_OUT_UNDEFINED, level=level, method=BCA, n_groups=len(left_out))
    tails = bca_tails(estimate, values, left_out, np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0]))
    if np.isnan(tails).any():
        return Interval.undefined(ONE_SIDED, level=level, method=BCA, n_groups=len(left_out))
    low, high = np.quantile(values, tails)
    return Interval(float(low), float(high), level, BCA, len(left_out))


def bca_tails(estimate: float, values: Floats, left_out: Floats, tails: Floats) -> Floats:
    """The tail probabilities that BCa reads instead of ``tails``; NaN where the correction is not finite."""
    noise = ROUNDING * max(abs(estimate), float(np.abs(values).max()))
    below = np.count_nonzero(values < estimate - noise)
    level_with = np.count_nonzero(np.abs(values - estimate) <= noise)
    # Efron and Tibshirani (1993), eq. 14.14, with half of the resamples that equal the estimate.
    bias = float(special.ndtri((below + level_with / 2.0) / len(values)))
    if math.isinf(bias):
        return np.full(len(tails), math.nan)
    deviations = left_out.mean() - left_out
    spread = float((deviations**2).sum())
    # Efron and Tibshirani (1993), eq. 14.15, with groups in place of observations; without spread there is no skew.
    acceleration = float((deviations**3).sum()) / (6.0 * spread**1.5) if spread else 0.0
    z = bias + special.ndtri(tails)
    # Efron and Tibshirani (1993), eq. 14.10.
    return np.asarray(special.ndtr(bias + z / (1.0 - acceleration * z)), dtype=np.float64)


def jackknife_interval(statistic: GroupStatistic, n_groups: int, *, level: float = 0.95) -> Interval:
    """Two-sided interval from the statistic without each group in turn, by Student's t on G - 1 degrees of freedom.

    For a smooth statistic it agrees with the linearised interval. For one with a threshold or a quantile in it, such as
    detection at a false-alarm cap, it is not consistent: use the bootstrap.

    Args:
        statistic: of weights of the groups.
        n_groups: groups.
        level: in (0, 1).

    Raises:
        InputError: the level is outside (0, 1).

    References:
        Efron and Tibshirani (1993), eq. 11.5.
    """
    check_level(level)
    check_count("n_groups", n_groups)
    reason = {0: NO_PAIRS, 1: ONE_GROUP}.get(n_groups, "")
    if not reason:
        estimate, values = float(statistic(np.ones((1, n_groups)))[0]), jackknifed(statistic, n_groups)
        deviations = values - values.mean()
        if math.isnan(estimate):
            reason = NO_PAIRS
        elif np.isnan(values).any():
            reason = LEFT_OUT_UNDEFINED
        elif np.abs(deviations).max() <= ROUNDING * max(1.0, abs(estimate)):
            reason = NO_VARIATION
    if reason:
        return Interval.undefined(reason, level=level, method=JACKKNIFE, n_groups=n_groups)
    error = math.sqrt((n_groups - 1) / n_groups * float(np.square(deviations).sum()))
    reach = t_quantile(level, n_groups) * error
    return Interval(estimate - reach, estimate + reach, level, JACKKNIFE, n_groups)


def _undefined(reason: str, *, level: float, n_groups: int, resamples: int, missing: int = 0) -> BootstrapIntervals:
    percentile, bca = (
        Interval.undefined(reason, level=level, method=method, n_groups=n_groups) for method in (PERCENTILE, BCA)
    )
    return BootstrapIntervals(percentile, bca, resamples, missing)
