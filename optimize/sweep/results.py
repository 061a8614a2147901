"""What came of a study: its trials from their recorded outcomes, the best of them, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lineage.canonical import digest
from lineage.errors import LedgerError
from lineage.ledger import read_events
from lineage.records import stable
from optimize.sweep.inputs import StudyInputs
from optimize.sweep.objectives import GREATEST, CostUnit
from optimize.sweep.plan import Measure
from optimize.sweep.space import Label
from optimize.sweep.spend import Spent, spent
from optimize.sweep.storage import StudyStorage
from optimize.sweep.study import WORKERS
from optimize.sweep.trials import TrialRow, trial_rows

RESULT: Final = "result.json"
"""File of a study's directory that says what came of it."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A trial and what came of it, as the ledger of its worker has it.

    Attributes:
        number: from 1.
        state: ``complete``, ``pruned``, ``failed``, or ``running`` or ``waiting`` where it has no outcome yet.
        parameters: its point; None as long as it is not chosen.
        outcome: the row of its outcome, or None.
        plan_hash: of the campaign plan at its point, or None.
        worker: identity of its worker.
        event: hash of the event of its outcome, in the worker's ledger.
    """

    number: int
    state: str
    parameters: Mapping[str, Label] | None
    outcome: Mapping[str, Any] | None
    plan_hash: str | None
    worker: str
    event: str | None

    @property
    def values(self) -> Mapping[str, float]:
        """Its objectives; those of a trial that is not complete are of its baseline on a part of accept, or none."""
        reading = None if self.outcome is None else self.outcome["reading"]
        return {} if reading is None else {name: v for name, v in reading["values"].items() if v is not None}

    @property
    def reason(self) -> str:
        """Why it was pruned or failed."""
        return "" if self.outcome is None else str(self.outcome["reason"])

    @property
    def candidates(self) -> int:
        """Prompts that it looked at."""
        return 0 if self.outcome is None else int(self.outcome["candidates"])

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "trial": self.number,
            "state": self.state,
            "parameters": None if self.parameters is None else dict(self.parameters),
            "outcome": None if self.outcome is None else stable(self.outcome),
            "plan_hash": self.plan_hash,
            "worker": self.worker,
            "event": self.event,
        }


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What came of a study so far.

    Every number of it is of accept, where each search chose its winner, and where the best trial is the best of many:
    it is optimistic twice, and only a campaign on held-out groups confirms anything.

    Attributes:
        name: of the study.
        fingerprint: of the study.
        objectives: in order.
        unit: of the cost.
        planned: trials that it is to have.
        trials: those that were begun, in order.
        spend: what all workers together paid for.
        simulated: whether any judge of it is a formula.
    """

    name: str
    fingerprint: str
    objectives: tuple[Measure, ...]
    unit: CostUnit
    planned: int
    trials: tuple[TrialResult, ...]
    spend: Spent
    simulated: bool

    def of(self, state: str) -> tuple[TrialResult, ...]:
        """The trials of a state."""
        return tuple(trial for trial in self.trials if trial.state == state)

    @property
    def finished(self) -> bool:
        """Whether every planned trial has an outcome."""
        done = sum(trial.outcome is not None for trial in self.trials)
        return done >= self.planned and done == len(self.trials)

    @property
    def candidates(self) -> int:
        """Prompts that were looked at, over all trials; of trials of equal plans, those of the one that saw most."""
        counted: dict[str, int] = {}
        for trial in self.trials:
            name = trial.plan_hash or f"trial {trial.number}"
            counted[name] = max(counted.get(name, 0), trial.candidates)
        return sum(counted.values())

    @property
    def ranked(self) -> tuple[TrialResult, ...]:
        """Complete trials, best first by the first objective, then by the next, then the earlier."""
        return tuple(sorted(self.of("complete"), key=lambda trial: (*self._losses(trial), trial.number)))

    @property
    def front(self) -> tuple[TrialResult, ...]:
        """Complete trials that none is better than in one objective without being worse in another, in rank."""
        losses = {trial.number: self._losses(trial) for trial in self.of("complete")}
        return tuple(
            trial
            for trial in self.ranked
            if not any(_dominates(other, losses[trial.number]) for other in losses.values())
        )

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "study": self.name,
            "fingerprint": self.fingerprint,
            "simulated": self.simulated,
            "objectives": list(self.objectives),
            "unit": self.unit,
            "planned": self.planned,
            "finished": self.finished,
            "counts": {state: len(self.of(state)) for state in ("complete", "pruned", "failed", "running", "waiting")},
            "candidates": self.candidates,
            "front": [trial.number for trial in self.front],
            "ranking": [trial.number for trial in self.ranked],
            "spend": self.spend.row(),
            "trials": [trial.row() for trial in self.trials],
        }

    def _losses(self, trial: TrialResult) -> tuple[float, ...]:
        values = trial.values
        return tuple(
            -values.get(name, -math.inf) if name in GREATEST else values.get(name, math.inf) for name in self.objectives
        )


def read_result(
    inputs: StudyInputs, storage: StudyStorage, *, directory: Path, fingerprint: str, simulated: bool
) -> StudyResult:
    """What came of a study, from its recorded outcomes, each held against the ledger of its worker where that is here.

    Args:
        inputs: what the study is about.
        storage: of the study.
        directory: of the study on this machine.
        fingerprint: of the study.
        simulated: whether any judge of it is a formula.

    Raises:
        LedgerError: an outcome in the database is not the one that its worker recorded.
    """
    known = recorded_events(directory)
    trials = tuple(_result(row, known, storage, inputs.space.order) for row in trial_rows(storage))
    plan = inputs.plan
    return StudyResult(
        plan.name, fingerprint, plan.objectives, inputs.unit, inputs.trials, trials, spent(storage), simulated
    )


def recorded_events(directory: Path) -> dict[str, dict[int, Mapping[str, Any]]]:
    """The events of the workers on this machine, by worker and place, with their chains verified.

    Raises:
        LedgerError: naming what was damaged.
    """
    found: dict[str, dict[int, Mapping[str, Any]]] = {}
    for path in sorted((directory / WORKERS).glob("*/ledger.jsonl")):
        if events := read_events(path):
            found[events[0].hash] = {event.seq: event.row() for event in events}
    return found


def _result(
    row: TrialRow,
    known: Mapping[str, Mapping[int, Mapping[str, Any]]],
    storage: StudyStorage,
    order: tuple[str, ...],
) -> TrialResult:
    parameters = (
        None if row.parameters is None else {path: row.parameters[path] for path in order if path in row.parameters}
    )
    if row.record is None:
        return TrialResult(row.number, row.state, parameters, None, None, row.worker, None)
    record = row.record
    content = {name: value for name, value in record.items() if name != "hash"}
    here = known.get(row.worker)
    if digest(content) != record["hash"] or (here is not None and here.get(record["seq"]) != record):
        raise LedgerError(
            f"{storage.words}: the outcome of trial {row.number} is not the one that its worker recorded (edited); "
            "restore the database, or rely on the ledgers of the workers alone"
        )
    body = record["body"]
    outcome, chosen = body["outcome"], {path: body["parameters"][path] for path in order if path in body["parameters"]}
    return TrialResult(row.number, outcome["state"], chosen, outcome, body["plan_hash"], row.worker, record["hash"])


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(mine <= theirs for mine, theirs in pairs) and any(mine < theirs for mine, theirs in pairs)
