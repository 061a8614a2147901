"""The verdict of a recorded run, computed as the campaign computed it."""

from __future__ import annotations

from typing import Any

from lineage.errors import LedgerError
from lineage.openings import exploratory_reason
from optimize.choice import standing
from optimize.deciding import ConfirmedArms, Deciding
from optimize.equal_budget import PURPOSE as EQUAL_BUDGET
from optimize.gate import Gate, clean_counts
from optimize.gate_plan import GatePlan
from optimize.noise import noise_floor
from optimize.planned_gate import gate_of
from optimize.recompute.recorded import RecordedRun, nearest, recorded_choice, recorded_pool
from optimize.studied_plan import StudiedPlan
from optimize.verdict import Setting
from splits.register import Comparison as Place


def recompute_verdict(run: RecordedRun) -> dict[str, Any]:
    """The verdict of a run whose winner was chosen, and confirmed where it was to be, as the campaign computes it.

    Raises:
        HoldgateError: the run did not come that far.
    """
    deciding = recorded_deciding(run)
    if (shut := deciding.shut()) is not None:
        return shut
    (before,) = run.evaluations(nearest(run, run.events[-1], "baseline"))
    confirmed = run.evaluations(nearest(run, run.events[-1], "confirm"))
    arms = {evaluation.candidate: evaluation for evaluation in (before, *confirmed)}
    more = next(iter(run.judged(EQUAL_BUDGET)), None)
    opened = next(event.body["comparison"] for event in run.all("seal_opened") if event.body["opening"] == "confirm")
    return deciding.verdict(
        ConfirmedArms(
            arms[deciding.winner.entry.candidate.id],
            arms[deciding.setting.baseline.entry.candidate.id],
            None if more is None else run.evaluations(more)[0],
        ),
        None if opened is None else Place(**opened),
    )


def recorded_deciding(run: RecordedRun) -> Deciding:
    """The choice of a recorded run, and what its plan fixed about what becomes of it.

    Raises:
        LedgerError: no winner has been chosen yet.
    """
    choice = next(iter(run.all("choice")), None)
    if choice is None:
        raise LedgerError(f"{run.directory}: no winner has been chosen yet; resume the campaign")
    result = recorded_pool(run)
    winner, _ = recorded_choice(run)
    baseline = standing(result.pool[0])
    first = nearest(run, choice, "baseline")
    (before,) = run.evaluations(first)
    registered, student = run.events[0].body, run.plan["student"]
    return Deciding(
        gate=GatePlan.model_validate(run.plan["gate"]),
        guardrails=run.plan["guardrails"],
        shape=student["shape"],
        samples=student["samples"],
        plan_hash=registered["plan_hash"],
        setting=Setting(
            baseline=baseline,
            lock=run.lock,
            exploratory=exploratory_reason(run.events),
            simulated=registered["simulated"],
            proposed=result.proposals,
            accepted=len(result.pool) - 1,
            noise=noise_floor(before),
            clean={
                "accept": clean_counts(baseline.entry.accept.examples),
                "heldout": clean_counts(before.examples),
            },
            hashes={
                "plan": registered["plan_hash"],
                "lock": run.lock.hash,
                "corpus": registered["corpus_hash"],
                "student": first.body["student"],
            },
            studied=None if (studied := run.plan.get("studied")) is None else StudiedPlan.model_validate(studied),
        ),
        winner=winner,
    )


def recorded_gate(run: RecordedRun) -> Gate:
    """The gate that the plan fixed, at the lock's alpha.

    Raises:
        LedgerError: it reads the noise of a baseline that was not measured yet.
    """
    (before,) = run.evaluations(nearest(run, run.events[-1], "baseline"))
    return gate_of(
        GatePlan.model_validate(run.plan["gate"]),
        run.plan["guardrails"],
        alpha=run.lock.spend,
        family_alpha=run.lock.alpha,
        noise=noise_floor(before),
    )
