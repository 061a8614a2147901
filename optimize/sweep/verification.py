"""The audit of a study's directory: the ledgers of its workers and of its trials, and every number computed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lineage.audit import Finding
from lineage.errors import LedgerError
from lineage.ledger import Event, check_head, read_events
from lineage.records import VOLATILE, stable
from lineage.segments import read_segment
from optimize.sweep.recomputing import check_trial
from optimize.sweep.results import StudyResult
from optimize.sweep.study import WORKERS
from optimize.sweep.worker import TRIALS
from splits.lock import SplitLock


def audit_study(directory: Path, result: StudyResult, lock: SplitLock) -> list[Finding]:
    """Check the chains of all workers and trials on this machine, and every outcome against its trial's judgements.

    An outcome in the database was held against its worker's ledger when the result was read. Trials of workers on
    other machines are checked there.

    Args:
        directory: of the study.
        result: of the study.
        lock: its split lock.

    Returns:
        Findings; without an ``error`` among them the directory is what its ledgers say.
    """
    found: list[Finding] = []
    outcomes: dict[str, Mapping[str, Any]] = {}
    for path in sorted((directory / WORKERS).glob("*/ledger.jsonl")):
        place = f"{WORKERS}/{path.parent.name}"
        events = _events(path, place, found)
        outcomes |= {event.hash: event.body for event in events if event.type == "trial"}
    for trial in result.trials:
        path = directory / TRIALS / f"{trial.number:04d}" / "ledger.jsonl"
        place = f"{TRIALS}/{trial.number:04d}"
        recorded = None if trial.event is None else outcomes.get(trial.event)
        if not path.exists():
            if recorded is not None and trial.state != "failed":
                found.append(Finding("error", place, "a trial that was recorded here has no ledger"))
            continue
        events = _events(path, place, found)
        found += _of_trial(events, path.parent, place, recorded)
        if any(event.type == "finished" for event in events):
            for finding in check_trial(path.parent, events, objectives=result.objectives, unit=result.unit, lock=lock):
                found.append(replace(finding, place=f"{place} {finding.place}"))
    return found


def _events(path: Path, place: str, found: list[Finding]) -> tuple[Event, ...]:
    """The events of a ledger; none where it is damaged, which is a finding."""
    try:
        events = read_events(path)
        check_head(path, events, repairing=True)
    except LedgerError as error:
        found.append(Finding("error", place, str(error)))
        return ()
    return events


def _of_trial(
    events: tuple[Event, ...], directory: Path, place: str, recorded: Mapping[str, Any] | None
) -> Iterator[Finding]:
    finished = next((event for event in events if event.type == "finished"), None)
    for event in events:
        if event.type == "seal_opened" or event.body.get("split") == "heldout":
            yield Finding("error", f"{place} seq {event.seq}", "a trial reads held-out examples")
        if event.type == "evaluation":
            try:
                read_segment(directory / "judgements", event.body["segment"])
            except LedgerError as error:
                yield Finding("error", f"{place} seq {event.seq}", str(error))
    if recorded is None or recorded["outcome"]["state"] == "failed":
        return
    said = {name: value for name, value in recorded["outcome"].items() if name != VOLATILE}
    if finished is None:
        yield Finding("error", place, "its worker recorded an outcome, and its ledger has none")
    elif stable(finished.body["outcome"]) != stable(said):
        yield Finding("error", place, "its outcome is not the one that its worker recorded")
    elif finished.hash != recorded["outcome"][VOLATILE]["head"]:
        yield Finding("error", place, "its ledger is not the one that its worker recorded the outcome of")
