"""Dependence of scores on how long a note is and how many steps it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from optimize.stats import Estimate, Interval, grouped_mean
from optimize.stats.groups import Floats, group_codes
from optimize.stats.influence import t_quantile
from optimize.stats.results import NO_PAIRS, NO_VARIATION, ONE_GROUP
from optimize.steps.preference import Preference, preferences
from optimize.steps.scored import ScoredNote, ScoredSteps
from students.steps import Aggregation

Size = Literal["words", "steps"]
SIZES: Final[tuple[Size, ...]] = ("words", "steps")
METHOD: Final = "jackknife t interval by group, ranks taken once"


@dataclass(frozen=True, slots=True)
class SizeDependence:
    """How scores go with the size of a note.

    A correlation over clean notes says that length alone moves the score. It does not say that length is why a verifier
    is right or wrong: longer notes also have more in them that may be wrong.

    Attributes:
        aggregation: of the scores.
        size: ``words`` or ``steps``.
        clean: rank correlation of score and size over clean notes.
        flawed: the same over flawed notes.
        accuracy: preference accuracy against twins in thirds of the pairs, from the smallest clean notes on; fewer
            parts where many notes are of one size.
        edges: largest size in each part.
    """

    aggregation: Aggregation
    size: Size
    clean: Estimate
    flawed: Estimate
    accuracy: tuple[Estimate, ...]
    edges: tuple[int, ...]


def size_dependence(
    scored: ScoredSteps, *, aggregation: Aggregation, size: Size, level: float = 0.95
) -> SizeDependence:
    """Dependence on size under one aggregation.

    Args:
        scored: the judgements.
        aggregation: how steps make scores.
        size: of a note.
        level: in (0, 1), of the intervals.
    """
    pairs = [pair for pair in preferences(scored, by="twin") if pair is not None]
    parts = _thirds(pairs, size)

    def correlation(notes: list[ScoredNote]) -> Estimate:
        sizes = [float(size_of(note, size)) for note in notes]
        scores = [note.scores[aggregation] for note in notes]
        return rank_correlation(sizes, scores, [note.group for note in notes], level=level)

    return SizeDependence(
        aggregation,
        size,
        correlation([note for note in scored.notes if note.clean]),
        correlation([note for note in scored.notes if not note.clean]),
        tuple(
            grouped_mean([pair.credit(aggregation) for pair in part], [pair.better.group for pair in part], level=level)
            for part in parts
        ),
        tuple(max(size_of(pair.better, size) for pair in part) for part in parts),
    )


def size_of(note: ScoredNote, size: Size) -> int:
    """Words or steps of a note."""
    return note.labelled.words if size == "words" else len(note.p)


def rank_correlation(x: list[float], y: list[float], groups: list[str], *, level: float = 0.95) -> Estimate:
    """Spearman's correlation with a jackknife interval by group.

    Ranks are taken once, over all notes: without one group they would be almost the same.

    Args:
        x: shape (n,).
        y: shape (n,).
        groups: shape (n,), group labels.
        level: in (0, 1).
    """
    coded = group_codes(groups)
    count = len(coded.names)

    def undefined(reason: str, value: float = float("nan")) -> Estimate:
        interval = Interval.undefined(reason, level=level, method=METHOD, n_groups=count)
        return Estimate(value, interval, len(x), count, reason if np.isnan(value) else "")

    if not x:
        return undefined(NO_PAIRS)
    if len(set(x)) == 1 or len(set(y)) == 1:
        return undefined("size or score is the same for every note")
    a, b = (stats.rankdata(values) for values in (x, y))
    sums = np.column_stack([coded.totals(column) for column in (np.ones(len(a)), a, b, a * a, b * b, a * b)])
    value = float(_correlation(sums.sum(axis=0)[None, :])[0])
    if count == 1:
        return undefined(ONE_GROUP, value)
    without = _correlation(sums.sum(axis=0) - sums)
    if not np.isfinite(without).all():
        return undefined("there is no correlation without one of the groups", value)
    spread = without - without.mean()
    if np.abs(spread).max() <= 1e-12:
        return undefined(NO_VARIATION, value)
    # Efron and Tibshirani (1993), eq. 11.5.
    reach = t_quantile(level, count) * float(np.sqrt((count - 1) / count * np.square(spread).sum()))
    return Estimate(value, Interval(value - reach, value + reach, level, METHOD, count), len(x), count)


def _correlation(sums: npt.NDArray[np.float64]) -> Floats:
    """Pearson's correlation from sums of 1, a, b, aa, bb and ab, shape (m, 6); NaN where one does not vary."""
    n, a, b, aa, bb, ab = sums.T
    spread = (n * aa - a * a) * (n * bb - b * b)
    top = n * ab - a * b
    found = np.full(top.shape, np.nan)
    np.divide(top, np.sqrt(np.maximum(spread, 0.0)), out=found, where=spread > 1e-9)
    return found


def _thirds(pairs: Sequence[Preference], size: Size) -> tuple[list[Preference], ...]:
    """About a third of the pairs each, from the smallest clean notes on; notes of one size stay together."""
    sizes = sorted(size_of(pair.better, size) for pair in pairs)
    if not sizes:
        return ()
    first, second = (sizes[(part * len(sizes) + 2) // 3 - 1] for part in (1, 2))
    parts: tuple[list[Preference], ...] = ([], [], [])
    for pair in pairs:
        mine = size_of(pair.better, size)
        parts[0 if mine <= first else 1 if mine <= second else 2].append(pair)
    return tuple(part for part in parts if part)
