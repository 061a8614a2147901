"""Differences in sub-groups: by trace, severity and kind, tested only after the overall gate has passed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from optimize.evaluation import Evaluation
from optimize.objectives import Comparison, ScoredPair, by, compare
from optimize.stats import holm

Field = Literal["trace", "severity", "kind"]
NOT_TESTED: Final = "not tested, as the overall gate must pass first"


@dataclass(frozen=True, slots=True)
class Subgroup:
    """The comparison in one sub-group.

    ``p`` is the one-sided p of the sign-flip test and ``adjusted`` the same after Holm over all sub-groups that were
    tested. A sub-group without a small p is not shown to be without a gain; most are small.
    """

    field: Field
    value: str
    comparison: Comparison
    p: float
    adjusted: float


@dataclass(frozen=True, slots=True)
class Subgroups:
    """Every sub-group that was tested; intervals are simultaneous, each of level 1 - alpha / number of them."""

    rows: tuple[Subgroup, ...]
    alpha: float
    level: float


def compare_subgroups(
    candidate: Evaluation, baseline: Evaluation, *, alpha: float, rng: np.random.Generator
) -> Subgroups:
    """Omissions by trace and severity, and all flawed documents by kind.

    A breakdown into one part is no breakdown and is left out, as are the omissions as a kind: they are the overall
    comparison. Unknown traces and severities stand apart as ``unknown``.

    Args:
        candidate: on held-out data.
        baseline: on the same.
        alpha: two-sided error rate that all of them share.
        rng: source of all randomness.
    """
    parts = list(_parts(candidate, baseline))
    if not parts:
        return Subgroups((), alpha, 1 - alpha)
    level = 1 - alpha / len(parts)
    found = [(field, value, compare(*arms, level=level, rng=rng)) for field, value, arms in parts]
    # An undefined test counts as 1: leaving it out would shrink the family.
    p = [1.0 if math.isnan(comparison.sign_flip.p) else comparison.sign_flip.p for _, _, comparison in found]
    rows = [Subgroup(*row, value, adjusted) for row, value, adjusted in zip(found, p, holm(p), strict=True)]
    return Subgroups(tuple(rows), alpha, level)


def _parts(
    candidate: Evaluation, baseline: Evaluation
) -> Iterator[tuple[Field, str, tuple[Sequence[ScoredPair], Sequence[ScoredPair]]]]:
    fields: tuple[tuple[Field, str | None], ...] = (("trace", "omission"), ("severity", "omission"), ("kind", None))
    for field, label in fields:
        ours, theirs = (by(evaluation.pairs(label), field) for evaluation in (candidate, baseline))
        both = sorted(ours.keys() & theirs.keys())
        for value in both if len(both) > 1 else ():
            if value != "omit":
                yield field, value, (ours[value], theirs[value])
