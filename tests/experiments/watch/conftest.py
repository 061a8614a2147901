"""A finished run that can be played back event by event, as its process wrote it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.watch.process import RunningProcess
from lineage.ledger import read_events

Played = Callable[[int], None]


@pytest.fixture
def playback(finished_run: Path, tmp_path: Path) -> tuple[Path, Played]:
    """A run directory, and what cuts its ledger to the first so many events."""
    directory = Path(shutil.copytree(finished_run, tmp_path / "runs" / "played"))
    for name in ("verdict.json", "prompt.md", "report.html", "report.md"):
        (directory / name).unlink(missing_ok=True)
    lines = (directory / "ledger.jsonl").read_bytes().splitlines(keepends=True)

    def to(count: int) -> None:
        (directory / "ledger.jsonl").write_bytes(b"".join(lines[:count]))

    return directory, to


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Callable[[RunningProcess], None]:
    """Say which process runs every directory."""

    def say(process: RunningProcess) -> None:
        monkeypatch.setattr("experiments.watch.snapshot.running_process", lambda directory: process)

    say(RunningProcess("running", 77))
    return say


@pytest.fixture
def places(finished_run: Path) -> dict[str, int]:
    """How many events there are up to and with the first of each type, and the last outcome."""
    events = read_events(finished_run / "ledger.jsonl")
    found = {event.type: event.seq + 1 for event in reversed(events)}
    found["last outcome"] = max(event.seq for event in events if event.type == "outcome") + 1
    found["baseline judged"] = next(
        e.seq + 1 for e in events if e.type == "evaluation" and e.body["purpose"] == "baseline"
    )
    return found
