"""The gate's rules on many simulated held-out comparisons at once.

The rules are the objects of `optimize.gate`; what is here reads them for whole arrays, and decides as they would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from optimize.gate import SMALL, LowerBound, Permutation, Point
from optimize.stats.grouped import linearised_errors
from optimize.stats.influence import t_quantile
from optimize.stats.permutation import EXACT_GROUPS

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

RESAMPLES: Final = 10_000
"""Sign patterns of the gate's sign-flip test beyond `EXACT_GROUPS` groups that differ."""


@dataclass(frozen=True, slots=True)
class OwnNoise:
    """The rule `optimize.gate.BeyondNoise` with the noise floor of each campaign's own baseline.

    Args:
        multiple: standard deviations of the difference between two replicates.
    """

    multiple: float = 2.0
    name: Literal["beyond-noise"] = "beyond-noise"


SimulatedRule = LowerBound | Permutation | Point | OwnNoise
"""A rule of the gate that can be read for arrays."""


@dataclass(frozen=True, slots=True)
class SimulatedDifferences:
    """Candidate less baseline on the pairs of many campaigns, one a row.

    Attributes:
        sums: shape (campaigns, groups), summed differences of credit.
        sizes: shape (campaigns, groups), pairs.
        unit: every sum is a whole multiple of it.
    """

    sums: Floats
    sizes: Floats
    unit: float

    @property
    def values(self) -> Floats:
        """Mean over pairs of candidate less baseline, shape (campaigns,); arms that are level differ by exactly 0."""
        return np.asarray(self.steps.sum(axis=1) * self.unit / self.sizes.sum(axis=1))

    @property
    def steps(self) -> npt.NDArray[np.int64]:
        """The sums in units, shape (campaigns, groups)."""
        return np.rint(self.sums / self.unit).astype(np.int64)


@dataclass(frozen=True, slots=True)
class SimulatedIntervals:
    """Ends of intervals, shape (campaigns,) each; NaN where undefined."""

    low: Floats
    high: Floats


def linearised(seen: SimulatedDifferences, *, level: float) -> SimulatedIntervals:
    """The intervals of `optimize.stats.linearised_interval`."""
    means = seen.values
    reach = t_quantile(level, seen.sums.shape[1]) * linearised_errors(seen.sums, seen.sizes, means)
    return SimulatedIntervals(means - reach, means + reach)


def sign_flip_p(seen: SimulatedDifferences, *, rng: np.random.Generator) -> Floats:
    """The one-sided p of `optimize.stats.sign_flip_test`, shape (campaigns,).

    Where the test lists every pattern the p is the same. Where it draws patterns, the number of extreme ones among them
    is binomial at the exact p, so that number is drawn instead: the p has the same law.
    """
    steps = seen.steps
    exact = _exact_p(steps)
    drawn = (rng.binomial(RESAMPLES, exact) + 1) / (RESAMPLES + 1)
    return np.where(np.count_nonzero(steps, axis=1) <= EXACT_GROUPS, exact, drawn)


def holds(
    rule: SimulatedRule, seen: SimulatedDifferences, *, alpha: float, noise: Floats, rng: np.random.Generator
) -> Bools:
    """Where the rule is met, shape (campaigns,). What is undefined is NaN, exceeds nothing, and passes no rule.

    Args:
        rule: of the gate.
        seen: held-out differences.
        alpha: two-sided error rate.
        noise: SD of the difference between two replicates of the baseline, shape (campaigns,).
        rng: source of randomness of the sign-flip test.
    """
    if isinstance(rule, Point):
        return np.asarray(seen.values > rule.margin)
    if isinstance(rule, Permutation):
        return np.asarray(sign_flip_p(seen, rng=rng) < alpha / 2)
    if isinstance(rule, OwnNoise):
        return np.asarray((noise > 0.0) & (seen.values > rule.multiple * noise))
    above = linearised(seen, level=1 - alpha).low > rule.margin
    if seen.sums.shape[1] >= SMALL:
        return np.asarray(above)
    extreme = sign_flip_p(seen, rng=rng) < alpha / 2
    return np.asarray(extreme if rule.margin == 0.0 else extreme & above)


def _exact_p(steps: npt.NDArray[np.int64]) -> Floats:
    """Share of all sign patterns whose sum reaches the observed one, by the transform of the sum's distribution.

    The sum of independent +-d has the characteristic function prod(cos(d t)); on a circle longer than its range, the
    inverse transform gives the probability of every sum.
    """
    sizes = np.abs(steps)
    reach = int(sizes.sum(axis=1).max())
    length = 1 << (2 * reach + 1).bit_length()
    angles = 2.0 * np.pi * np.arange(length) / length
    transform = np.ones((len(steps), length))
    for size in range(1, int(sizes.max(initial=0)) + 1):
        transform *= np.cos(size * angles) ** np.count_nonzero(sizes == size, axis=1)[:, None]
    shares = np.fft.ifft(transform, axis=1).real
    # Sums from -reach to reach, in order; those of at least the observed one are counted.
    ordered = np.concatenate([shares[:, length - reach :], shares[:, : reach + 1]], axis=1)
    tails = ordered[:, ::-1].cumsum(axis=1)[:, ::-1]
    observed = steps.sum(axis=1) + reach
    return np.asarray(np.clip(tails[np.arange(len(steps)), observed], 0.0, 1.0))
