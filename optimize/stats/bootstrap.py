"""The bootstrap by group: whole groups are drawn with replacement, and their pairs come along.

A resample is a count of how often each group was drawn, so the mean of a resample is a ratio of two products with group
totals, and no pair is copied.

References:
    Davison and Hinkley (1997), Bootstrap Methods and their Application, sec. 3.8: hierarchical data.
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, ch. 14: BCa.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from lineage.errors import InputError
from optimize.stats.grouped import ROUNDING, Floats, Groups, GroupSums, group_sums
from optimize.stats.results import Interval, check_count, check_level

BootstrapMethod = Literal["percentile", "bca"]

# 2**21 counts are 16 MiB; more resamples than fit are drawn in further chunks, with the same result.
_CHUNK_ELEMENTS = 2**21


def resampled_means(totals: GroupSums, *, resamples: int, rng: np.random.Generator) -> Floats:
    """Means over pairs of resamples of groups, shape (resamples,), in the unit of the values.

    Args:
        totals: group totals with at least one group.
        resamples: at least 1.
        rng: source of all randomness; the result does not depend on the size of the chunks.
    """
    g = totals.n_groups
    chunk = max(1, _CHUNK_ELEMENTS // g)
    shares = np.full(g, 1.0 / g)
    means = np.empty(resamples)
    for start in range(0, resamples, chunk):
        stop = min(start + chunk, resamples)
        counts = rng.multinomial(g, shares, size=stop - start).astype(np.float64)
        means[start:stop] = (counts @ totals.sums) / (counts @ totals.sizes)
    return means


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
    check_level(level)
    check_count("resamples", resamples, at_least=100)
    if method not in ("percentile", "bca"):
        raise InputError(f"method must be 'percentile' or 'bca', got {method!r}; use 'percentile'")
    name = f"{'BCa' if method == 'bca' else 'percentile'} bootstrap interval by group"
    totals = group_sums(values, groups)
    if totals.obstacle:
        return Interval.undefined(totals.obstacle, level=level, method=name, n_groups=totals.n_groups)
    means = resampled_means(totals, resamples=resamples, rng=rng)
    tails = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    if method == "bca":
        tails = _bca_tails(totals, means, tails)
        if np.isnan(tails).any():
            reason = "all resampled means lie on one side of the estimate, so the bias correction is infinite"
            return Interval.undefined(reason, level=level, method=name, n_groups=totals.n_groups)
    low, high = np.quantile(means, tails)
    return Interval(float(low), float(high), level, name, totals.n_groups)


def _bca_tails(totals: GroupSums, means: Floats, tails: Floats) -> Floats:
    """The two tail probabilities that BCa reads instead of ``tails``; NaN where the correction is not finite."""
    noise = ROUNDING * max(abs(totals.mean), float(np.abs(means).max()))
    below = np.count_nonzero(means < totals.mean - noise)
    level_with = np.count_nonzero(np.abs(means - totals.mean) <= noise)
    # Efron and Tibshirani (1993), eq. 14.14, with half of the resamples that equal the estimate.
    bias = float(special.ndtri((below + level_with / 2.0) / len(means)))
    if math.isinf(bias):
        return np.full(2, math.nan)
    left_out = (totals.sums.sum() - totals.sums) / (totals.sizes.sum() - totals.sizes)
    deviations = left_out.mean() - left_out
    # Efron and Tibshirani (1993), eq. 14.15, with groups in place of observations.
    acceleration = float((deviations**3).sum() / (6.0 * (deviations**2).sum() ** 1.5))
    z = bias + special.ndtri(tails)
    # Efron and Tibshirani (1993), eq. 14.10.
    return np.asarray(special.ndtr(bias + z / (1.0 - acceleration * z)), dtype=np.float64)
