"""One candidate on one split, read back from its judgement segment: measures, flags and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineage.segments import read_segment
from optimize.evaluation import Evaluation
from optimize.measured import measures_row
from splits.corpus import Example


@dataclass(frozen=True, slots=True)
class Flagged:
    """Documents flagged, of those that are scored in every replicate."""

    flagged: int
    of: int

    def __str__(self) -> str:
        return f"{self.flagged} of {self.of} ({100 * self.flagged / self.of:.1f}%)" if self.of else "none scored"


@dataclass(frozen=True, slots=True)
class Judged:
    """Judgements of one purpose on one split; those that failed and those that abstained are counted apart."""

    purpose: str
    split: str
    judgements: int
    failed: int
    abstained: int


@dataclass(frozen=True, slots=True)
class Measured:
    """Paired discrimination of a candidate on one split, with intervals: omissions, commissions, omissions by trace."""

    candidate: str
    measures: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Arm:
    """One candidate on one split.

    Attributes:
        candidate: its id.
        measures: paired discrimination with intervals, of omissions, commissions and omissions by trace.
        threshold: flag a document whose score is below; set on accept. None where it has none.
        detected: flawed documents flagged at the threshold.
        false_alarms: clean documents flagged at the threshold.
        clean: scores of clean documents, every replicate; higher is a better document.
        flawed: scores of flawed documents, every replicate.
        evaluation: its examples, without their texts, and its judgements.
    """

    candidate: str
    measures: Mapping[str, Any]
    threshold: float | None
    detected: Flagged
    false_alarms: Flagged
    clean: tuple[float, ...]
    flawed: tuple[float, ...]
    evaluation: Evaluation

    @property
    def measured(self) -> Measured:
        """Its measures alone."""
        return Measured(self.candidate, self.measures)


def read_arm(
    segments: Path, body: Mapping[str, Any], candidate: str, examples: Sequence[Example], threshold: float | None
) -> Arm:
    """An arm from the ``evaluation`` event that holds it.

    Raises:
        LedgerError: the segment is missing or is not the one the ledger recorded.
    """
    judged = tuple(j for j in read_segment(segments, body["segment"]) if j.candidate == candidate)
    seen = {judgement.example for judgement in judged}
    evaluation = Evaluation(candidate, tuple(example for example in examples if example.id in seen), judged)
    clean = evaluation.scores(label="clean")
    flawed = evaluation.scores(label="omission") + evaluation.scores(label="commission")
    return Arm(
        candidate,
        measures_row(evaluation),
        threshold,
        _flagged(evaluation, threshold, clean=False),
        _flagged(evaluation, threshold, clean=True),
        tuple(clean),
        tuple(flawed),
        evaluation,
    )


def _flagged(evaluation: Evaluation, threshold: float | None, *, clean: bool) -> Flagged:
    """Documents that a strict majority of replicates flags, as the gate counts them."""
    scores: dict[str, list[float | None]] = {}
    for judgement in evaluation.judgements:
        scores.setdefault(judgement.example, []).append(judgement.score)
    flags = []
    for example in evaluation.examples:
        found = scores[example.id]
        if (example.label == "clean") == clean and None not in found and threshold is not None:
            flags.append(2 * sum(score < threshold for score in found if score is not None) > len(found))
    return Flagged(sum(flags), len(flags))
