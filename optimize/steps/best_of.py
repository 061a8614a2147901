"""Best of N: how good the note is that a verifier takes from N candidates, as an exact expectation over all draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import comb
from typing import Final

from lineage.errors import InputError
from optimize.stats import Estimate, grouped_mean
from optimize.steps.preference import total_rate
from optimize.steps.scored import ScoredNote, ScoredSteps
from students.steps import Aggregation

MOST: Final = 8


@dataclass(frozen=True, slots=True)
class Selection:
    """What comes of taking the best of N.

    Attributes:
        n: candidates that the verifier chooses from.
        verifier: expected quality of the note that it takes, over groups, with its interval.
        gain: the same less that of a note drawn blindly, pair by pair.
        drawn: expected quality of a note drawn blindly.
        best: expected quality of the best of N, which no verifier passes.
    """

    n: int
    verifier: Estimate
    gain: Estimate
    drawn: float
    best: float


@dataclass(frozen=True, slots=True)
class SelectionCurve:
    """Expected quality by N, over the same groups throughout.

    The candidates are the notes of the corpus, most of which were flawed on purpose: the curve says how well the
    verifier chooses among such notes, and not how much a writer of notes would gain.

    Attributes:
        aggregation: of the scores.
        quality: what the quality of a note is.
        points: for N from 1.
        left_out: groups, times replicates, with fewer scored candidates than the largest N, or none.
    """

    aggregation: Aggregation
    quality: str
    points: tuple[Selection, ...]
    left_out: int


def expected_best(scores: Sequence[float], qualities: Sequence[float], n: int) -> float:
    """Expected quality of the highest scoring of n notes, over all draws of n different ones; ties are drawn among.

    Args:
        scores: of the candidates.
        qualities: of the candidates, in the same order.
        n: how many are drawn, from 1 to all.

    Raises:
        InputError: there are not so many.
    """
    if len(scores) != len(qualities) or not 1 <= n <= len(scores):
        raise InputError(f"n must be from 1 to the {len(scores)} candidates, each with a quality, got {n}")
    if n == 1:
        return sum(qualities) / len(qualities)  # exactly: the gain of drawing one is 0, not the noise of a sum
    total, below = 0.0, 0
    ranked = sorted(zip(scores, qualities, strict=True))
    for _, level in groupby(ranked, key=lambda pair: pair[0]):
        same = [quality for _, quality in level]
        # The chance that the highest of the draw is of this level; by symmetry each of its notes is taken as often.
        chance = (comb(below + len(same), n) - comb(below, n)) / comb(len(scores), n)
        total += chance * sum(same) / len(same)
        below += len(same)
    return total


def selection_curve(
    scored: ScoredSteps, *, aggregation: Aggregation, most: int | None = None, level: float = 0.95
) -> SelectionCurve:
    """The selection curve under one aggregation.

    Quality is 1 for a clean note and 0 for a flawed one, or one less the mean error rate where people counted errors.

    Args:
        scored: the judgements.
        aggregation: how steps make scores.
        most: largest N; None for as many as four of five groups have, at most eight.
        level: in (0, 1), of the intervals.
    """
    rated = any(total_rate(note.example.meta) is not None for note in scored.planned)
    planned = (
        (note.example.group, replicate)
        for note in scored.planned
        if not rated or total_rate(note.example.meta) is not None
        for replicate in scored.replicates
    )
    pools: dict[tuple[str, int], list[ScoredNote]] = {key: [] for key in planned}  # a group may have no scored note
    for note in scored.notes:
        if not rated or total_rate(note.labelled.example.meta) is not None:
            pools[note.group, note.replicate].append(note)
    sizes = sorted((len(pool) for pool in pools.values()), reverse=True)
    reach = most or (min(MOST, sizes[-(-4 * len(sizes) // 5) - 1]) if sizes else 0)
    kept = {key: pool for key, pool in sorted(pools.items()) if len(pool) >= max(reach, 1)}
    points = []
    for n in range(1, reach + 1) if kept else ():
        chosen, drawn, best = [], [], []
        for pool in kept.values():
            qualities = [_quality(note, rated=rated) for note in pool]
            chosen.append(expected_best([note.scores[aggregation] for note in pool], qualities, n))
            drawn.append(sum(qualities) / len(qualities))
            best.append(expected_best(qualities, qualities, n))
        groups = [group for group, _ in kept]
        points.append(
            Selection(
                n,
                grouped_mean(chosen, groups, level=level),
                grouped_mean([a - b for a, b in zip(chosen, drawn, strict=True)], groups, level=level),
                sum(drawn) / len(drawn),
                sum(best) / len(best),
            )
        )
    quality = "one less the mean error rate that people counted" if rated else "share of clean notes"
    return SelectionCurve(aggregation, quality, tuple(points), len(pools) - len(kept))


def _quality(note: ScoredNote, *, rated: bool) -> float:
    if not rated:
        return 1.0 if note.clean else 0.0
    meta = note.labelled.example.meta
    rates = meta["rates"]
    return 1.0 - (total_rate(meta) or 0.0) / len(rates)
