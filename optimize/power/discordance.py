"""How two prompts differ pair by pair: what a power calculation takes instead of the comparison it does not have yet.

The difference of a pair's credit between two arms is -1, -0.5, 0, 0.5 or 1. Its distribution is fixed by how many pairs
differ at all, how many of those swap fully (below the twin in one arm, above it in the other), and the effect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError

CORRELATION: Final = 0.5
"""Default correlation within a group: that of two differences which share the twin, all notes being equally noisy."""


@dataclass(frozen=True, slots=True)
class Discordance:
    """How far two arms differ on the same pairs, in one replicate.

    It describes a comparison of two prompts; the next two prompts may differ more or less.

    Args:
        share: share of pairs whose credit differs between the arms, in (0, 1].
        swaps: share of those that swap fully, which is a difference of 1 instead of 0.5, in [0, 1].
        correlation: of the differences of two pairs of one group, in [0, 1].
        noise: share of the variance of a difference that is drawn anew in each replicate, in [0, 1]; replicates reduce
            that share alone.
        source: where it is from, in words.

    Raises:
        InputError: a share is outside its range.
    """

    share: float
    swaps: float
    correlation: float = CORRELATION
    noise: float = 0.0
    source: str = "stated"

    def __post_init__(self) -> None:
        if not 0.0 < self.share <= 1.0:
            raise InputError(
                f"the share of pairs that differ must be in (0, 1], got {self.share:g}; where no pair differs there is "
                "no variance to plan with"
            )
        for name in ("swaps", "correlation", "noise"):
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                raise InputError(f"{name} must be in [0, 1], got {value:g}")

    @property
    def reach(self) -> float:
        """The effect at which every pair is won: no larger one fits this share of full swaps."""
        return (1.0 + self.swaps) / 2.0

    @property
    def words(self) -> str:
        """In one line."""
        noise = f", {self.noise:.0%} of the variance noise of judging" if self.noise else ""
        return (
            f"{self.share:.1%} of pairs differ, {self.swaps:.0%} of them by a full swap, correlation "
            f"{self.correlation:.2f} within a group{noise} ({self.source})"
        )

    def thresholds(self, effect: float) -> npt.NDArray[np.float64]:
        """Cumulative probabilities of the differences -1, -0.5, 0 and 0.5, shape (4,).

        Losses become wins, and more pairs differ, so that the variance stays what it is without an effect, up to where
        every pair that differs is won.

        Args:
            effect: mean difference, in [-reach, reach].
        """
        lead = 2.0 * effect / (1.0 + self.swaps)
        share = self._share(effect)
        wins, losses = (share + lead) / 2.0, (share - lead) / 2.0
        return np.array([losses * self.swaps, losses, 1.0 - wins, 1.0 - wins * self.swaps])

    def variance(self, effect: float) -> float:
        """Variance of one pair's difference in one replicate, in squared units of credit."""
        return max(self._share(effect) * self._square - effect**2, 0.0)

    @property
    def _square(self) -> float:
        """Mean square of a difference that is not 0."""
        return 0.25 + 0.75 * self.swaps

    def _share(self, effect: float) -> float:
        """Share of pairs that differ at an effect."""
        lead = abs(2.0 * effect / (1.0 + self.swaps))
        return min(max(self.share + effect**2 / self._square, lead), 1.0)

    def replicated(self, replicates: int) -> float:
        """Factor on the variance of a pair's mean difference over so many replicates, in (0, 1]."""
        return 1.0 - self.noise * (1.0 - 1.0 / replicates)

    def row(self) -> dict[str, float | str]:
        """The JSON form."""
        return {
            "share": self.share,
            "swaps": self.swaps,
            "correlation": self.correlation,
            "noise": self.noise,
            "source": self.source,
        }


def stated_discordance(
    wins: float,
    losses: float,
    *,
    correlation: float = CORRELATION,
    swaps: float | None = None,
    noise: float = 0.0,
    source: str = "stated",
) -> Discordance:
    """A discordance from shares of pairs won and lost.

    Only their sum counts: the lead of one arm is the effect, which is not assumed. Where the share of full swaps is not
    stated it is the square of the share that differs: with a correlation of 0.5 that gives the widths of the three
    paired intervals of the published OmissionBench campaign (16, 23 and 58% differ) within 4%.

    Args:
        wins: share of pairs on which the one arm is above the other, in [0, 1].
        losses: share on which it is below, in [0, 1].
        correlation: as in `Discordance`.
        swaps: as in `Discordance`; None takes the square of the share that differs.
        noise: as in `Discordance`.
        source: as in `Discordance`.

    Raises:
        InputError: a share is outside its range, or together they exceed 1.
    """
    for name, value in (("wins", wins), ("losses", losses)):
        if not (math.isfinite(value) and 0.0 <= value <= 1.0):
            raise InputError(f"the share of {name} must be in [0, 1], got {value:g}; give 8/131 or 0.061")
    if wins + losses > 1.0:
        raise InputError(f"the shares of wins and losses exceed 1 together, got {wins:g} and {losses:g}")
    share = wins + losses
    return Discordance(share, share**2 if swaps is None else swaps, correlation, noise, source)


PER_FACT_LIKE: Final = stated_discordance(
    8 / 131, 13 / 131, source="like the per-fact checker of the published campaign"
)
WHOLE_NOTE_LIKE: Final = stated_discordance(
    40 / 131, 36 / 131, source="like the whole-note judge of the published campaign"
)
PLAUSIBLE: Final = (PER_FACT_LIKE, WHOLE_NOTE_LIKE)
"""The span that stands in for a pilot: from a judge that rarely changes its mind to one that often does."""
