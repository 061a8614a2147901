"""Measures over judged pairs: paired discrimination, detection at a false-alarm cap, paired comparison, reward.

A pair is a flawed document and its clean twin under one judge, in one replicate. Scores are the stored, rounded ones,
and higher is a better document everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lineage.errors import InputError
from optimize.stats.comparison import Comparison, compare_replicated
from optimize.stats.credit import paired_credit, reward
from optimize.stats.detection import DetectionAtFa, FlagRates, detection_at_fa, flag_rates
from optimize.stats.grouped import grouped_mean
from optimize.stats.results import Interval, check_count

__all__ = [
    "Comparison",
    "DetectionAtFa",
    "FlagRates",
    "PairedDiscrimination",
    "ScoredPair",
    "by",
    "compare",
    "coverage",
    "detection_at_fa",
    "flag_rates",
    "paired_credit",
    "paired_discrimination",
    "reward",
    "worst_case",
]

Breakdown = Literal["label", "kind", "trace", "severity", "stratum"]


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A flawed example and its twin, both scored by one candidate in one replicate.

    Attributes:
        example: id of the flawed example.
        group: the consultation.
        score: score of the flawed document, in [0, 1] or on the student's scale; higher is a better document.
        twin_score: score of its clean twin, on the same scale.
        label: ``omission`` or ``commission``.
        kind: such as ``add`` or ``change``.
        trace: how much of an omitted fact survives; None if unknown.
        severity: of the flaw; None if unknown.
        stratum: of the group; None if there are no strata.
        replicate: which repetition of the whole evaluation, from 0.

    Raises:
        InputError: a score is not finite (a failed judgement has no pair; it is counted), or the label is another.
    """

    example: str
    group: str
    score: float
    twin_score: float
    label: str
    kind: str
    trace: str | None = None
    severity: str | None = None
    stratum: str | None = None
    replicate: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.score) and math.isfinite(self.twin_score)):
            raise InputError(
                f"scores of {self.example!r} must be finite, got {self.score} and {self.twin_score}; "
                "leave a failed pair out and count it in n_failed"
            )
        if self.label not in ("omission", "commission"):
            raise InputError(f"label of {self.example!r} must be 'omission' or 'commission', got {self.label!r}")

    @property
    def credit(self) -> float:
        """1, 0.5 or 0; see `paired_credit`."""
        return paired_credit(self.score, self.twin_score)


@dataclass(frozen=True, slots=True)
class PairedDiscrimination:
    """Share of flawed documents scored strictly below their own twin, ties counting half; 0.5 is a coin flip.

    It says how often a judge orders a document and its twin rightly, not whether it would flag either: a judge may
    order all pairs and flag none. The value of a candidate chosen by it, on the pairs it was chosen on, is
    optimistic.

    Attributes:
        value: in [0, 1]; NaN without pairs.
        interval: linearised, by group; not clipped to [0, 1].
        wins: judged pairs, times replicates, with the flawed document below its twin.
        ties: level with its twin.
        losses: above its twin.
        n: pairs; a pair of several replicates is one.
        n_groups: groups.
        n_failed: pairs without a score, left out of the value.
        reason: why the value is undefined; empty where it is defined.
    """

    value: float
    interval: Interval
    wins: int
    ties: int
    losses: int
    n: int
    n_groups: int
    n_failed: int
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"paired discrimination undefined: {self.reason}; {self.n_failed} failed"
        return (
            f"paired discrimination {self.value:.4f}, interval {self.interval}: {self.wins} wins, {self.ties} ties, "
            f"{self.losses} losses over {self.n} pairs in {self.n_groups} groups; {self.n_failed} failed"
        )


