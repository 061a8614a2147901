"""A study of campaign settings in MLflow: its own run, and beneath it that of each trial with its candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from lineage.canonical import pretty_json
from lineage.ledger import Event, _read
from lineage.mirror.following import alone, sync
from lineage.mirror.layout import TOP, flat
from lineage.mirror.store import MirrorError, RunStore
from lineage.records import VOLATILE

WORKERS: Final = "workers"
TRIALS: Final = "trials"
"""Folders of a study's directory: ledgers of its workers, and run directories of its trials."""
COLUMNS: Final = ("trial", "state", "reason", "winner", "words", "candidates", "values", "parameters")


def is_study(directory: Path) -> bool:
    """Whether a directory is a study's."""
    return not (directory / "ledger.jsonl").exists() and any((directory / WORKERS).glob("*/ledger.jsonl"))


def sync_directory(directory: Path, *, tracking_uri: str, experiment: str) -> str | None:
    """Mirror what a directory holds, a run or a study, and return MLflow's id of its run.

    Raises:
        MirrorError: the store cannot be written, something is running in the directory, or it holds neither.
        LedgerError: a ledger or a segment is damaged.
    """
    if is_study(directory):
        return sync_study(directory, tracking_uri=tracking_uri, experiment=experiment)
    if not (directory / "ledger.jsonl").is_file():
        raise MirrorError(f"{directory} holds no run and no study to mirror; name a directory such as runs/quickstart")
    return sync(directory / "ledger.jsonl", tracking_uri=tracking_uri, experiment=experiment)


def sync_study(directory: Path, *, tracking_uri: str, experiment: str) -> str | None:
    """Mirror a study that no worker is at work on, with all its trials, and return MLflow's id of its run.

    Raises:
        MirrorError: the store cannot be written, or a trial is running.
        LedgerError: a ledger or a segment is damaged.
    """
    found = [_read(path)[0] for path in sorted((directory / WORKERS).glob("*/ledger.jsonl"))]
    begun = [events for events in found if events]
    if not begun:
        raise MirrorError(f"{directory}: no worker of the study has recorded anything; run it first")
    first = min((events[0] for events in begun), key=lambda event: event.at)
    body = first.body
    trials = sorted((e for events in begun for e in events if e.type == "trial"), key=lambda e: int(e.body["trial"]))
    with alone(directory):
        store = RunStore(tracking_uri, experiment=experiment, directory=directory)
        store.follow(body["fingerprint"])
        store.call(lambda: _begin(store, first))
        for path in sorted((directory / TRIALS).glob("*/ledger.jsonl")):
            sync(path, tracking_uri=tracking_uri, experiment=experiment, beneath=store.runs[TOP])
        store.call(lambda: _end(store, first, trials))
        store.keep()
        return store.run_id


def _begin(store: RunStore, first: Event) -> None:
    body = first.body
    hashes = {name: body[name] for name in ("fingerprint", "corpus_hash", "lock_hash")}
    version = body.get(VOLATILE, {}).get("holdgate")
    store.open(TOP, f"study {body['study']}", first, {"kind": "study", **hashes, "version": version})
    store.log(TOP, first, params=dict(flat(body["plan"])))
    store.text(TOP, "plan.json", pretty_json(body["plan"]))
    store.text(TOP, "base.json", pretty_json(body["base"]))
    store.flush()


def _end(store: RunStore, first: Event, trials: Sequence[Event]) -> None:
    """A table of what came of the trials; the run ends with the last of them."""
    rows: list[list[Any]] = []
    for event in trials:
        outcome = event.body["outcome"]
        values = (outcome.get("reading") or {}).get("values")
        told = [outcome.get(name) for name in COLUMNS[1:6]]
        rows.append([event.body["trial"], *told, values, event.body["parameters"]])
    store.table(TOP, "trials.json", COLUMNS, rows)
    counts = Counter(str(event.body["outcome"]["state"]) for event in trials)
    last = max(trials, key=lambda event: event.at, default=first)
    store.log(TOP, first, metrics={"trials": len(trials), **{f"trials.{name}": n for name, n in counts.items()}})
    store.end_open("FINISHED", last)
