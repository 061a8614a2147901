"""Statistics linearised over groups: an estimate, and what each group adds to its error.

Near the truth a smooth statistic is its value plus a sum over groups. The spread of those addends between groups gives
an interval for the statistic, and, group by group, for differences and means of statistics that share their groups. It
is the interval of `linearised_interval`, for more than a mean.

References:
    Cochran (1977), Sampling Techniques, 3rd ed., ch. 6: the variance of a ratio estimator.
    Deville (1999), Survey Methodology 25(2): variance estimation by influence functions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import special

from lineage.errors import InputError
from optimize.stats.groups import Floats, Groups, group_codes, without_noise
from optimize.stats.results import (
    NO_PAIRS,
    NO_VARIATION,
    ONE_GROUP,
    Alternative,
    Estimate,
    Interval,
    TestResult,
    check_alternative,
    check_level,
)

METHOD: Final = "linearised t interval by group"
T_TEST: Final = "t test by group, linearised"


@dataclass(frozen=True, slots=True, eq=False)
class GroupInfluence:
    """A statistic with the influence of each group on it.

    A linearisation describes small changes. Near the end of a scale, with fewer than about 20 groups, or with one group
    that holds most observations, intervals from it are too narrow or reach beyond the scale.

    Attributes:
        value: the statistic, in its own unit; NaN where undefined.
        names: shape (n_groups,), labels of the groups, sorted.
        influence: shape (n_groups,), in the unit of the value; sums to 0 up to rounding.
        n: observations behind it.
        reason: why the value is undefined; empty where it is defined.
    """

    value: float
    names: npt.NDArray[Any]
    influence: Floats
    n: int
    reason: str = ""

    def __post_init__(self) -> None:
        assert math.isnan(self.value) == bool(self.reason), "NaN and a reason go together"

    @classmethod
    def undefined(cls, reason: str, *, n: int = 0) -> GroupInfluence:
        """A statistic that says why it has no value."""
        return cls(math.nan, np.empty(0, dtype=np.intp), np.empty(0), n, reason)

    @property
    def n_groups(self) -> int:
        """Groups behind the statistic."""
        return len(self.names)

    @property
    def obstacle(self) -> str:
        """Why no spread between groups can be estimated; empty if it can."""
        if self.reason:
            return self.reason
        if self.n_groups == 0:
            return NO_PAIRS
        if self.n_groups == 1:
            return ONE_GROUP
        return "" if self.influence.any() else NO_VARIATION

    @property
    def standard_error(self) -> float:
        """Standard error of the value, in its unit; NaN where `obstacle` names a reason."""
        if self.obstacle:
            return math.nan
        # Cochran (1977), ch. 6, with G/(G-1), for the influence in place of the residual over n.
        return math.sqrt(self.n_groups / (self.n_groups - 1) * float(np.square(self.influence).sum()))

    def interval(self, *, level: float = 0.95) -> Interval:
        """Two-sided interval by Student's t on G - 1 degrees of freedom; symmetric, and not clipped to a scale.

        Args:
            level: in (0, 1).

        Raises:
            InputError: the level is outside (0, 1).
        """
        check_level(level)
        if self.obstacle:
            return Interval.undefined(self.obstacle, level=level, method=METHOD, n_groups=self.n_groups)
        reach = t_quantile(level, self.n_groups) * self.standard_error
        return Interval(self.value - reach, self.value + reach, level, METHOD, self.n_groups)

    def estimate(self, *, level: float = 0.95) -> Estimate:
        """The value with its interval."""
        return Estimate(self.value, self.interval(level=level), self.n, self.n_groups, self.reason)

    def test(self, *, null: float = 0.0, alternative: Alternative = "greater") -> TestResult:
        """Test of "the value is above ``null``", or below or unlike it, with the t of `interval`."""
        check_alternative(alternative)
        if self.obstacle:
            return TestResult.undefined(self.obstacle, alternative=alternative, method=T_TEST, n_groups=self.n_groups)
        t, df = (self.value - null) / self.standard_error, self.n_groups - 1
        tail = {"greater": -t, "less": t, "two-sided": -abs(t)}[alternative]
        p = float(special.stdtr(df, tail)) * (2.0 if alternative == "two-sided" else 1.0)
        return TestResult(p, t, alternative, T_TEST, self.n_groups)


def t_quantile(level: float, n_groups: int) -> float:
    """Standard errors by which a two-sided interval of G groups reaches to each side: Student's t on G - 1 degrees."""
    # Taken in the lower tail, where it keeps its precision.
    return -float(special.stdtrit(n_groups - 1, (1.0 - level) / 2.0))


