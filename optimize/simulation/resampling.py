"""Bootstrap intervals of many simulated differences at once: those of `optimize.stats.bootstrap_both`.

All differences of a block are resampled by the same draws of groups. Each interval is what it would be alone; only the
Monte-Carlo noise of the ends is shared within a block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from optimize.simulation.deciding import Bools, Floats, SimulatedDifferences, SimulatedIntervals
from optimize.stats.groups import ROUNDING
from optimize.stats.resampling import resample_counts

RESAMPLES: Final = 1_000
"""Resamples of an interval; its ends move by a small part of its width from one seed to the next."""


@dataclass(frozen=True, slots=True)
class SimulatedBootstraps:
    """Both bootstrap intervals of each campaign."""

    percentile: SimulatedIntervals
    bca: SimulatedIntervals


def bootstrap_intervals(
    seen: SimulatedDifferences, *, level: float, resamples: int = RESAMPLES, rng: np.random.Generator
) -> SimulatedBootstraps:
    """Percentile and BCa intervals by group.

    Args:
        seen: each is resampled by whole groups.
        level: in (0, 1), two-sided.
        resamples: at least 100.
        rng: source of the draws of groups.
    """
    sums, sizes = seen.sums, seen.sizes
    groups = sums.shape[1]
    # Whole numbers this small are exact in single precision, which is twice as fast.
    counts = resample_counts(groups, resamples=resamples, rng=rng).astype(np.float32).T
    drawn = (seen.steps.astype(np.float32) @ counts).astype(np.float64)
    means = drawn * seen.unit / (sizes.astype(np.float32) @ counts)
    means.sort(axis=1)
    tails = np.broadcast_to(np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0]), (len(sums), 2))
    flat = np.asarray(np.abs(sums - seen.values[:, None] * sizes).max(axis=1) <= ROUNDING)
    return SimulatedBootstraps(_read(means, tails, flat), _read(means, _bca_tails(seen, means, tails), flat))


def _read(means: Floats, tails: Floats, flat: Bools) -> SimulatedIntervals:
    """Quantiles of sorted resampled means; NaN where groups do not vary or the tails are NaN."""
    place = np.nan_to_num(tails) * (means.shape[1] - 1)
    below = np.minimum(place.astype(np.int64), means.shape[1] - 2)
    rows = np.arange(len(means))[:, None]
    low, high = means[rows, below], means[rows, below + 1]
    ends = low + (high - low) * (place - below)
    ends[np.isnan(tails).any(axis=1) | flat] = np.nan
    return SimulatedIntervals(ends[:, 0], ends[:, 1])


def _bca_tails(seen: SimulatedDifferences, means: Floats, tails: Floats) -> Floats:
    """The tail probabilities that BCa reads, as in `optimize.stats.resampling`; NaN where they are not finite."""
    sums, sizes, centre = seen.sums, seen.sizes, seen.values
    noise = (ROUNDING * np.maximum(np.abs(centre), np.abs(means).max(axis=1)))[:, None]
    away = means - centre[:, None]
    below = np.count_nonzero(away < -noise, axis=1)
    level_with = np.count_nonzero(np.abs(away) <= noise, axis=1)
    # Efron and Tibshirani (1993), eq. 14.14, 14.15 and 14.10.
    bias = special.ndtri((below + level_with / 2.0) / means.shape[1])
    left_out = (sums.sum(axis=1, keepdims=True) - sums) / (sizes.sum(axis=1, keepdims=True) - sizes)
    deviations = left_out.mean(axis=1, keepdims=True) - left_out
    spread = 6.0 * np.square(deviations).sum(axis=1) ** 1.5
    acceleration = np.divide((deviations**3).sum(axis=1), spread, out=np.zeros_like(spread), where=spread > 0.0)
    bias[np.isinf(bias)] = np.nan
    z = bias[:, None] + special.ndtri(tails)
    return np.asarray(special.ndtr(bias[:, None] + z / (1.0 - acceleration[:, None] * z)))
