"""Localisation: whether the first bad step, and the bad steps, are found where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from optimize.stats import Estimate, GroupInfluence, auc, grouped_mean, ratio_influence
from optimize.steps.scored import ScoredNote, ScoredSteps
from splits.steps import KINDS, RIGHT, WRONG, Label, Step


@dataclass(frozen=True, slots=True)
class StepDetection:
    """Steps of some kinds as right or wrong.

    Attributes:
        kinds: of the steps.
        recall: share of wrong steps whose P(+) is below the threshold.
        alarms: share of right steps whose P(+) is below it.
        auc: share of couples of a wrong and a right step in which the wrong one has the lower P(+), ties half.
        wrong: wrong steps.
        right: right steps.
    """

    kinds: str
    recall: Estimate
    alarms: Estimate
    auc: Estimate
    wrong: int
    right: int


@dataclass(frozen=True, slots=True)
class Localisation:
    """Where a verifier sees the error of a note.

    Attributes:
        threshold: below which a step is bad.
        first: share of flawed notes whose first bad step is the first wrong one.
        lowest: share of flawed notes whose step with the least P(+), of those with a label, is a wrong one; of several
            level ones, the share of them that are wrong.
        lowest_chance: the same by drawing one of those steps.
        unflagged: share of clean notes without a bad step.
        steps: detection over all steps, then by kind.
        unknown: flawed notes left out, as it is not known which of their steps is the first wrong one.
    """

    threshold: float
    first: Estimate
    lowest: Estimate
    lowest_chance: float
    unflagged: Estimate
    steps: tuple[StepDetection, ...]
    unknown: int


def localisation(scored: ScoredSteps, *, level: float = 0.95) -> Localisation:
    """Localisation at the verifier's threshold.

    Args:
        scored: the judgements.
        level: in (0, 1), of the intervals.
    """
    flawed = [note for note in scored.notes if not note.clean]
    known = [note for note in flawed if _locatable(note)]
    clean = [note for note in scored.notes if note.clean]
    firsts = [float(first_bad(note.p, scored.threshold) == note.labelled.first_wrong) for note in known]
    lowest = [_lowest_is_wrong(note) for note in known]
    chances = [_wrong(note) / sum(label is not None for label in note.labelled.labels) for note in known]
    groups = [note.group for note in known]
    quiet = [float(first_bad(note.p, scored.threshold) is None) for note in clean]
    kinds = [kind for kind in KINDS if any(step.kind == kind for note in scored.notes for step in _steps(note))]
    return Localisation(
        scored.threshold,
        grouped_mean(firsts, groups, level=level),
        grouped_mean(lowest, groups, level=level),
        sum(chances) / len(chances) if chances else float("nan"),
        grouped_mean(quiet, [note.group for note in clean], level=level),
        tuple(step_detection(scored, kinds=chosen, level=level) for chosen in ((), *((kind,) for kind in kinds))),
        len(flawed) - len(known),
    )


def first_bad(p: Sequence[float], threshold: float) -> int | None:
    """Place, from 0, of the first step below a threshold; None where none is."""
    return next((place for place, value in enumerate(p) if value < threshold), None)


def step_detection(scored: ScoredSteps, *, kinds: Sequence[str] = (), level: float = 0.95) -> StepDetection:
    """Detection of wrong steps among those with a label; of some kinds, or of all."""
    wrong, right = _labelled(scored, WRONG, kinds), _labelled(scored, RIGHT, kinds)
    recall = grouped_mean([float(p < scored.threshold) for p, _ in wrong], [g for _, g in wrong], level=level)
    alarms = grouped_mean([float(p < scored.threshold) for p, _ in right], [g for _, g in right], level=level)
    found = step_auc(scored, kinds=kinds).estimate(level=level)
    return StepDetection(", ".join(kinds) or "all steps", recall, alarms, found, len(wrong), len(right))


def step_auc(scored: ScoredSteps, *, kinds: Sequence[str] = (), flawed_only: bool = False) -> GroupInfluence:
    """The step-level AUC with the influence of each group.

    Args:
        scored: the judgements.
        kinds: of the steps; none for all.
        flawed_only: whether steps of clean notes are left out, which may be written in another way than flawed ones.
    """
    if flawed_only:
        scored = replace(scored, notes=tuple(note for note in scored.notes if not note.clean))
    wrong, right = _labelled(scored, WRONG, kinds), _labelled(scored, RIGHT, kinds)
    return auc(
        [p for p, _ in wrong],
        [p for p, _ in right],
        flawed_groups=[group for _, group in wrong],
        clean_groups=[group for _, group in right],
    )


def below_threshold(scored: ScoredSteps, *, label: Label, kinds: Sequence[str] = ()) -> GroupInfluence:
    """Share of steps with a label whose P(+) is below the threshold, with the influence of each group."""
    found = _labelled(scored, label, kinds)
    return ratio_influence([float(p < scored.threshold) for p, _ in found], [group for _, group in found])


def _labelled(scored: ScoredSteps, label: str, kinds: Sequence[str]) -> list[tuple[float, str]]:
    """P(+) and group of every step with a label."""
    return [
        (p, note.group)
        for note in scored.notes
        for p, step, found in zip(note.p, _steps(note), note.labelled.labels, strict=True)
        if found == label and (not kinds or step.kind in kinds)
    ]


def _steps(note: ScoredNote) -> Sequence[Step]:
    return note.labelled.note.steps


def _locatable(note: ScoredNote) -> bool:
    """Whether it is known which step is the first wrong one: none before it is without a label."""
    first = note.labelled.first_wrong
    return first is not None and None not in note.labelled.labels[:first]


def _wrong(note: ScoredNote) -> int:
    return sum(label == WRONG for label in note.labelled.labels)


def _lowest_is_wrong(note: ScoredNote) -> float:
    labelled = [(p, label) for p, label in zip(note.p, note.labelled.labels, strict=True) if label is not None]
    least = min(p for p, _ in labelled)
    level = [label for p, label in labelled if p == least]
    return sum(label == WRONG for label in level) / len(level)
