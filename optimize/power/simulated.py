"""Power by simulation: many comparisons with a known effect, each read as the gate's rule would read it.

The draws are made once and serve every effect, so that power rises smoothly with it. Group sums are whole numbers of
half credits over the replicates; the interval and the sign-flip test are those of `optimize.stats`, vectorised.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import special

from lineage.errors import InputError
from optimize.power.discordance import Discordance
from optimize.power.planned import PlannedRule
from optimize.stats.results import check_count

EXACT_GROUPS = 12
"""Up to so many groups every sign pattern is listed; beyond, a random sample of as many as these have."""
PATTERNS = 2**EXACT_GROUPS
_CHUNK_ELEMENTS = 2**22


class SimulatedComparisons:
    """Simulated paired comparisons of one shape, at any effect from the same draws.

    Pairs of a group take the group's draw with the probability that makes the stated correlation, or one of their own;
    a replicate takes the draws that all replicates share, or draws of its own, a whole group at a time.

    Args:
        discordance: how the arms differ.
        sizes: pairs of each group.
        rule: the plan's rule.
        simulations: comparisons to simulate, at least 100.
        rng: source of all randomness.

    Raises:
        InputError: there is no group, or the rule is one that only the closed form has.
    """

    def __init__(
        self,
        discordance: Discordance,
        sizes: Sequence[int],
        rule: PlannedRule,
        *,
        simulations: int,
        rng: np.random.Generator,
    ) -> None:
        check_count("simulations", simulations, at_least=100)
        if not sizes or min(sizes) < 1:
            raise InputError(f"every group must hold a pair, got sizes {list(sizes)[:5]}")
        self._reading = rule.reads(len(sizes))
        if self._reading == "noise":
            raise InputError("the rule beyond-noise has its power in closed form; it is not simulated")
        self._discordance, self._rule, self.simulations = discordance, rule, simulations
        self._sizes = np.asarray(sizes, dtype=np.float64)
        self._starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
        self._layers = self._drawn(rng, 1 if discordance.noise == 0.0 else rule.replicates)
        self._patterns = _sign_patterns(len(sizes), rng) if self._reading == "sign-flip" else None

    def power(self, effect: float) -> float:
        """Share of the comparisons that the rule passes at an effect, in [0, 1]."""
        return float(self.passes(effect).mean())

    def passes(self, effect: float) -> npt.NDArray[np.bool_]:
        """Which comparisons the rule passes at an effect, shape (simulations,)."""
        sums = self.sums(effect)
        if self._reading == "sign-flip":
            return self._below_alpha(sums) & (
                self._above(sums) if self._rule.name == "lower-bound" and self._rule.margin else True
            )
        if self._reading == "interval":
            return self._above(sums)
        return np.asarray(sums.sum(axis=1) / self._sizes.sum() > self._rule.margin)

    def sums(self, effect: float) -> npt.NDArray[np.float64]:
        """Group sums of the pairs' differences, shape (simulations, n_groups), in units of credit."""
        edges = self._discordance.thresholds(effect)
        halves = [sum((layer >= edge).astype(np.int16) for edge in edges) - np.int16(2) for layer in self._layers]
        summed = np.add.reduceat(np.sum(halves, axis=0), self._starts, axis=1, dtype=np.float64)
        return np.asarray(summed / (2.0 * len(self._layers)))

    def _above(self, sums: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Whether the low end of the linearised interval exceeds the margin, as `linearised_interval` has it."""
        g, n = len(self._sizes), self._sizes.sum()
        if g < 2:
            return np.zeros(len(sums), dtype=bool)
        means = sums.sum(axis=1) / n
        errors = np.sqrt(g / (g - 1) * np.square(sums - means[:, None] * self._sizes).sum(axis=1)) / n
        low = means + float(special.stdtrit(g - 1, self._rule.alpha / 2.0)) * errors
        return np.asarray((low > self._rule.margin) & (errors > 1e-12))

    def _below_alpha(self, sums: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Whether the one-sided p of the sign-flip test is below alpha/2, as `sign_flip_test` has it."""
        assert self._patterns is not None, "patterns are drawn for this reading"
        whole = np.rint(sums * 2.0 * len(self._layers)).astype(np.float32)  # sums of whole numbers compare exactly
        observed = whole.sum(axis=1, keepdims=True)
        exact = len(self._sizes) <= EXACT_GROUPS
        extreme = np.empty(len(whole))
        step = max(1, _CHUNK_ELEMENTS // PATTERNS)
        for start in range(0, len(whole), step):
            flipped = whole[start : start + step] @ self._patterns
            extreme[start : start + step] = (flipped >= observed[start : start + step]).sum(axis=1)
        patterns = self._patterns.shape[1]
        p = extreme / patterns if exact else (extreme + 1.0) / (patterns + 1.0)
        return np.asarray(p < self._rule.alpha / 2.0)

    def _drawn(self, rng: np.random.Generator, replicates: int) -> list[npt.NDArray[np.float32]]:
        """Uniform draws of each replicate, shape (simulations, n)."""
        shared = self._system(rng)
        if replicates == 1:
            return [shared]
        kept = np.sqrt(1.0 - self._discordance.noise)
        layers = []
        for _ in range(replicates):
            of_group = rng.random((self.simulations, len(self._sizes)), dtype=np.float32) < kept
            layers.append(np.where(self._spread(of_group), shared, self._system(rng)))
        return layers

    def _system(self, rng: np.random.Generator) -> npt.NDArray[np.float32]:
        n = int(self._sizes.sum())
        of_group = rng.random((self.simulations, len(self._sizes)), dtype=np.float32)
        own = rng.random((self.simulations, n), dtype=np.float32)
        takes = rng.random((self.simulations, n), dtype=np.float32) < np.sqrt(self._discordance.correlation)
        return np.where(takes, self._spread(of_group), own)

    def _spread(self, of_group: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        return np.repeat(of_group, self._sizes.astype(np.intp), axis=1)


def _sign_patterns(g: int, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """Sign patterns, shape (n_groups, patterns): all of them, or a sample."""
    if g <= EXACT_GROUPS:
        bits = (np.arange(2**g)[None, :] >> np.arange(g)[:, None]) & 1
    else:
        bits = rng.integers(0, 2, size=(g, PATTERNS))
    return np.asarray(bits * 2.0 - 1.0, dtype=np.float32)
