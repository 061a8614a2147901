"""Preference accuracy: whether the better of two notes on one source has the higher score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from optimize.stats import (
    Estimate,
    GroupInfluence,
    Interval,
    TestResult,
    grouped_mean,
    one_sided_p,
    paired_credit,
    ratio_influence,
    wilson,
)
from optimize.steps.scored import ScoredNote, ScoredSteps
from students.steps import Aggregation

CHANCE: Final = 0.5
"""Preference accuracy of one who guesses, ties included: a tie counts one half."""
TIE_RULE: Final = "a pair of equal stored scores counts one half, so that guessing and never deciding both come to 0.5"
RATES: Final = "rates"
"""Key of ``meta`` with the shares of errors that people counted."""


@dataclass(frozen=True, slots=True)
class Preference:
    """Two notes on one source of which one is known to be better, and how that is known."""

    better: ScoredNote
    worse: ScoredNote
    by: str

    def credit(self, aggregation: Aggregation) -> float:
        """1 if the better note scores higher, 0.5 if level, else 0."""
        return paired_credit(self.worse.scores[aggregation], self.better.scores[aggregation])


@dataclass(frozen=True, slots=True)
class PreferenceAccuracy:
    """How often the better note scores higher.

    Attributes:
        aggregation: of the scores.
        by: how it is known which note is better: ``twin``, or ``rates`` that people gave.
        estimate: mean credit, with its interval by group; 0.5 is chance.
        above_chance: one-sided test against chance, by group.
        strict: Wilson interval of the share of pairs in which the better note scores strictly higher.
        strictly: number of such pairs.
        ties: pairs of equal scores.
        left_out: pairs that lack a score.
    """

    aggregation: Aggregation
    by: str
    estimate: Estimate
    above_chance: TestResult
    strict: Interval
    strictly: int
    ties: int
    left_out: int


def preference_accuracy(
    scored: ScoredSteps, *, aggregation: Aggregation, by: str, level: float = 0.95
) -> PreferenceAccuracy:
    """Preference accuracy under one aggregation.

    Args:
        scored: the judgements.
        aggregation: how steps make scores.
        by: ``twin``: a clean note is better than its flawed twins; ``rates``: a note with a lower sum of error rates,
            counted by people, is better.
        level: in (0, 1), of the interval.
    """
    found = [*preferences(scored, by=by)]
    pairs = [pair for pair in found if pair is not None]
    earned = [pair.credit(aggregation) for pair in pairs]
    groups = [pair.better.group for pair in pairs]
    return PreferenceAccuracy(
        aggregation,
        by,
        grouped_mean(earned, groups, level=level),
        one_sided_p(earned, groups, null=CHANCE),
        wilson(earned.count(1.0), len(earned), level=level),
        earned.count(1.0),
        earned.count(CHANCE),
        len(found) - len(pairs),
    )


def preference_influence(scored: ScoredSteps, *, aggregation: Aggregation, by: str) -> GroupInfluence:
    """Preference accuracy with the influence of each group, for a difference of two corpora."""
    pairs = [pair for pair in preferences(scored, by=by) if pair is not None]
    return ratio_influence([pair.credit(aggregation) for pair in pairs], [pair.better.group for pair in pairs])


def preferences(scored: ScoredSteps, *, by: str) -> Iterator[Preference | None]:
    """Every pair of which it is known which is better; None for one that lacks a score."""
    pairs = _by_twin(scored) if by == "twin" else _by_rates(scored)
    for better, worse in pairs:
        for replicate in scored.replicates:
            high, low = scored.by_key.get((better, replicate)), scored.by_key.get((worse, replicate))
            yield None if high is None or low is None else Preference(high, low, by)


def ways(scored: ScoredSteps) -> tuple[str, ...]:
    """In which ways it is known of a corpus which notes are better."""
    return tuple(by for by in ("twin", RATES) if any(True for _ in (_by_twin if by == "twin" else _by_rates)(scored)))


def _by_twin(scored: ScoredSteps) -> Iterator[tuple[str, str]]:
    for labelled in scored.planned:
        if labelled.flaw is not None and labelled.example.twin is not None:
            yield labelled.example.twin, labelled.example.id


def _by_rates(scored: ScoredSteps) -> Iterator[tuple[str, str]]:
    rated: dict[str, list[tuple[float, str]]] = {}
    for labelled in scored.planned:
        if (total := total_rate(labelled.example.meta)) is not None:
            rated.setdefault(labelled.example.group, []).append((total, labelled.example.id))
    for group in sorted(rated):
        for place, (mine, first) in enumerate(rated[group]):
            for other, second in rated[group][place + 1 :]:
                if mine != other:
                    yield (first, second) if mine < other else (second, first)


def total_rate(meta: Mapping[str, Any]) -> float | None:
    """Sum of the error rates that people counted, lower is better; None where they counted none."""
    rates = meta.get(RATES)
    # Rounded, so that 0.1 + 0.2 and 0.3 are one rate: no note is better by the noise of a sum.
    return round(math.fsum(rates.values()), 9) if isinstance(rates, Mapping) and rates else None
