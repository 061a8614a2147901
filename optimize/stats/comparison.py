"""The paired comparison of two arms on one per-pair quantity: estimate, intervals and tests in one result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError
from optimize.stats.bootstrap import bootstrap_both
from optimize.stats.grouped import grouped_mean, one_sided_p
from optimize.stats.groups import Groups
from optimize.stats.permutation import sign_flip_test
from optimize.stats.results import Estimate, Interval, TestResult


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidate less baseline on the same pairs.

    On the accept split, the numbers of a chosen winner are optimistic: the choice looked at the same pairs, and no
    interval or p value here knows how many candidates were searched. An interval that holds 0 does not show that the
    arms are equal; its ends say which differences are excluded.

    Attributes:
        difference: mean over pairs of candidate less baseline, with the linearised interval.
        candidate: mean of the candidate over these pairs; NaN without pairs.
        baseline: mean of the baseline over these pairs; NaN without pairs.
        wins: pairs on which the candidate is above the baseline.
        ties: pairs on which both are level.
        losses: pairs on which the candidate is below the baseline.
        sign_flip: one-sided sign-flip test by group, alternative "candidate is better".
        t_test: one-sided test with the t of the linearised interval.
        bootstrap: percentile bootstrap interval by group; None where it was not asked for.
        bca: BCa bootstrap interval from the same resamples; None where it was not asked for.
        n: pairs compared.
        n_groups: groups among them.
        n_failed: pairs, times replicates, that lack a score in an arm.
        worst_case: True if the failed ones are counted worst-case against the candidate, False if they are left out.
    """

    difference: Estimate
    candidate: float
    baseline: float
    wins: int
    ties: int
    losses: int
    sign_flip: TestResult
    t_test: TestResult
    bootstrap: Interval | None
    n: int
    n_groups: int
    n_failed: int = 0
    worst_case: bool = False
    bca: Interval | None = None

    def __str__(self) -> str:
        failed = f"{self.n_failed} failed, {'counted against the candidate' if self.worst_case else 'left out'}"
        if self.difference.reason:
            return f"difference undefined: {self.difference.reason}; {failed}"
        return (
            f"difference {self.difference.value:+z.4f} (candidate {self.candidate:.4f}, baseline {self.baseline:.4f}), "
            f"interval {self.difference.interval}: {self.wins} wins, {self.ties} ties, {self.losses} losses over "
            f"{self.n} pairs in {self.n_groups} groups; {self.sign_flip}; {failed}"
        )


def compare_values(
    candidate: npt.ArrayLike,
    baseline: npt.ArrayLike,
    groups: Groups,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    bootstrap_resamples: int | None = None,
    rng: np.random.Generator,
) -> Comparison:
    """Compare two arms on one quantity per pair, such as credit or a 0/1 flag.

    Args:
        candidate: shape (n,), any unit, higher is better.
        baseline: shape (n,), the same pairs in the same order.
        groups: shape (n,), group labels.
        level: in (0, 1), of the two-sided intervals.
        resamples: random sign patterns of the sign-flip test.
        bootstrap_resamples: resamples of the bootstrap intervals; None computes none.
        rng: source of all randomness; the sign-flip test draws first.

    Raises:
        InputError: shapes differ, a value is not finite, or an option is outside its range.
    """
    ours, theirs = np.asarray(candidate, dtype=np.float64), np.asarray(baseline, dtype=np.float64)
    if ours.shape != theirs.shape:
        raise InputError(f"candidate and baseline must be the same pairs, got shapes {ours.shape} and {theirs.shape}")
    values = ours - theirs
    difference = grouped_mean(values, groups, level=level)
    sign_flip = sign_flip_test(values, groups, resamples=resamples, rng=rng)
    both = None
    if bootstrap_resamples is not None:
        both = bootstrap_both(values, groups, level=level, resamples=bootstrap_resamples, rng=rng)
    return Comparison(
        difference=difference,
        candidate=grouped_mean(ours, groups, level=level).value,
        baseline=grouped_mean(theirs, groups, level=level).value,
        wins=int(np.count_nonzero(ours > theirs)),
        ties=int(np.count_nonzero(ours == theirs)),
        losses=int(np.count_nonzero(ours < theirs)),
        sign_flip=sign_flip,
        t_test=one_sided_p(values, groups),
        bootstrap=both.percentile if both else None,
        n=difference.n,
        n_groups=difference.n_groups,
        bca=both.bca if both else None,
    )


def compare_replicated(
    candidate: Mapping[tuple[str, int], float],
    baseline: Mapping[tuple[str, int], float],
    group_of: Mapping[str, str],
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    bootstrap_resamples: int | None = None,
    rng: np.random.Generator,
) -> Comparison:
    """Compare two arms whose pairs were measured in replicates, each pair by the mean over its replicates.

    Args:
        candidate: value by pair id and replicate, any unit, higher is better.
        baseline: the same keys.
        group_of: group by pair id.
        level: as in `compare_values`.
        resamples: as in `compare_values`.
        bootstrap_resamples: as in `compare_values`.
        rng: as in `compare_values`.

    Raises:
        InputError: the arms differ in their pairs or replicates, or an option is outside its range.
    """
    if candidate.keys() != baseline.keys():
        raise InputError(
            f"both arms must hold the same pairs and replicates, {len(candidate.keys() ^ baseline.keys())} are in one "
            "only; leave them out or count them, in both arms"
        )
    # Sorted, so that the same pairs in another order give the same bytes.
    totals: dict[str, tuple[float, float, int]] = {}
    for unit in sorted(candidate):
        ours, theirs, count = totals.get(unit[0], (0.0, 0.0, 0))
        totals[unit[0]] = (ours + candidate[unit], theirs + baseline[unit], count + 1)
    return compare_values(
        [ours / count for ours, _, count in totals.values()],
        [theirs / count for _, theirs, count in totals.values()],
        [group_of[pair] for pair in totals],
        level=level,
        resamples=resamples,
        bootstrap_resamples=bootstrap_resamples,
        rng=rng,
    )
