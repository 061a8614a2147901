"""The measure table of a candidate of a recorded run on a whole split, by the flag rule that a campaign reads."""

from __future__ import annotations

from dataclasses import dataclass

from optimize.choice import detection
from optimize.gate import CleanCounts, clean_counts
from optimize.objectives import MeasureTable, ScoredExamples, Threshold, measure_table, scored_evaluation
from optimize.recompute import RecordedRun
from optimize.replicates import judged, last_measurement, recorded_evaluation


@dataclass(frozen=True, slots=True)
class RecordedMeasures:
    """Measures of one candidate on one split.

    Attributes:
        split: where it was judged. On ``accept`` the numbers of whatever was chosen there are optimistic.
        candidate: id of the candidate.
        scored: the documents with their scores.
        clean: verified and candidate clean documents; a flag on a candidate is no false alarm.
        table: their measures.
    """

    split: str
    candidate: str
    scored: ScoredExamples
    clean: CleanCounts
    table: MeasureTable


def recorded_measures(run: RecordedRun, *, split: str, candidate: str, level: float = 0.95) -> RecordedMeasures:
    """Measure what a run recorded of a candidate on a split.

    On held-out data the threshold is the candidate's own from accept, as the gate has it; elsewhere it is swept on the
    split itself. Of a baseline that was measured again beside the winner the later measurement counts.

    Args:
        run: a run directory read back.
        split: ``reflect``, ``accept`` or ``heldout``.
        candidate: id of a candidate.
        level: in (0, 1), of the intervals.

    Raises:
        CampaignError: the run is not finished, and its held-out judgements are asked for.
        LedgerError: the run has no judgement of this candidate on this split.
    """
    evaluation = last_measurement(run, recorded_evaluation(run, split=split, candidate=candidate))
    scored = scored_evaluation(evaluation)
    threshold = None
    if split == "heldout" and candidate in judged(run, "accept"):
        swept = detection(recorded_evaluation(run, split="accept", candidate=candidate))
        threshold = None if swept.reason else Threshold(swept.threshold)
    table = measure_table(scored, threshold=threshold, level=level)
    return RecordedMeasures(split, candidate, scored, clean_counts(evaluation.examples), table)
