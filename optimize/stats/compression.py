"""Score compression: how few values a judge uses, and how many pairs it therefore leaves level."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from optimize.stats.detection import scores_of
from optimize.stats.groups import Groups
from optimize.stats.influence import ratio_influence
from optimize.stats.results import NO_PAIRS, Estimate, Interval


@dataclass(frozen=True, slots=True)
class ScoreCompression:
    """How far a judge's scores fall together.

    Compression is neither good nor bad by itself: a judge that says only yes or no may be right throughout. It says how
    fine an order the judge can give, and how much of paired discrimination is half credit for ties.

    Attributes:
        n_distinct: different scores used; 0 without scores.
        top_score: the most frequent score, the lowest of equals; NaN without scores.
        top_share: share of scores equal to it, in (0, 1]; NaN without scores.
        entropy: Shannon entropy of the scores in bits, from 0 (one score) to the logarithm of n_distinct; NaN without
            scores. With few scores it underestimates.
        tie_mass: share of pairs that are level, in [0, 1], with its linearised interval.
        ties: pairs, times replicates, that are level.
        n: scores.
        n_pairs: pairs, times replicates.
        n_groups: groups of the pairs.
        reason: why it is undefined; empty where it is defined.
    """

    n_distinct: int
    top_score: float
    top_share: float
    entropy: float
    tie_mass: Estimate
    ties: int
    n: int
    n_pairs: int
    n_groups: int
    reason: str = ""

    @property
    def value(self) -> float:
        """The tie mass."""
        return self.tie_mass.value

    @property
    def interval(self) -> Interval:
        """Interval of the tie mass."""
        return self.tie_mass.interval

    @property
    def method(self) -> str:
        """What the value is."""
        return "share of pairs that are level"

    def __str__(self) -> str:
        if self.reason:
            return f"score compression undefined: {self.reason}"
        ties = (
            f"tie mass undefined: {self.tie_mass.reason}"
            if self.tie_mass.reason
            else f"tie mass {self.tie_mass.value:.3f} ({self.ties} of {self.n_pairs} pairs level), interval "
            f"{self.tie_mass.interval}"
        )
        return (
            f"{self.n_distinct} distinct scores among {self.n}, {self.top_share:.3f} of them {self.top_score:g}, "
            f"entropy {self.entropy:.2f} bits; {ties}"
        )


def score_compression(
    scores: npt.ArrayLike, *, tied: npt.ArrayLike = (), pair_groups: Groups = (), level: float = 0.95
) -> ScoreCompression:
    """Score compression of one judge.

    Args:
        scores: shape (n,), stored scores of all documents in all replicates; equal means equal floats.
        tied: shape (n_pairs,), 1 where a flawed document is level with its twin, else 0.
        pair_groups: shape (n_pairs,), group labels of the pairs.
        level: in (0, 1), of the interval of the tie mass.

    Raises:
        InputError: a score is not finite, or the shapes of ``tied`` and ``pair_groups`` differ.
    """
    values = scores_of("scores", scores)
    level_with = np.asarray(tied, dtype=np.float64)
    mass = ratio_influence(level_with, pair_groups).estimate(level=level)
    ties, n_pairs = int(level_with.sum()), len(level_with)
    if not len(values):
        return ScoreCompression(0, math.nan, math.nan, math.nan, mass, ties, 0, n_pairs, mass.n_groups, NO_PAIRS)
    distinct, counts = np.unique(values, return_counts=True)
    top, shares = int(counts.argmax()), counts / len(values)
    return ScoreCompression(
        n_distinct=len(distinct),
        top_score=float(distinct[top]),
        top_share=float(shares[top]),
        # A sum of -p log p of one certain score is -0.
        entropy=abs(float((shares * np.log2(shares)).sum())),
        tie_mass=mass,
        ties=ties,
        n=len(values),
        n_pairs=n_pairs,
        n_groups=mass.n_groups,
    )
