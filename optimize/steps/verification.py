"""Verification accuracy: whether the clean note is found among its flawed twins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from optimize.stats import Estimate, Interval, grouped_mean, wilson
from optimize.steps.scored import ScoredNote, ScoredSteps
from students.steps import Aggregation

TIE_RULE: Final = (
    "the note with the highest score is taken; where several have it, one of them is drawn, so that a clean note that "
    "is level with t - 1 flawed ones counts 1/t"
)


@dataclass(frozen=True, slots=True)
class TwinSet:
    """A clean note with all its flawed twins, judged once; all of them have a score."""

    clean: ScoredNote
    flawed: tuple[ScoredNote, ...]

    @property
    def chance(self) -> float:
        """Share right of one who draws any note."""
        return 1 / (1 + len(self.flawed))

    def credit(self, aggregation: Aggregation) -> float:
        """Chance that the clean note is taken, in [0, 1] (see :data:`TIE_RULE`)."""
        mine = self.clean.scores[aggregation]
        others = [note.scores[aggregation] for note in self.flawed]
        return 0.0 if max(others) > mine else 1 / (1 + sum(other == mine for other in others))


@dataclass(frozen=True, slots=True)
class VerificationAccuracy:
    """How often the clean note is found.

    It says nothing of notes of different sources, nor of a threshold; with more twins the same verifier finds it less
    often, so that only sets of one size are comparable, and chance stands beside it.

    Attributes:
        aggregation: of the scores.
        estimate: mean credit over sets, with its interval by group.
        strict: Wilson interval of the share of sets in which the clean note alone is highest.
        strictly: number of such sets.
        chance: mean share right by drawing.
        ties: sets in which the clean note is level with another at the top.
        left_out: sets that lack a score of one of their notes.
        worst: mean credit if every set that was left out were wrong; NaN without sets.
        by_error: the same for the twins with one kind of error alone.
    """

    aggregation: Aggregation
    estimate: Estimate
    strict: Interval
    strictly: int
    chance: float
    ties: int
    left_out: int
    worst: float
    by_error: Mapping[str, VerificationAccuracy] = field(default_factory=dict)


def verification_accuracy(
    scored: ScoredSteps, *, aggregation: Aggregation, level: float = 0.95
) -> VerificationAccuracy:
    """Verification accuracy under one aggregation, over all twins and by kind of error.

    Args:
        scored: the judgements.
        aggregation: how steps make scores.
        level: in (0, 1), of the intervals.
    """
    errors = sorted({note.error for note in scored.planned if note.error is not None and note.example.twin})
    by_error = {
        error: _accuracy(scored.part(error, lambda note, error=error: note.error == error), aggregation, level)  # type: ignore[misc]
        for error in errors
    }
    return replace(_accuracy(scored, aggregation, level), by_error=by_error)


def twin_sets(scored: ScoredSteps) -> Iterator[TwinSet | None]:
    """Every clean note that has flawed twins, with them; None for a set that lacks a score."""
    twins: dict[str, list[str]] = {}
    for labelled in scored.planned:
        if labelled.flaw is not None and labelled.example.twin is not None:
            twins.setdefault(labelled.example.twin, []).append(labelled.example.id)
    for clean, flawed in sorted(twins.items()):
        for replicate in scored.replicates:
            found = [scored.by_key.get((name, replicate)) for name in (clean, *flawed)]
            whole = [note for note in found if note is not None]
            yield TwinSet(whole[0], tuple(whole[1:])) if len(whole) == len(found) else None


def _accuracy(scored: ScoredSteps, aggregation: Aggregation, level: float) -> VerificationAccuracy:
    found = [*twin_sets(scored)]
    sets = [each for each in found if each is not None]
    earned = [each.credit(aggregation) for each in sets]
    strictly = sum(credit == 1.0 for credit in earned)
    return VerificationAccuracy(
        aggregation,
        grouped_mean(earned, [each.clean.group for each in sets], level=level),
        wilson(strictly, len(sets), level=level),
        strictly,
        sum(each.chance for each in sets) / len(sets) if sets else float("nan"),
        sum(0.0 < credit < 1.0 for credit in earned),
        len(found) - len(sets),
        sum(earned) / len(found) if found else float("nan"),
    )
