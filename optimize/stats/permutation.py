"""The sign-flip test by group.

If the two arms were exchangeable, swapping them within a whole group would only flip the sign of the group's summed
difference. The test compares the observed sum with the sums under all swaps, or under a random sample of them.

References:
    Phipson and Smyth (2010), Permutation P-values Should Never Be Zero, SAGMB 9(1), article 39.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from optimize.stats.grouped import group_sums
from optimize.stats.groups import ROUNDING, Floats, Groups
from optimize.stats.results import NO_PAIRS, Alternative, TestResult, check_alternative, check_count

# 2**16 sign patterns are cheap to list in full; beyond that a sample of them is as good.
EXACT_GROUPS = 16
_CHUNK_ELEMENTS = 2**21


def sign_flip_test(
    values: npt.ArrayLike,
    groups: Groups,
    *,
    alternative: Alternative = "greater",
    resamples: int = 10_000,
    rng: np.random.Generator,
) -> TestResult:
    """Test of exchangeable arms, by flipping the signs of group sums.

    The hypothesis is that the arms are exchangeable within groups, which is stronger than a mean difference of zero.
    With k groups that differ, p cannot be below 2**-k. Where no group differs p is 1: nothing speaks for either arm.

    Args:
        values: shape (n,), candidate less baseline on the same pairs, any unit.
        groups: shape (n,), group labels.
        alternative: ``greater`` tests whether the differences are above zero.
        resamples: random sign patterns beyond 16 groups with a difference; up to 16 every pattern is listed.
        rng: source of all randomness; not read where every pattern is listed.

    Returns:
        The test; its statistic is the sum of the differences.

    Raises:
        InputError: shapes differ, a value is not finite, or an option is outside its range.
    """
    check_alternative(alternative)
    check_count("resamples", resamples, at_least=100)
    totals = group_sums(values, groups)
    if totals.n_groups == 0:
        return TestResult.undefined(
            NO_PAIRS, alternative=alternative, method="sign-flip test by group", n_groups=totals.n_groups
        )
    differing = totals.sums[np.abs(totals.sums) > ROUNDING * totals.scale]
    k = len(differing)
    observed = float(differing.sum())
    noise = ROUNDING * float(np.abs(differing).sum())
    if k <= EXACT_GROUPS:
        patterns = (np.arange(2**k)[:, None] >> np.arange(k)) & 1
        p = _extreme(_signed(patterns) @ differing, observed, alternative, noise) / 2**k
        return TestResult(p, observed, alternative, "exact sign-flip test by group", totals.n_groups)
    extreme = 0
    chunk = max(1, _CHUNK_ELEMENTS // k)
    for start in range(0, resamples, chunk):
        patterns = rng.integers(0, 2, size=(min(chunk, resamples - start), k), dtype=np.int8)
        extreme += _extreme(_signed(patterns) @ differing, observed, alternative, noise)
    # Phipson and Smyth (2010): the observed pattern is one of the patterns.
    p = (extreme + 1) / (resamples + 1)
    return TestResult(p, observed, alternative, "Monte-Carlo sign-flip test by group", totals.n_groups)


def _signed(patterns: npt.NDArray[np.int8] | npt.NDArray[np.int64]) -> Floats:
    """Bits 0 and 1 as signs -1 and 1."""
    return patterns.astype(np.float64) * 2.0 - 1.0


def _extreme(flipped: Floats, observed: float, alternative: Alternative, noise: float) -> int:
    """How many sums are at least as extreme as the observed one; sums within rounding noise are level with it."""
    if alternative == "greater":
        return int(np.count_nonzero(flipped >= observed - noise))
    if alternative == "less":
        return int(np.count_nonzero(flipped <= observed + noise))
    return int(np.count_nonzero(np.abs(flipped) >= abs(observed) - noise))
