"""One side of the held-out comparison, and the flags that it puts on clean documents."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lineage.errors import InputError
from optimize.choice import number
from optimize.evaluation import Evaluation
from optimize.gate.unscored import Bounds
from optimize.stats import Comparison, Interval, compare_values, wilson
from splits.corpus import Example


@dataclass(frozen=True, slots=True)
class Arm:
    """One side of the held-out comparison: its evaluation and its flag threshold, set on accept (flag if below).

    ``threshold`` is NaN where accept held no scored clean document to set it on.
    """

    evaluation: Evaluation
    threshold: float
    words: int

    @property
    def settings(self) -> frozenset[str]:
        """Hashes of the students that judged it; samples and budget are part of each."""
        return frozenset(judgement.student for judgement in self.evaluation.judgements)


@dataclass(frozen=True, slots=True)
class CleanCounts:
    """Clean documents that were verified to be clean, and clean candidates, which were written and never verified.

    A flag on a clean candidate may be right: what is counted there is a flag rate, and no false-alarm rate.
    """

    verified: int
    candidates: int

    @property
    def rate(self) -> str:
        """What the share of flagged ones is called."""
        if not self.candidates:
            return "false-alarm rate"
        if not self.verified:
            return "flag rate on clean candidates (not verified clean)"
        of = self.verified + self.candidates
        return f"flag rate on clean documents ({self.candidates} of {of} are candidates, not verified clean)"

    @property
    def flags(self) -> str:
        """What a flag on one of them is called, in a few words."""
        if not self.candidates:
            return "false alarms"
        return "flags on clean documents, not all verified" if self.verified else "flags on clean candidates"

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"verified": self.verified, "candidates": self.candidates, "rate": self.rate}


def clean_counts(examples: Iterable[Example]) -> CleanCounts:
    """Verified and candidate clean documents among some examples."""
    clean = [example.candidate for example in examples if example.label == "clean"]
    return CleanCounts(clean.count(False), clean.count(True))


@dataclass(frozen=True, slots=True)
class FlagCount:
    """Clean documents that an arm flags, by a strict majority of its replicates.

    Attributes:
        flagged: of those scored in every replicate.
        of: documents scored in every replicate.
        perhaps: documents that would be flagged if every failed judgement had flagged, of all ``documents``.
        documents: clean documents.
        interval: Wilson interval of ``flagged`` of ``of``.
        highest: Wilson interval of ``perhaps`` of ``documents``.
    """

    flagged: int
    of: int
    perhaps: int
    documents: int
    interval: Interval
    highest: Interval

    @property
    def rate(self) -> float:
        """Share flagged, in [0, 1]; NaN where no document is scored."""
        return self.flagged / self.of if self.of else math.nan

    def __str__(self) -> str:
        if not self.of:
            return "no clean document is scored"
        level, low, high = 100 * self.interval.level, self.interval.low, self.interval.high
        return f"{self.flagged} of {self.of} ({self.rate:.3f}, {level:g}% Wilson interval [{low:.3f}, {high:.3f}])"

    def row(self) -> dict[str, Any]:
        """The JSON form; what is undefined is None."""
        return {
            "flagged": self.flagged,
            "of": self.of,
            "rate": number(self.rate),
            "low": number(self.interval.low),
            "high": number(self.interval.high),
            "level": self.interval.level,
            "method": self.interval.method,
            "unscored": self.documents - self.of,
            "flagged_at_most": self.perhaps,
        }


@dataclass(frozen=True, slots=True)
class _Flag:
    """Whether a document is flagged if its failed judgements did not flag, and if they did."""

    least: bool
    most: bool
    scored: bool


def count_flags(arm: Arm, *, level: float) -> FlagCount:
    """Flags on clean documents at the arm's threshold; ``level`` is of the Wilson intervals.

    Raises:
        InputError: the number of replicates is even, so that a document may have no majority.
    """
    flags = _flags(arm).values()
    scored = [flag for flag in flags if flag.scored]
    flagged, perhaps = sum(flag.most for flag in scored), sum(flag.most for flag in flags)
    return FlagCount(
        flagged,
        len(scored),
        perhaps,
        len(flags),
        wilson(flagged, len(scored), level=level),
        wilson(perhaps, len(flags), level=level),
    )


def compare_flags(candidate: Arm, baseline: Arm, *, level: float, rng: np.random.Generator) -> Comparison:
    """Flags of both arms on the clean documents scored in both, each at its own threshold.

    With replicates, a document is flagged if a strict majority of them flags it.

    Raises:
        InputError: the number of replicates is even.
    """
    ours, theirs = _flags(candidate), _flags(baseline)
    common = sorted(name for name in ours.keys() & theirs.keys() if ours[name].scored and theirs[name].scored)
    group = {example.id: example.group for example in baseline.evaluation.examples}
    return compare_values(
        [float(ours[example].most) for example in common],
        [float(theirs[example].most) for example in common],
        [group[example] for example in common],
        level=level,
        rng=rng,
    )


def flag_bounds(candidate: Arm, baseline: Arm) -> Bounds:
    """Bounds of the difference in flags of every clean document, a judgement that failed having flagged or not."""
    ours, theirs = _flags(candidate), _flags(baseline)
    common = sorted(ours.keys() & theirs.keys())
    group = {example.id: example.group for example in baseline.evaluation.examples}
    return Bounds(
        tuple(float(ours[name].least) - float(theirs[name].most) for name in common),
        tuple(float(ours[name].most) - float(theirs[name].least) for name in common),
        tuple(group[name] for name in common),
    )


def _flags(arm: Arm) -> dict[str, _Flag]:
    replicates = arm.evaluation.replicates
    if replicates and len(replicates) % 2 == 0:
        raise InputError(
            f"replicates must be odd, so that a majority of them flags a document or does not; got {len(replicates)}"
        )
    found = {}
    for example in arm.evaluation.examples:
        if example.label == "clean":
            scores = [arm.evaluation.score(example.id, replicate) for replicate in replicates]
            flagged = sum(score < arm.threshold for score in scores if score is not None)
            failed = scores.count(None)
            found[example.id] = _Flag(2 * flagged > len(scores), 2 * (flagged + failed) > len(scores), not failed)
    return found
