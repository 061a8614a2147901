"""Calibration of probabilities: expected calibration error with its binning stated, Brier score, reliability table.

References:
    Brier (1950), Monthly Weather Review 78(1).
    Naeini, Cooper and Hauskrecht (2015), AAAI: the expected calibration error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError
from optimize.stats.classical import wilson
from optimize.stats.groups import Floats, Groups
from optimize.stats.influence import ratio_influence
from optimize.stats.results import NO_PAIRS, Interval, check_count

Binning = Literal["equal-width", "equal-mass"]


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Probabilities above ``low`` and up to ``high`` (the lowest bin holds its low end too), and what came true.

    Attributes:
        low: lower edge, in [0, 1].
        high: upper edge, in [0, 1].
        n: probabilities in the bin; empty bins are left out of the table.
        mean_probability: their mean, in [0, 1].
        came_true: how many came true.
        level: of the interval, in (0, 1).
    """

    low: float
    high: float
    n: int
    mean_probability: float
    came_true: int
    level: float

    @property
    def rate(self) -> float:
        """Share that came true, in [0, 1]."""
        return self.came_true / self.n

    @property
    def wilson(self) -> Interval:
        """Wilson interval of the rate, which takes the observations as independent."""
        return wilson(self.came_true, self.n, level=self.level)


@dataclass(frozen=True, slots=True)
class Calibration:
    """How well stated probabilities match what came true.

    A calibrated judge need not discriminate: one that always states the base rate has an ECE of 0. The ECE depends on
    the binning and is never negative, so chance alone lifts it; ``ece_by_chance`` says how far. It has no interval:
    resampling lifts it once more.

    Attributes:
        ece: expected calibration error, in [0, 1], lower is better; NaN without observations.
        ece_by_chance: about what a perfectly calibrated judge would show with these probabilities and bins, taking
            observations as independent; a higher ECE is needed to speak of miscalibration.
        brier: mean squared difference of probability and outcome, in [0, 1], lower is better; always stating the base
            rate q gives q(1 - q).
        brier_interval: linearised, by group.
        base_rate: share that came true, in [0, 1].
        bins: the reliability table.
        method: the binning, in words.
        n: probabilities.
        n_groups: groups.
        reason: why it is undefined; empty where it is defined.
    """

    ece: float
    ece_by_chance: float
    brier: float
    brier_interval: Interval
    base_rate: float
    bins: tuple[ReliabilityBin, ...]
    method: str
    n: int
    n_groups: int
    reason: str = ""

    def __post_init__(self) -> None:
        assert math.isnan(self.ece) == bool(self.reason), "NaN and a reason go together"

    def rows(self) -> list[tuple[str, ...]]:
        """The reliability table: bin, number, mean probability, share that came true, its Wilson interval."""
        return [
            (
                f"{entry.low:.2f} to {entry.high:.2f}",
                str(entry.n),
                f"{entry.mean_probability:.3f}",
                f"{entry.rate:.3f}",
                f"{entry.wilson.low:.3f} to {entry.wilson.high:.3f}",
            )
            for entry in self.bins
        ]

    def __str__(self) -> str:
        if self.reason:
            return f"calibration undefined: {self.reason}"
        return (
            f"expected calibration error {self.ece:.3f} ({self.method}; about {self.ece_by_chance:.3f} by chance "
            f"alone), Brier score {self.brier:.3f}, interval {self.brier_interval}, {self.n} probabilities in "
            f"{self.n_groups} groups, of which {self.base_rate:.3f} came true"
        )


def calibration(
    probabilities: npt.ArrayLike,
    outcomes: npt.ArrayLike,
    groups: Groups,
    *,
    bins: int = 10,
    binning: Binning = "equal-width",
    level: float = 0.95,
) -> Calibration:
    """Calibration of stated probabilities, such as P(yes) that a fact is present.

    Args:
        probabilities: shape (n,), in [0, 1].
        outcomes: shape (n,), 1 where it came true, else 0.
        groups: shape (n,), group labels.
        bins: at least 1.
        binning: ``equal-width`` bins of [0, 1], or ``equal-mass`` bins between quantiles of the probabilities, where
            equal edges merge.
        level: in (0, 1), of the intervals.

    Raises:
        InputError: shapes differ, a probability is outside [0, 1], an outcome is neither 0 nor 1, or an option is
            outside its range.
    """
    check_count("bins", bins, at_least=1)
    stated, true = np.asarray(probabilities, dtype=np.float64), np.asarray(outcomes, dtype=np.float64)
    if stated.ndim != 1 or true.shape != stated.shape:
        raise InputError(f"probabilities and outcomes must be of one shape (n,), got {stated.shape} and {true.shape}")
    if not ((stated >= 0.0) & (stated <= 1.0)).all():
        raise InputError("probabilities must be in [0, 1]; a score on another scale is no probability")
    if not np.isin(true, (0.0, 1.0)).all():
        raise InputError("outcomes must be 0 or 1; leave unknown ones out and count them beside the result")
    brier = ratio_influence(np.square(stated - true), groups)
    interval = brier.interval(level=level)
    edges = _edges(stated, bins, binning)
    method = f"{len(edges) - 1} {binning} bins"
    if not len(stated):
        nan = math.nan
        return Calibration(nan, nan, nan, interval, nan, (), method, 0, 0, NO_PAIRS)
    codes = np.searchsorted(edges[1:-1], stated)
    n = np.bincount(codes, minlength=len(edges) - 1)
    claimed, came = (np.bincount(codes, weights=x, minlength=len(edges) - 1) for x in (stated, true))
    # Half-normal mean of each bin's sum of outcomes about its sum of probabilities.
    spread = np.bincount(codes, weights=stated * (1.0 - stated), minlength=len(edges) - 1)
    table = tuple(
        ReliabilityBin(
            float(edges[code]),
            float(edges[code + 1]),
            int(n[code]),
            float(claimed[code] / n[code]),
            int(came[code]),
            level,
        )
        for code in np.flatnonzero(n)
    )
    return Calibration(
        ece=float(np.abs(claimed - came).sum()) / len(stated),
        ece_by_chance=float(np.sqrt(2.0 / math.pi * spread).sum()) / len(stated),
        brier=brier.value,
        brier_interval=interval,
        base_rate=float(true.mean()),
        bins=table,
        method=method,
        n=len(stated),
        n_groups=brier.n_groups,
    )


def _edges(stated: Floats, bins: int, binning: str) -> Floats:
    """Edges of the bins, ascending, from 0 to 1 for bins of equal width."""
    if binning == "equal-width":
        return np.linspace(0.0, 1.0, bins + 1)
    if binning != "equal-mass":
        raise InputError(f"binning must be 'equal-width' or 'equal-mass', got {binning!r}")
    if not len(stated):
        return np.array([0.0, 1.0])
    edges = np.unique(np.quantile(stated, np.linspace(0.0, 1.0, bins + 1)))
    return edges if len(edges) > 1 else np.repeat(edges, 2)
