"""A flag rule: set on clean documents so that few of them are flagged, and read on other sets.

The rule is: flag a document if its score is strictly below the threshold. The threshold is the highest at which the
share of the clean documents of the calibration set that are flagged is within the cap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lineage.errors import InputError
from optimize.choice import number
from optimize.gate import CleanCounts
from optimize.score_table import ScoredDocument, ScoreTable
from optimize.stats import Estimate, Interval, check_level, grouped_mean, wilson

CAP: Final = 0.10
"""Most of the clean documents of the calibration set that may be flagged, unless another share is asked for."""
PRECISE: Final = 0.05
"""Half-width of an interval at the cap that counts as precise, for the number of clean documents it takes."""


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
            found.append(f"{self.clean.unscored} clean documents of {self.on} have no score and were left out")
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


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a rule flags in one set, or at one site of it.

    Attributes:
        on: name of the set.
        site: a site of it; empty for the whole set.
        counts: verified and candidate clean documents.
        clean: flags on clean documents.
        flawed: flags on flawed documents by label; empty where there are none.
        cap: the rule's cap.
    """

    on: str
    site: str
    counts: CleanCounts
    clean: FlagShare
    flawed: Mapping[str, FlagShare]
    cap: float

    @property
    def words(self) -> str:
        """Whether the cap is kept here, as far as so many documents can say."""
        if not self.clean.n:
            return "no clean document: the rate is unknown"
        interval = self.clean.interval
        if interval.low > self.cap:
            return "above the cap"
        if interval.high <= self.cap:
            return "within the cap"
        return "too few to say"

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "on": self.on,
            "site": self.site or None,
            "rate_is": self.counts.rate,
            "clean": self.clean.row(),
            "flawed": {label: share.row() for label, share in self.flawed.items()},
            "words": self.words,
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


def transfers(rule: FlagRule, table: ScoreTable, *, level: float = 0.95) -> tuple[Transfer, ...]:
    """What a rule flags in a set: as a whole, and at each site where there are several.

    Many sites will hold a striking one by chance, and a site with few documents shows little.
    """
    sites = table.sites if len(table.sites) > 1 else ()
    return tuple(_transfer(rule, table, site, level) for site in ("", *sites))


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


def clean_needed(cap: float, *, half_width: float = PRECISE) -> int:
    """Clean documents with which a rate at the cap is known within ``half_width`` either way, at 95%."""
    z = 1.959963984540054
    return math.ceil(z**2 * cap * (1.0 - cap) / half_width**2)


def _transfer(rule: FlagRule, table: ScoreTable, site: str, level: float) -> Transfer:
    here = [document for document in table.documents if not site or document.site == site]

    def share(wanted: Iterable[ScoredDocument]) -> FlagShare:
        return flag_share(list(wanted), rule.threshold, level=level)

    clean = [document for document in here if document.label == "clean"]
    labels = sorted({document.label for document in here} - {"clean"})
    candidates = sum(document.candidate for document in clean)
    return Transfer(
        table.name,
        site,
        CleanCounts(len(clean) - candidates, candidates),
        share(clean),
        {label: share(document for document in here if document.label == label) for label in labels},
        rule.cap,
    )
