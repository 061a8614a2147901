"""How many documents a flag rule flags, with what so many of them can say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from optimize.choice import number
from optimize.score_table import ScoredDocument
from optimize.stats import Estimate, Interval, grouped_mean, wilson


@dataclass(frozen=True, slots=True)
class FlagShare:
    """How many documents a rule flags.

    Attributes:
        flagged: flagged documents.
        n: documents with a score.
        unscored: documents without one, which count neither way.
        interval: Wilson interval, which takes documents as independent.
        grouped: the share with its linearised interval by group.
    """

    flagged: int
    n: int
    unscored: int
    interval: Interval
    grouped: Estimate

    @property
    def rate(self) -> float:
        """Share flagged, in [0, 1]; NaN without documents."""
        return self.flagged / self.n if self.n else math.nan

    def row(self) -> dict[str, Any]:
        """The JSON form; what is undefined is None."""
        by_group = self.grouped.interval
        return {
            "flagged": self.flagged,
            "n": self.n,
            "groups": self.grouped.n_groups,
            "unscored": self.unscored,
            "rate": number(self.rate),
            "wilson": [number(self.interval.low), number(self.interval.high)],
            "by_group": [number(by_group.low), number(by_group.high)],
            "level": self.interval.level,
        }


def flag_share(documents: Sequence[ScoredDocument], threshold: float, *, level: float = 0.95) -> FlagShare:
    """How many of some documents are flagged at a threshold that was fixed beforehand."""
    scored = [document for document in documents if document.score is not None]
    flags = [float(document.score < threshold) for document in scored if document.score is not None]
    flagged = int(sum(flags))
    return FlagShare(
        flagged,
        len(flags),
        len(documents) - len(flags),
        wilson(flagged, len(flags), level=level),
        grouped_mean(flags, [document.group for document in scored], level=level),
    )
