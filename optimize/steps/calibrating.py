"""Calibration of P(+): how often a step that is said to be right with some probability is right."""

from __future__ import annotations

from collections.abc import Sequence

from optimize.stats import Calibration, calibration
from optimize.steps.scored import ScoredSteps
from splits.steps import RIGHT


def step_calibration(
    scored: ScoredSteps, *, kinds: Sequence[str] = (), bins: int = 10, level: float = 0.95
) -> Calibration:
    """Reliability and expected calibration error of P(+) over the steps with a label.

    The share of right steps is that of the corpus, most of whose steps are right by construction: another corpus has
    another one, and calibration does not carry over.

    Args:
        scored: the judgements.
        kinds: of the steps; none for all.
        bins: of equal width, at least 1.
        level: in (0, 1), of the intervals.
    """
    found = [
        (p, float(label == RIGHT), note.group)
        for note in scored.notes
        for p, step, label in zip(note.p, note.labelled.note.steps, note.labelled.labels, strict=True)
        if label is not None and (not kinds or step.kind in kinds)
    ]
    return calibration(
        [p for p, _, _ in found],
        [outcome for _, outcome, _ in found],
        [group for _, _, group in found],
        bins=bins,
        level=level,
    )
