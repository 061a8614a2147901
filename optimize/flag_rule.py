"""A flag rule, set on clean documents so that few of them are flagged.

The rule is: flag a document if its score is strictly below the threshold. The threshold is the highest at which the
share of the clean documents of the calibration set that are flagged is within the cap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lineage.errors import InputError
from optimize.flag_share import FlagShare, flag_share
from optimize.gate import CleanCounts
from optimize.score_table import ScoreTable
from optimize.stats import check_level

CAP: Final = 0.10
"""Most of the clean documents of the calibration set that may be flagged, unless another share is asked for."""
PRECISE: Final = 0.05
"""Half-width of an interval at the cap that counts as precise, for the number of clean documents it takes."""


@dataclass(frozen=True, slots=True)
class FlagRule:
    """A threshold with the set that it was set on.

    The rate on that set is within the cap by construction, and says little of other documents: the true rate lies
    anywhere in the interval, and a set of another kind may have any rate.

    Attributes:
        threshold: flag if score < threshold, on the scale of the scores.
        cap: share of clean documents that may be flagged, in [0, 1).
        allowed: most of these clean documents that the cap allows.
        on: name of the calibration set.
        clean: what of its clean documents the rule flags.
        counts: how many of them are verified, and how many candidates.
        constructed: whether they are twins of flawed documents that were made from them.
    """

    threshold: float
    cap: float
    allowed: int
    on: str
    clean: FlagShare
    counts: CleanCounts
    constructed: bool

    @property
    def words(self) -> str:
        """In one sentence."""
        low, high = self.clean.interval.low, self.clean.interval.high
        return (
            f"flag a document if its score is below {self.threshold:g}: the {self.counts.rate} on {self.on} is "
            f"{self.clean.flagged} of {self.clean.n} ({self.clean.rate:.1%}, Wilson {low:.1%} to {high:.1%})"
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the rule cannot promise."""
        found, n = [], self.clean.n
        enough = clean_needed(self.cap)
        if n < enough:
            allowed = "no flag at all" if self.allowed == 0 else f"{self.allowed} of {n}"
            found.append(
                f"{self.on} has {n} clean documents: its rate moves in steps of {100 / n:.1f} points, and a cap of "
                f"{self.cap:.2f} allows {allowed}; for {100 * PRECISE:.0f} points either way it takes about {enough}"
            )
        if self.clean.unscored:
            found.append(f"clean documents of {self.on} without a score, left out: {self.clean.unscored}")
        if self.counts.candidates:
            found.append(
                f"{self.counts.candidates} clean documents of {self.on} are candidates, not verified clean: a flag on "
                "one may be right, and what is held to the cap is a flag rate on clean candidates"
            )
        if self.constructed:
            found.append(
                f"the clean documents of {self.on} are twins from which flawed ones were constructed: a rule set on "
                "them does not carry over to notes of other authors, length or form; re-establish it on a deployment's "
                "own clean notes with --deployment"
            )
        return tuple(found)

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "rule": "flag a document if its score is strictly below the threshold",
            "threshold": self.threshold,
            "cap": self.cap,
            "allowed": self.allowed,
            "set_on": self.on,
            "rate_is": self.counts.rate,
            "clean": self.clean.row(),
            "constructed_twins": self.constructed,
        }


def set_flag_rule(table: ScoreTable, *, cap: float = CAP, level: float = 0.95) -> FlagRule:
    """The highest threshold that flags no more than ``cap`` of the set's clean documents.

    Args:
        table: a set with at least one scored clean document.
        cap: in [0, 1).
        level: in (0, 1), of the intervals.

    Raises:
        InputError: the cap is outside its range, or no clean document has a score.
    """
    check_level(level)
    if not 0.0 <= cap < 1.0:
        raise InputError(f"cap must be in [0, 1), got {cap:g}; use 0.10 for one flag in ten clean documents")
    clean = [document for document in table.documents if document.label == "clean"]
    scores = np.sort([document.score for document in clean if document.score is not None])
    if not len(scores):
        raise InputError(f"{table.name}: no clean document has a score, so no threshold can be held to a rate")
    # Compared as rates, as the sweep does: 0.1 of 10 is 1 whatever 0.1 is in binary.
    allowed = int(np.count_nonzero(np.arange(1, len(scores) + 1) / len(scores) <= cap))
    # Flags are strict: below the score of rank `allowed` lie no more than so many, below any higher one lie more.
    threshold = float(scores[allowed])
    share = flag_share(clean, threshold, level=level)
    return FlagRule(threshold, cap, allowed, table.name, share, table.clean_counts, table.constructed)


def clean_needed(cap: float, *, half_width: float = PRECISE) -> int:
    """Clean documents with which a rate at the cap is known within ``half_width`` either way, at 95%."""
    z = 1.959963984540054
    return math.ceil(z**2 * cap * (1.0 - cap) / half_width**2)