def paired_discrimination(
    pairs: Sequence[ScoredPair], *, level: float = 0.95, n_failed: int = 0
) -> PairedDiscrimination:
    """Paired discrimination: credit within each replicate, averaged per pair, then over pairs.

    Args:
        pairs: scored pairs of one candidate.
        level: in (0, 1), of the interval.
        n_failed: planned pairs that have no score, shown beside the value.

    Raises:
        InputError: a pair occurs twice in one replicate or in two groups, or the level is outside (0, 1).
    """
    check_count("n_failed", n_failed)
    units, group_of = _credits(pairs), _group_of(pairs)
    per_pair: dict[str, list[float]] = {}
    for (example, _), credit in sorted(units.items()):
        per_pair.setdefault(example, []).append(credit)
    judged = list(units.values())
    means = [sum(parts) / len(parts) for parts in per_pair.values()]
    estimate = grouped_mean(means, [group_of[example] for example in per_pair], level=level)
    return PairedDiscrimination(
        estimate.value,
        estimate.interval,
        judged.count(1.0),
        judged.count(0.5),
        judged.count(0.0),
        estimate.n,
        estimate.n_groups,
        n_failed,
        estimate.reason,
    )


def by(pairs: Sequence[ScoredPair], key: Breakdown) -> dict[str, tuple[ScoredPair, ...]]:
    """Pairs by one of their attributes, keys sorted; an unknown value has the key ``unknown`` and is reported apart.

    Sub-groups are tested only after the overall gate passes. Many breakdowns of one result will hold a striking one
    by chance.

    Raises:
        InputError: the key is no attribute to break down by.
    """
    if key not in ("label", "kind", "trace", "severity", "stratum"):
        raise InputError(f"key must be label, kind, trace, severity or stratum, got {key!r}")
    parts: dict[str, list[ScoredPair]] = {}
    for pair in pairs:
        value: str | None = getattr(pair, key)
        parts.setdefault("unknown" if value is None else value, []).append(pair)
    return {name: tuple(parts[name]) for name in sorted(parts)}


def compare(
    candidate_pairs: Sequence[ScoredPair],
    baseline_pairs: Sequence[ScoredPair],
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    bootstrap_resamples: int | None = None,
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
        bootstrap_resamples: resamples of the bootstrap interval; None computes none.
        rng: source of all randomness.

    Raises:
        InputError: the arms are not of the same replicates, or a pair occurs twice or in two groups.
    """
    ours, theirs = _credits(candidate_pairs), _credits(baseline_pairs)
    our_replicates, their_replicates = sorted({unit[1] for unit in ours}), sorted({unit[1] for unit in theirs})
    if ours and theirs and our_replicates != their_replicates:
        raise InputError(
            f"both arms must be of the same replicates, got {our_replicates} for the candidate and {their_replicates} "
            "for the baseline; score both arms equally often"
        )
    common = ours.keys() & theirs.keys()
    result = compare_replicated(
        {unit: ours[unit] for unit in common},
        {unit: theirs[unit] for unit in common},
        _group_of([*candidate_pairs, *baseline_pairs]),
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
        InputError: a pair was not planned, in this group or replicate, or occurs twice.
    """
    ours, theirs = _credits(candidate_pairs), _credits(baseline_pairs)
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


def _credits(pairs: Sequence[ScoredPair]) -> dict[tuple[str, int], float]:
    """Credit by example and replicate of one arm."""
    units: dict[tuple[str, int], float] = {}
    for pair in pairs:
        unit = (pair.example, pair.replicate)
        if unit in units:
            raise InputError(f"pair {pair.example!r} occurs twice in replicate {pair.replicate}; number the replicates")
        units[unit] = pair.credit
    return units


def _group_of(pairs: Sequence[ScoredPair]) -> dict[str, str]:
    """Group by example id."""
    groups: dict[str, str] = {}
    for pair in pairs:
        if groups.setdefault(pair.example, pair.group) != pair.group:
            raise InputError(
                f"pair {pair.example!r} is in groups {groups[pair.example]!r} and {pair.group!r}; a pair has one"
            )
    return groups