def ratio_influence(
    numerators: npt.ArrayLike, groups: Groups, *, denominators: npt.ArrayLike | None = None
) -> GroupInfluence:
    """The ratio of two sums over observations, such as a rate, a mean or a weighted rate.

    Args:
        numerators: shape (n,), finite; 0/1 for a rate.
        groups: shape (n,), group labels of one type.
        denominators: shape (n,), at least 0, such as weights (the numerators already hold them); None for ones.

    Raises:
        InputError: shapes differ, a number is not finite, or a denominator is negative.
    """
    top, labels = np.asarray(numerators, dtype=np.float64), np.asarray(groups)
    bottom = np.ones(top.shape) if denominators is None else np.asarray(denominators, dtype=np.float64)
    if top.ndim != 1 or labels.shape != top.shape or bottom.shape != top.shape:
        raise InputError(
            f"numerators, groups and denominators must be of one shape (n,), got {top.shape}, {labels.shape} and "
            f"{bottom.shape}; give one label and one denominator per observation"
        )
    if not (np.isfinite(top).all() and np.isfinite(bottom).all() and (bottom >= 0.0).all()):
        raise InputError("numerators and denominators must be finite, and denominators at least 0; leave failures out")
    total = float(bottom.sum())
    if not total:
        return GroupInfluence.undefined(NO_PAIRS, n=len(top))
    coded = group_codes(labels)
    sums, sizes = coded.totals(top), coded.totals(bottom)
    value = float(sums.sum()) / total
    residuals = without_noise(sums - value * sizes, scale=float(np.abs(top).max(initial=0.0)))
    return GroupInfluence(value, coded.names, residuals / total, len(top))


def difference(first: GroupInfluence, second: GroupInfluence) -> GroupInfluence:
    """``first`` less ``second``, paired by group: what both share cancels.

    A group that only one of the two saw counts with the influence it has there.

    Raises:
        InputError: the groups of the two are named by labels of different types.
    """
    return _combined((first, second), (1.0, -1.0))


def mean_of(parts: Sequence[GroupInfluence]) -> GroupInfluence:
    """The mean of statistics that share their groups, such as of one measure within each replicate.

    ``n`` is that of the largest part: replicates are not further observations.

    Raises:
        InputError: there is no part, or the labels of groups are of different types.
    """
    if not parts:
        raise InputError("parts must hold at least one statistic")
    return _combined(parts, (1.0 / len(parts),) * len(parts))


def _combined(parts: Sequence[GroupInfluence], weights: Sequence[float]) -> GroupInfluence:
    n = max(part.n for part in parts)
    for part in parts:
        if part.reason:
            return GroupInfluence.undefined(part.reason, n=n)
    if len({part.names.dtype.kind for part in parts}) > 1:
        raise InputError("groups must be named by labels of one type in both statistics, such as all by strings")
    names = np.unique(np.concatenate([part.names for part in parts]))
    influence, scale = np.zeros(len(names)), 0.0
    for part, weight in zip(parts, weights, strict=True):
        influence[np.searchsorted(names, part.names)] += weight * part.influence
        scale = max(scale, float(np.abs(part.influence).max(initial=0.0)))
    value = sum(weight * part.value for part, weight in zip(parts, weights, strict=True))
    return GroupInfluence(value, names, without_noise(influence, scale=scale), n)
