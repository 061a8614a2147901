"""What simulated campaigns are summed up in: rates with Wilson's interval, and means with their standard error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from optimize.stats import Interval, wilson


@dataclass(frozen=True, slots=True)
class SimulatedRate:
    """How often something came about in simulated campaigns.

    The interval is of the simulation: it shrinks as campaigns are added, and knows nothing of whether a real judge is
    like the simulated one.

    Attributes:
        k: campaigns in which it did.
        n: campaigns in which it could.
        interval: Wilson's, 95%.
    """

    k: int
    n: int
    interval: Interval

    @property
    def value(self) -> float:
        """K of n; NaN where n is 0."""
        return self.k / self.n if self.n else math.nan

    def __str__(self) -> str:
        if not self.n:
            return "undefined: no simulated campaign counts"
        return f"{self.value:.4f} [{self.interval.low:.4f}, {self.interval.high:.4f}]"

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        defined = self.interval.defined
        return {
            "simulated_rate": self.value if self.n else None,
            "k": self.k,
            "n": self.n,
            "wilson95": [self.interval.low, self.interval.high] if defined else None,
        }


@dataclass(frozen=True, slots=True)
class SimulatedMean:
    """Mean of a quantity over simulated campaigns.

    Attributes:
        value: the mean; NaN where no campaign has the quantity.
        error: its standard error, of the simulation alone; NaN for fewer than two campaigns.
        n: campaigns that have it.
    """

    value: float
    error: float
    n: int

    def __str__(self) -> str:
        return f"{self.value:+z.4f} (standard error {self.error:.4f})" if self.n else "undefined: no simulated campaign"

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "simulated_mean": self.value if self.n else None,
            "standard_error": self.error if self.n > 1 else None,
            "n": self.n,
        }


def rate(happened: npt.NDArray[np.bool_]) -> SimulatedRate:
    """The rate of something, one element a campaign in which it could come about."""
    k, n = int(np.count_nonzero(happened)), len(happened)
    return SimulatedRate(k, n, wilson(k, n))


def mean(values: npt.NDArray[np.float64]) -> SimulatedMean:
    """The mean of a quantity, one element a campaign; NaN where a campaign does not have it."""
    known = values[~np.isnan(values)]
    if not len(known):
        return SimulatedMean(math.nan, math.nan, 0)
    error = float(known.std(ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else math.nan
    return SimulatedMean(float(known.mean()), error, len(known))
