"""What failed judgements may have been: the interval's lowest end over every outcome of the pairs without a score."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from optimize.objectives import Comparison, ScoredPair
from optimize.stats import NO_PAIRS, NO_VARIATION, ONE_GROUP
from optimize.stats.grouped import linearised_errors
from optimize.stats.groups import ROUNDING, Floats
from optimize.stats.influence import t_quantile

LISTED: Final = 12
"""Up to this many groups with a failed pair every extreme outcome is looked at; beyond it the worst is searched for."""


@dataclass(frozen=True, slots=True)
class WorstCase:
    """A comparison with its failed pairs counted, a bound and no estimate.

    Attributes:
        against: every failed pair counted against the candidate.
        low: lowest low end of the linearised interval over every outcome of the failed pairs; NaN where an outcome has
            no interval.
        reason: why it has none; empty where it has one.
    """

    against: Comparison
    low: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the most that each difference may be, with its group; equal where both arms are scored.

    Attributes:
        least: shape (n,), candidate less baseline.
        most: shape (n,), at least ``least``.
        groups: shape (n,), group labels.
    """

    least: tuple[float, ...]
    most: tuple[float, ...]
    groups: tuple[str, ...]

    def negated(self) -> Bounds:
        """The bounds of baseline less candidate."""
        return Bounds(tuple(-x for x in self.most), tuple(-x for x in self.least), self.groups)


def pair_bounds(
    candidate: Sequence[ScoredPair],
    baseline: Sequence[ScoredPair],
    *,
    planned: Mapping[str, str],
    replicates: Collection[int],
) -> Bounds:
    """Bounds of the difference in credit of every planned pair, a credit that failed being anything from 0 to 1."""
    ours, theirs = ({(pair.example, pair.replicate): pair.credit for pair in pairs} for pairs in (candidate, baseline))
    least, most = [], []
    for example in planned:
        units = [(example, replicate) for replicate in sorted(set(replicates))]
        least.append(sum(ours.get(unit, 0.0) - theirs.get(unit, 1.0) for unit in units) / len(units))
        most.append(sum(ours.get(unit, 1.0) - theirs.get(unit, 0.0) for unit in units) / len(units))
    return Bounds(tuple(least), tuple(most), tuple(planned.values()))


def lowest_end(bounds: Bounds, *, level: float, level_arms: bool = False) -> tuple[float, str]:
    """The lowest low end of the linearised interval of the mean over everything within the bounds.

    The low end is a concave function of the group sums, so its lowest value is at an extreme of every group. Up to
    `LISTED` groups with a failed pair all extremes are looked at; with more, those that a descent from both ends comes
    to, which may miss the lowest by a little.

    Args:
        bounds: of every planned difference.
        level: in (0, 1), of the two-sided interval.
        level_arms: whether arms that agree in every group count as a difference of exactly 0 rather than as no
            interval.

    Returns:
        The low end, and why there is none: NaN with a reason where an extreme outcome has no interval.
    """
    names, codes = np.unique(np.asarray(bounds.groups, dtype=np.str_), return_inverse=True)
    if len(names) < 2:
        return math.nan, ONE_GROUP if len(names) else NO_PAIRS
    sizes = np.bincount(codes).astype(np.float64)
    least, most = (
        np.bincount(codes, weights=np.asarray(ends)).astype(np.float64) for ends in (bounds.least, bounds.most)
    )
    free = np.flatnonzero(most - least > 1e-12)
    reach = t_quantile(level, len(names))

    def ends(extremes: npt.NDArray[np.bool_]) -> Floats:
        """Low ends where the free groups are at their most (True) or least, shape (n_extremes,); -inf for none."""
        sums = np.repeat(least[None, :], len(extremes), axis=0)
        sums[:, free] = np.where(extremes, most[free], least[free])
        return _low_ends(sums, sizes, reach, level_arms=level_arms)

    if len(free) <= LISTED:
        patterns = (np.arange(2 ** len(free))[:, None] >> np.arange(len(free))) & 1
        low = float(ends(patterns.astype(np.bool_)).min())
    else:
        low = min(_descend(ends, np.full(len(free), start)) for start in (False, True))
    return (low, "") if math.isfinite(low) else (math.nan, NO_VARIATION)


def _low_ends(sums: Floats, sizes: Floats, reach: float, *, level_arms: bool) -> Floats:
    means = sums.sum(axis=1) / float(sizes.sum())
    errors = linearised_errors(sums, sizes, means)
    same = np.isnan(errors)
    agree = same & (np.abs(means) <= ROUNDING) & level_arms
    return np.where(agree, 0.0, np.where(same, -np.inf, means - reach * errors))


def _descend(ends: Callable[[npt.NDArray[np.bool_]], Floats], start: npt.NDArray[np.bool_]) -> float:
    """The low end that is reached by turning one group at a time to its other extreme while that lowers it."""
    at = start
    best = float(ends(at[None, :])[0])
    while True:
        neighbours = at[None, :] ^ np.eye(len(at), dtype=np.bool_)
        found = ends(neighbours)
        place = int(found.argmin())
        if not found[place] < best:
            return best
        best, at = float(found[place]), neighbours[place]
