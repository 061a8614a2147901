"""Two arms compared on the same pairs, with failures left out or counted worst-case."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lineage.errors import InputError
from optimize.objectives.pairs import ScoredPair, credits_of, groups_of
from optimize.stats.comparison import Comparison, compare_replicated
from optimize.stats.results import check_count


def compare(
    candidate_pairs: Sequence[ScoredPair],
    baseline_pairs: Sequence[ScoredPair],
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    bootstrap_resamples: int | None = None,
    samples_may_differ: bool = False,
    rng: np.random.Generator,
) -> Comparison:
    """Paired comparison of credit on the pairs scored in both arms.

    Credit is computed within each replicate. A pair's difference is the mean over the replicates scored in both arms,
    so a pair that failed once is compared on its other replicates. `Comparison.n_failed` counts what is scored in one
    arm only; what failed in both arms cannot be seen here, and `worst_case` counts it.

    Args:
        candidate_pairs: scored pairs of the candidate.
        baseline_pairs: scored pairs of the baseline.
        level: in (0, 1), of the two-sided intervals.
        resamples: random sign patterns of the sign-flip test.
        bootstrap_resamples: resamples of the bootstrap intervals; None computes none.
        samples_may_differ: allow scores of unequal numbers of draws, where that inequality is what is compared, such as
            a baseline that is given as many tokens as the candidate used.
        rng: source of all randomness.

    Raises:
        InputError: the arms are not of the same replicates or samples, or a pair occurs twice or in two groups.
    """
    ours, theirs = credits_of(candidate_pairs), credits_of(baseline_pairs)
    our_replicates, their_replicates = sorted({unit[1] for unit in ours}), sorted({unit[1] for unit in theirs})
    if ours and theirs and our_replicates != their_replicates:
        raise InputError(
            f"both arms must be of the same replicates, got {our_replicates} for the candidate and {their_replicates} "
            "for the baseline; score both arms equally often"
        )
    if not samples_may_differ:
        _check_samples(candidate_pairs, baseline_pairs)
    common = ours.keys() & theirs.keys()
    result = compare_replicated(
        {unit: ours[unit] for unit in common},
        {unit: theirs[unit] for unit in common},
        groups_of([*candidate_pairs, *baseline_pairs]),
        level=level,
        resamples=resamples,
        bootstrap_resamples=bootstrap_resamples,
        rng=rng,
    )
    return replace(result, n_failed=len(ours.keys() ^ theirs.keys()))


def worst_case(
    candidate_pairs: Sequence[ScoredPair],
    baseline_pairs: Sequence[ScoredPair],
    *,
    planned: Mapping[str, str],
    replicates: Collection[int] = (0,),
    level: float = 0.95,
    resamples: int = 10_000,
    bootstrap_resamples: int | None = None,
    rng: np.random.Generator,
) -> Comparison:
    """The comparison with every failed pair counted worst-case against the candidate.

    Where the candidate failed its credit is 0; where the baseline failed its credit is 1; a score that exists is
    kept. The result is a bound, not an estimate: the truth may be far above it.

    Args:
        candidate_pairs: scored pairs of the candidate.
        baseline_pairs: scored pairs of the baseline.
        planned: group of every pair that was to be scored, by example id.
        replicates: every replicate that was to be scored.
        level: as in `compare`.
        resamples: as in `compare`.
        bootstrap_resamples: as in `compare`.
        rng: as in `compare`.

    Raises:
        InputError: a pair was not planned, in this group or replicate, or occurs twice, or the arms are not of the
            same samples.
    """
    ours, theirs = credits_of(candidate_pairs), credits_of(baseline_pairs)
    _check_samples(candidate_pairs, baseline_pairs)
    for pair in (*candidate_pairs, *baseline_pairs):
        if planned.get(pair.example) != pair.group or pair.replicate not in replicates:
            raise InputError(
                f"pair {pair.example!r} of group {pair.group!r}, replicate {pair.replicate}, is not planned; "
                "pass every planned pair with its group, and every replicate"
            )
    units = [(example, replicate) for example in planned for replicate in set(replicates)]
    result = compare_replicated(
        {unit: ours.get(unit, 0.0) for unit in units},
        {unit: theirs.get(unit, 1.0) for unit in units},
        planned,
        level=level,
        resamples=resamples,
        bootstrap_resamples=bootstrap_resamples,
        rng=rng,
    )
    n_failed = sum(unit not in ours or unit not in theirs for unit in units)
    return replace(result, n_failed=n_failed, worst_case=True)


def coverage(n_scored: int, n: int) -> float:
    """Share of planned pairs that have a score in every arm, in [0, 1]; below the plan's floor no decision is made.

    High coverage does not make failures harmless: they may all be of the hardest documents.

    Raises:
        InputError: nothing was planned, or more was scored than planned.
    """
    check_count("n", n, at_least=1)
    check_count("n_scored", n_scored)
    if n_scored > n:
        raise InputError(f"n_scored must be at most n, got {n_scored} of {n}")
    return n_scored / n


def _check_samples(candidate_pairs: Sequence[ScoredPair], baseline_pairs: Sequence[ScoredPair]) -> None:
    """Refuse arms whose scores combine different numbers of draws: the mean of more draws has fewer ties."""
    ours, theirs = ({pair.samples for pair in arm} for arm in (candidate_pairs, baseline_pairs))
    if len(ours | theirs) > 1:
        raise InputError(
            f"scores of both arms must combine the same number of samples, got {sorted(ours)} for the candidate and "
            f"{sorted(theirs)} for the baseline; draw both arms equally often"
        )
