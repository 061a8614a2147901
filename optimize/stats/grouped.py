"""The mean of a per-pair quantity whose pairs come in groups, as a ratio of sums with a linearised variance.

Pairs of one group share their source, their clean document and its judgement, so they are not independent. The mean
over pairs is the ratio of two group totals (sum of values, number of pairs), and its variance is that of a ratio
estimator over groups. The quantity may be a credit, a 0/1 flag, or a difference between two arms on the same pairs.

References:
    Cochran (1977), Sampling Techniques, 3rd ed., ch. 6: the variance of a ratio estimator.
    Miller (2024), Adding Error Bars to Evals, arXiv:2411.00640: clustered standard errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError
from optimize.stats.groups import ROUNDING, Floats, Groups, without_noise
from optimize.stats.influence import GroupInfluence
from optimize.stats.results import NO_PAIRS, Estimate, Interval, TestResult


@dataclass(frozen=True, slots=True, eq=False)
class GroupSums:
    """Group totals of a per-pair quantity, groups in sorted order so that the order of rows never matters.

    Attributes:
        names: shape (n_groups,), labels of the groups.
        sums: shape (n_groups,), sum of the values of each group.
        sizes: shape (n_groups,), pairs in each group.
        scale: the largest absolute value; differences of sums below `ROUNDING` of it are rounding noise.
    """

    names: npt.NDArray[Any]
    sums: Floats
    sizes: Floats
    scale: float

    @property
    def n_groups(self) -> int:
        """Groups in all."""
        return len(self.sums)

    @property
    def mean(self) -> float:
        """Mean over pairs, the ratio of sums, exactly 0 within rounding; NaN without pairs.

        Differences that cancel, such as thirds over three replicates, would otherwise leave a tiny gain or loss.
        """
        if not self.n_groups:
            return math.nan
        total = float(self.sums.sum())
        return 0.0 if abs(total) <= ROUNDING * self.scale else total / float(self.sizes.sum())

    @property
    def influence(self) -> GroupInfluence:
        """The mean with the influence of each group on it."""
        n = int(self.sizes.sum())
        if not self.n_groups:
            return GroupInfluence.undefined(NO_PAIRS, n=n)
        residuals = without_noise(self.sums - self.mean * self.sizes, scale=self.scale)
        return GroupInfluence(self.mean, self.names, residuals / n, n)


def group_sums(values: npt.ArrayLike, groups: Groups) -> GroupSums:
    """Group totals of a per-pair quantity.

    Args:
        values: shape (n,), any unit, finite.
        groups: shape (n,), the label of each value's group; labels of one type.

    Raises:
        InputError: shapes differ, or a value is NaN or infinite.
    """
    x = np.asarray(values, dtype=np.float64)
    labels = np.asarray(groups)
    if x.ndim != 1 or labels.shape != x.shape:
        raise InputError(
            f"values and groups must be of one shape (n,), got {x.shape} and {labels.shape}; give one label per value"
        )
    if not np.isfinite(x).all():
        where = int(np.flatnonzero(~np.isfinite(x))[0])
        raise InputError(f"values must be finite, got {x[where]} at position {where}; leave failed pairs out, counted")
    names, codes = np.unique(labels, return_inverse=True)
    sums = np.bincount(codes, weights=x, minlength=len(names)).astype(np.float64)
    sizes = np.bincount(codes, minlength=len(names)).astype(np.float64)
    return GroupSums(names, sums, sizes, float(np.abs(x).max(initial=0.0)))


def linearised_interval(values: npt.ArrayLike, groups: Groups, *, level: float = 0.95) -> Interval:
    """Two-sided interval for the mean over pairs, by Student's t on G - 1 degrees of freedom.

    It is symmetric and not clipped: near the end of a scale it may reach beyond it. With fewer than about 20 groups, or
    one group that holds most pairs, its true coverage is below its level. Where every group has the same mean it is
    undefined rather than of zero width.

    Args:
        values: shape (n,), any unit; 0/1 for a rate; candidate less baseline for a difference.
        groups: shape (n,), group labels.
        level: in (0, 1).

    Raises:
        InputError: shapes differ, a value is not finite, or the level is outside (0, 1).
    """
    return group_sums(values, groups).influence.interval(level=level)


def grouped_mean(values: npt.ArrayLike, groups: Groups, *, level: float = 0.95) -> Estimate:
    """Mean over pairs with its linearised interval; arguments as in `linearised_interval`.

    Every pair has the same weight, so a group with many pairs counts for more; the mean of group means is another
    quantity.
    """
    return group_sums(values, groups).influence.estimate(level=level)


def one_sided_p(values: npt.ArrayLike, groups: Groups, *, null: float = 0.0) -> TestResult:
    """Test of "the mean is above ``null``" with the t of `linearised_interval`.

    p is below alpha exactly where the lower end of the interval of level 1 - 2alpha is above ``null``.

    Args:
        values: shape (n,), as in `linearised_interval`.
        groups: shape (n,), group labels.
        null: the mean under the hypothesis of no effect.
    """
    return group_sums(values, groups).influence.test(null=null)


def linearised_errors(sums: Floats, sizes: Floats, means: Floats) -> Floats:
    """Standard errors of many such means at once, shape (m,); NaN where every group has the same mean.

    Args:
        sums: shape (m, n_groups), group sums of values of at most about 1.
        sizes: shape (m, n_groups) or (n_groups,), pairs in each group.
        means: shape (m,), the ratios of the sums.
    """
    groups = sums.shape[1]
    residuals = without_noise(sums - means[:, None] * sizes, scale=1.0)
    # Cochran (1977), ch. 6, as in `GroupInfluence.standard_error`.
    errors = np.sqrt(groups / (groups - 1) * np.square(residuals).sum(axis=1)) / sizes.sum(axis=-1)
    return np.where(residuals.any(axis=1), errors, np.nan)
