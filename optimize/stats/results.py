"""Named results of the statistics: intervals, estimates and tests that say in words what they are.

An undefined number is NaN and carries a reason; it is never 0. The reasons are constants, so that a caller may branch
on ``interval.reason == NO_VARIATION`` rather than on text of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from lineage.errors import InputError

Alternative = Literal["greater", "less", "two-sided"]

NO_PAIRS: Final = "there is no observation"
ONE_GROUP: Final = "all observations are of one group, and the spread between groups cannot be seen"
NO_VARIATION: Final = "every group has the same mean, and a width of zero would be read as certainty"


def check_level(level: float) -> None:
    """Refuse a confidence level outside (0, 1).

    Raises:
        InputError: the level is outside (0, 1) or is not a number.
    """
    if not 0.0 < level < 1.0:
        remedy = f"{level / 100:g}" if 1.0 < level < 100.0 else "0.95"
        raise InputError(f"level must be in (0, 1), got {level:g}; use {remedy}")


def check_alternative(alternative: str) -> None:
    """Refuse an alternative hypothesis that no test here has.

    Raises:
        InputError: the name is not ``greater``, ``less`` or ``two-sided``.
    """
    if alternative not in ("greater", "less", "two-sided"):
        raise InputError(f"alternative must be 'greater', 'less' or 'two-sided', got {alternative!r}")


def check_count(name: str, value: int, *, at_least: int = 0) -> None:
    """Refuse a count that is no whole number or is too small.

    Raises:
        InputError: the value is not an integer, or is below ``at_least``.
    """
    if isinstance(value, bool) or int(value) != value or value < at_least:
        raise InputError(f"{name} must be a whole number of at least {at_least}, got {value!r}")


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval for one quantity, in the unit of that quantity.

    Its level is a property of the method over repeated draws of groups; it is not the probability that this one
    interval holds the truth, and it knows nothing of how the quantity was chosen: the interval of the best of many
    candidates is too high.

    Attributes:
        low: lower end; NaN where undefined.
        high: upper end; NaN where undefined.
        level: two-sided confidence level, in (0, 1).
        method: how it was computed, in words.
        n_groups: independent units behind it.
        reason: why it is undefined; empty where it is defined.
    """

    low: float
    high: float
    level: float
    method: str
    n_groups: int
    reason: str = ""

    def __post_init__(self) -> None:
        assert math.isnan(self.low) == math.isnan(self.high) == bool(self.reason), "NaN and a reason go together"

    @classmethod
    def undefined(cls, reason: str, *, level: float, method: str, n_groups: int) -> Interval:
        """An interval that says why it has no ends."""
        return cls(math.nan, math.nan, level, method, n_groups, reason)

    @property
    def defined(self) -> bool:
        """Whether the interval has ends."""
        return not self.reason

    def contains(self, x: float) -> bool:
        """Whether ``x`` lies within the closed interval.

        Raises:
            InputError: the interval is undefined. An answer of "no" would be read as "excluded".
        """
        if self.reason:
            raise InputError(f"the interval is undefined, because {self.reason}; check .defined before .contains")
        return self.low <= x <= self.high

    def __str__(self) -> str:
        if self.reason:
            return f"undefined ({self.method}): {self.reason}"
        return f"{self.low:.3f} to {self.high:.3f} ({100 * self.level:g}% {self.method}, {self.n_groups} groups)"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval.

    Attributes:
        value: the point estimate; NaN where undefined.
        interval: its interval, which may be undefined where the value is not.
        n: observations behind it, such as pairs.
        n_groups: independent units behind it.
        reason: why the value is undefined; empty where it is defined.
    """

    value: float
    interval: Interval
    n: int
    n_groups: int
    reason: str = ""

    def __post_init__(self) -> None:
        assert math.isnan(self.value) == bool(self.reason), "NaN and a reason go together"

    def __str__(self) -> str:
        if self.reason:
            return f"undefined: {self.reason}"
        return f"{self.value:.4f}, interval {self.interval}, n = {self.n}"


@dataclass(frozen=True, slots=True)
class TestResult:
    """The result of one test.

    A large p value does not show that there is no difference, and a small one does not say how large it is. The p value
    of a candidate that was picked on the same data is too small.

    Attributes:
        p: p value in [0, 1]; NaN where undefined.
        statistic: the test's statistic; NaN where undefined.
        alternative: the hypothesis against which "no effect" is tested.
        method: the test's name, in words.
        n_groups: independent units that the test was given.
        reason: why it is undefined; empty where it is defined.
    """

    # pytest would otherwise try to collect the class in every test module that imports it.
    __test__ = False

    p: float
    statistic: float
    alternative: Alternative
    method: str
    n_groups: int
    reason: str = ""

    def __post_init__(self) -> None:
        assert math.isnan(self.p) == bool(self.reason), "NaN and a reason go together"

    @classmethod
    def undefined(cls, reason: str, *, alternative: Alternative, method: str, n_groups: int) -> TestResult:
        """A test that says why it has no p value."""
        return cls(math.nan, math.nan, alternative, method, n_groups, reason)

    def __str__(self) -> str:
        if self.reason:
            return f"undefined ({self.method}): {self.reason}"
        return f"p = {self.p:.4g} ({self.method}, {self.alternative}, {self.n_groups} groups)"
