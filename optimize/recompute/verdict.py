"""The verdict of a recorded run, computed as the campaign computed it."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineage.canonical import digest
from lineage.errors import LedgerError
from optimize.choice import Standing, choose, standing
from optimize.evaluation import Evaluation
from optimize.gate import Arm, Gate
from optimize.gate_plan import GatePlan
from optimize.planned_gate import gate_of
from optimize.recompute.recorded import RecordedRun, nearest, recorded_pool
from optimize.verdict import Setting, noise_floor, nothing_found_row, verdict_row
from splits.register import Comparison as Place


def recompute_verdict(run: RecordedRun) -> dict[str, Any]:
    """The verdict of a run whose winner was chosen and confirmed, as the campaign computes it.

    Raises:
        HoldgateError: the run did not come that far.
    """
    choice = next(iter(run.all("choice")), None)
    if choice is None:
        raise LedgerError(f"{run.directory}: no winner has been chosen yet; resume the campaign")
    result = recorded_pool(run)
    winner, _ = choose(result.pool)
    baseline = standing(result.pool[0])
    first = nearest(run, choice, "baseline")
    (before,) = run.evaluations(first)
    registered = run.events[0].body
    setting = Setting(
        baseline=baseline,
        lock=run.lock,
        exploratory=registered["exploratory"],
        simulated=registered["simulated"],
        proposed=result.proposals,
        accepted=len(result.pool) - 1,
        noise=noise_floor(before),
        hashes={
            "plan": registered["plan_hash"],
            "lock": run.lock.hash,
            "corpus": registered["corpus_hash"],
            "student": first.body["student"],
        },
    )
    if winner.entry.candidate.id == baseline.entry.candidate.id:
        return nothing_found_row(setting)
    confirmed = run.evaluations(nearest(run, run.events[-1], "confirm"))
    arms = {evaluation.candidate: evaluation for evaluation in (before, *confirmed)}
    rng = np.random.default_rng(int(digest(["gate", registered["plan_hash"]])[:16], 16))
    sides = [_arm(place, arms[place.entry.candidate.id]) for place in (winner, baseline)]
    reading = recorded_gate(run).read(*sides, rng=rng)
    opened = next(event.body["comparison"] for event in run.all("seal_opened") if event.body["opening"] == "confirm")
    return verdict_row(reading, winner=winner, place=None if opened is None else Place(**opened), setting=setting)


def recorded_gate(run: RecordedRun) -> Gate:
    """The gate that the plan fixed, at the lock's alpha."""
    return gate_of(GatePlan.model_validate(run.plan["gate"]), run.plan["guardrails"], alpha=run.lock.spend)


def _arm(place: Standing, evaluation: Evaluation) -> Arm:
    words = sum(len(text.split()) for text in place.entry.candidate.texts.values())
    return Arm(evaluation, place.detection.threshold, words)
