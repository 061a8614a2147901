"""Paired discrimination: the share of flawed documents that a judge scores below their own twins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from optimize.objectives.pairs import ScoredPair, credits_of, groups_of
from optimize.stats.grouped import grouped_mean
from optimize.stats.results import Interval, check_count

METHOD: Final = "credit within each replicate, averaged per pair, ties half"


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

    @property
    def method(self) -> str:
        """How the value is computed."""
        return METHOD

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
    units, group_of = credits_of(pairs), groups_of(pairs)
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
