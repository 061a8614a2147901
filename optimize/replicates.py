"""What a run directory holds of one candidate on one split, its replicates together, as recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lineage.errors import CampaignError, LedgerError
from lineage.ledger import Event
from optimize.evaluation import Evaluation
from optimize.recompute import RecordedRun

WHOLE: Final = {
    "reflect": ("noise-reflect",),
    "accept": ("accept", "noise"),
    "heldout": ("baseline", "confirm"),
}
"""Purposes of the evaluations of whole splits by the student as the gate reads it, by split."""


def seed_of(run: RecordedRun) -> str:
    """The candidate id of a run's baseline.

    Raises:
        LedgerError: none is recorded yet.
    """
    for event in run.all("candidate"):
        if event.body["kind"] == "seed":
            return str(event.body["candidate"])
    raise LedgerError(f"{run.directory}: no baseline is recorded yet; let the run begin")


def judged(run: RecordedRun, split: str) -> tuple[str, ...]:
    """Candidates that a run judged on the whole of a split, in the order of their first evaluation."""
    found: dict[str, None] = {}
    for event in _events(run, split):
        found.update(dict.fromkeys(event.body["candidates"]))
    return tuple(found)


def recorded_evaluation(run: RecordedRun, *, split: str, candidate: str) -> Evaluation:
    """All that a run recorded of a candidate on a split; no judgement is made, and no text is read.

    Args:
        run: a run directory read back.
        split: ``reflect``, ``accept`` or ``heldout``. A search judges ``reflect`` in minibatches only.
        candidate: id of a candidate.

    Raises:
        CampaignError: the run is not finished, and its held-out judgements are asked for.
        LedgerError: the run has no judgement of this candidate on this split.
    """
    if split == "heldout" and not run.all("finished"):
        raise CampaignError(
            f"{run.directory} is not finished: its held-out judgements are read when its verdict stands; resume it, or "
            "read its accept split"
        )
    parts = [
        evaluation
        for event in _events(run, split)
        for evaluation in run.evaluations(event)
        if evaluation.candidate == candidate
    ]
    if not parts:
        raise LedgerError(f"{run.directory}: candidate {candidate[:12]} was not judged on {split}")
    # What was judged twice in one replicate was found in the ledger or the cache, and is the same judgement.
    judgements = {judgement.key: judgement for part in parts for judgement in part.judgements}
    examples = {example.id: example for part in parts for example in part.examples}
    return Evaluation(
        candidate,
        tuple(examples[name] for name in sorted(examples)),
        tuple(judgements[key] for key in sorted(judgements)),
    )


def last_measurement(run: RecordedRun, evaluation: Evaluation) -> Evaluation:
    """A baseline that was measured again beside the winner has its replicates twice: the later ones, as the gate does.

    Any other evaluation is as it is.
    """
    count = int(run.plan["replicates"])
    if len(evaluation.replicates) != 2 * count:
        return evaluation
    last = evaluation.replicates[-count:]
    return replace(evaluation, judgements=tuple(j for j in evaluation.judgements if j.replicate in last))


def _events(run: RecordedRun, split: str) -> list[Event]:
    return [
        event
        for event in run.all("evaluation")
        if event.body["split"] == split and event.body["purpose"] in WHOLE[split]
    ]
