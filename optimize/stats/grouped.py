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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from lineage.errors import InputError
from optimize.stats.results import (
    NO_PAIRS,
    NO_VARIATION,
    ONE_GROUP,
    Estimate,
    Interval,
    TestResult,
    check_level,
)

Floats = npt.NDArray[np.float64]
Groups = Sequence[str] | Sequence[int] | npt.NDArray[Any]

METHOD = "linearised t interval by group"
# Sums of at most some thousand values of one magnitude are exact to far better than this share of that magnitude.
ROUNDING = 1e-10


@dataclass(frozen=True, slots=True)
class GroupSums:
    """Group totals of a per-pair quantity, groups in sorted order so that the order of rows never matters.

    Attributes:
        sums: shape (n_groups,), sum of the values of each group.
        sizes: shape (n_groups,), pairs in each group.
        tolerance: absolute differences of sums below this are rounding noise.
    """

    sums: Floats
    sizes: Floats
    tolerance: float

    @property
    def n(self) -> int:
        """Pairs in all."""
        return int(self.sizes.sum())

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
        return 0.0 if abs(total) <= self.tolerance else total / float(self.sizes.sum())

    @property
    def residuals(self) -> Floats:
        """Shape (n_groups,): each group's sum less what the overall mean expects; exactly 0 within rounding."""
        residuals = self.sums - self.mean * self.sizes
        return np.where(np.abs(residuals) <= self.tolerance, 0.0, residuals)

    @property
    def obstacle(self) -> str:
        """Why no spread between groups can be estimated; empty if it can."""
        if self.n_groups == 0:
            return NO_PAIRS
        if self.n_groups == 1:
            return ONE_GROUP
        return "" if self.residuals.any() else NO_VARIATION

    @property
    def standard_error(self) -> float:
        """Standard error of the mean over pairs; NaN where `obstacle` names a reason."""
        if self.obstacle:
            return math.nan
        g = self.n_groups
        # Cochran (1977), ch. 6, ratio estimator without finite-population factor; equals the clustered standard error
        # of Miller (2024) with the factor G/(G-1).
        return math.sqrt(g / (g - 1) * float(np.square(self.residuals).sum())) / self.n


@dataclass(frozen=True, slots=True, eq=False)
class GroupCodes:
    """Groups of observations as codes.

    Attributes:
        names: shape (n_groups,), the labels that occur, sorted.
        codes: shape (n,), positions in ``names``.
    """

    names: npt.NDArray[Any]
    codes: npt.NDArray[np.intp]

    def totals(self, values: Floats) -> Floats:
        """Sum of a quantity in each group, shape (n_groups,)."""
        return np.bincount(self.codes, weights=values, minlength=len(self.names)).astype(np.float64)


def group_codes(groups: Groups) -> GroupCodes:
    """Codes of group labels, shape (n,); labels of one type.

    Small whole numbers, as of labels that are codes already, are counted rather than sorted.
    """
    labels: npt.NDArray[Any] = np.asarray(groups)
    if labels.dtype.kind in "iu" and len(labels) and labels.min() >= 0 and labels.max() < 4 * len(labels) + 1024:
        found = np.bincount(labels) > 0
        return GroupCodes(np.flatnonzero(found), (np.cumsum(found) - 1)[labels])
    names, codes = np.unique(labels, return_inverse=True)
    return GroupCodes(names, codes)


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
    return GroupSums(sums, sizes, ROUNDING * float(np.abs(x).max(initial=0.0)))


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
    check_level(level)
    totals = group_sums(values, groups)
    if totals.obstacle:
        return Interval.undefined(totals.obstacle, level=level, method=METHOD, n_groups=totals.n_groups)
    # The quantile is taken in the lower tail, where it keeps its precision.
    reach = -float(special.stdtrit(totals.n_groups - 1, (1.0 - level) / 2.0)) * totals.standard_error
    return Interval(totals.mean - reach, totals.mean + reach, level, METHOD, totals.n_groups)


def grouped_mean(values: npt.ArrayLike, groups: Groups, *, level: float = 0.95) -> Estimate:
    """Mean over pairs with its linearised interval; arguments as in `linearised_interval`.

    Every pair has the same weight, so a group with many pairs counts for more; the mean of group means is another
    quantity.
    """
    totals = group_sums(values, groups)
    reason = "" if totals.n_groups else NO_PAIRS
    return Estimate(
        totals.mean, linearised_interval(values, groups, level=level), totals.n, totals.n_groups, reason=reason
    )


def one_sided_p(values: npt.ArrayLike, groups: Groups, *, null: float = 0.0) -> TestResult:
    """Test of "the mean is above ``null``" with the t of `linearised_interval`.

    p is below alpha exactly where the lower end of the interval of level 1 - 2alpha is above ``null``.

    Args:
        values: shape (n,), as in `linearised_interval`.
        groups: shape (n,), group labels.
        null: the mean under the hypothesis of no effect.
    """
    method = "t test by group, linearised"
    totals = group_sums(values, groups)
    if totals.obstacle:
        return TestResult.undefined(totals.obstacle, alternative="greater", method=method, n_groups=totals.n_groups)
    t = (totals.mean - null) / totals.standard_error
    return TestResult(float(special.stdtr(totals.n_groups - 1, -t)), t, "greater", method, totals.n_groups)
