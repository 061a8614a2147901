"""Accuracy of answers by type of question: counts and intervals of every type, and never the overall share alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError
from optimize.stats.classical import wilson
from optimize.stats.groups import Groups
from optimize.stats.influence import ratio_influence
from optimize.stats.results import NO_PAIRS, Interval


@dataclass(frozen=True, slots=True)
class TypeAccuracy:
    """Share of right answers to the questions of one type.

    Attributes:
        name: the type.
        value: in [0, 1]; NaN without questions.
        correct: right answers.
        n: questions answered.
        n_groups: groups that they are of.
        interval: linearised, by group; not clipped to [0, 1].
        wilson: Wilson interval, which takes questions as independent and is too narrow where groups share them.
        reason: why the value is undefined; empty where it is defined.
    """

    name: str
    value: float
    correct: int
    n: int
    n_groups: int
    interval: Interval
    wilson: Interval
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"{self.name} undefined: {self.reason}"
        return (
            f"{self.name} {self.value:.3f} ({self.correct} of {self.n} in {self.n_groups} groups), interval "
            f"{self.interval}, {self.wilson.low:.3f} to {self.wilson.high:.3f} by Wilson"
        )


@dataclass(frozen=True, slots=True)
class AccuracyByType:
    """Accuracy of each type of question, and over all of them.

    The overall share is that of this mix of types: another mix has another one, and a judge that answers the commonest
    type well and fails the others reads well. `least` names the type to look at.

    Attributes:
        overall: all questions, types weighted by how many questions they have.
        types: one entry a type, sorted by name.
    """

    overall: TypeAccuracy
    types: tuple[TypeAccuracy, ...]

    @property
    def method(self) -> str:
        """How the shares and their intervals are computed."""
        return "share of right answers, intervals linearised by group and Wilson's"

    @property
    def least(self) -> TypeAccuracy:
        """The type with the lowest share; the overall entry where there is no type."""
        return min(self.types, key=lambda entry: entry.value, default=self.overall)

    def rows(self) -> list[tuple[str, ...]]:
        """One row a type and the overall one last: name, right, questions, groups, share, interval, Wilson interval."""
        return [
            (
                entry.name,
                str(entry.correct),
                str(entry.n),
                str(entry.n_groups),
                "undefined" if entry.reason else f"{entry.value:.3f}",
                entry.interval.reason or f"{entry.interval.low:.3f} to {entry.interval.high:.3f}",
                entry.wilson.reason or f"{entry.wilson.low:.3f} to {entry.wilson.high:.3f}",
            )
            for entry in (*self.types, self.overall)
        ]

    def __str__(self) -> str:
        return "; ".join(["accuracy by question type: " + str(self.overall), *(str(entry) for entry in self.types)])


def accuracy_by_type(
    correct: npt.ArrayLike, types: Sequence[str] | npt.NDArray[Any], groups: Groups, *, level: float = 0.95
) -> AccuracyByType:
    """Accuracy by type of question.

    Args:
        correct: shape (n,), 1 or 0 (or booleans); leave unanswered questions out, counted.
        types: shape (n,), the type of each question.
        groups: shape (n,), group labels.
        level: in (0, 1), of the intervals.

    Raises:
        InputError: shapes differ, an answer is neither right nor wrong, or the level is outside (0, 1).
    """
    right, kinds, labels = np.asarray(correct, dtype=np.float64), np.asarray(types), np.asarray(groups)
    if right.ndim != 1 or kinds.shape != right.shape or labels.shape != right.shape:
        raise InputError(
            f"correct, types and groups must be of one shape (n,), got {right.shape}, {kinds.shape} and {labels.shape}"
        )
    if not np.isin(right, (0.0, 1.0)).all():
        raise InputError("correct must be 0 or 1; leave unanswered questions out and count them beside the result")
    return AccuracyByType(
        _accuracy("all types", right, labels, level),
        tuple(_accuracy(str(kind), right[kinds == kind], labels[kinds == kind], level) for kind in np.unique(kinds)),
    )


def _accuracy(name: str, right: npt.NDArray[np.float64], groups: npt.NDArray[Any], level: float) -> TypeAccuracy:
    share = ratio_influence(right, groups)
    k = int(right.sum())
    return TypeAccuracy(
        name,
        share.value,
        k,
        len(right),
        share.n_groups,
        share.interval(level=level),
        wilson(k, len(right), level=level),
        NO_PAIRS if math.isnan(share.value) else "",
    )
