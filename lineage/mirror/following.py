"""Following a campaign event by event as it runs, or afterwards from its ledger."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Literal

from lineage.ledger import OPERATIONAL, Event, _read
from lineage.mirror.events import EventWriter
from lineage.mirror.store import MirrorError, RunStore

Status = Literal["FINISHED", "FAILED", "KILLED"]


class MlflowMirror:
    """Mirrors the events of one campaign, as they come, into one parent run and its child runs.

    Every event may come again: those mirrored before cost nothing, and a resumed campaign goes on in the same runs.
    Everything written has its event's time and place, so that writing it twice changes nothing. Use it from one thread.

    Args:
        tracking_uri: MLflow's tracking address, such as ``sqlite:////abs/path/mlflow.db``.
        experiment: name of the experiment; created where there is none, with its artifacts beside a local store.
        directory: the run directory, whose ``mlflow.json`` keeps what has been mirrored.
    """

    def __init__(self, tracking_uri: str, *, experiment: str, directory: Path) -> None:
        self._store = RunStore(tracking_uri, experiment=experiment, directory=directory)
        self._writer = EventWriter(self._store, directory)
        self._seen: list[Event] = []

    @property
    def run_id(self) -> str | None:
        """MLflow's id of the campaign's run; None before its first event is mirrored."""
        return self._store.run_id

    def event(self, event: Event) -> None:
        """Mirror one event; every event of the campaign is to come, in order, those of earlier processes included.

        Raises:
            MirrorError: the store cannot be written.
            LedgerError: a judgement segment that belongs to the event is damaged.
        """
        if event.type in OPERATIONAL:
            return
        if event.seq == 0:
            self._store.follow(event.hash)
        self._seen.append(event)
        if event.seq >= self._store.state["mirrored"]:
            self._store.call(self._catch_up)

    def close(self, status: Status) -> None:
        """Say how the process ended: ``FAILED`` or ``KILLED`` is noted on runs that are open; a finished one stays so.

        ``FINISHED`` notes nothing: that is the ledger's ``finished`` event to say.

        Raises:
            ValueError: the status is not one of MLflow's final ones.
            MirrorError: the store cannot be written.
        """
        if status not in ("FINISHED", "FAILED", "KILLED"):
            raise ValueError(f"status must be FINISHED, FAILED or KILLED, got {status!r}")
        if status == "FINISHED" or not self._store.state["open"]:
            return
        self._store.call(lambda: self._store.end_open(status))
        self._store.keep()

    def _catch_up(self) -> None:
        """Mirror every event that has come and is not mirrored yet."""
        for place, event in enumerate(self._seen):
            if event.seq >= self._store.state["mirrored"]:
                self._writer.mirror(event, self._seen[: place + 1])
                self._store.state["mirrored"] = event.seq + 1
                self._store.keep()


def sync(ledger_path: Path, *, tracking_uri: str, experiment: str) -> str | None:
    """Mirror a finished or interrupted campaign from its run directory, and return MLflow's id of its run.

    Raises:
        MirrorError: the store cannot be written, or the campaign is running: its own process mirrors it.
        LedgerError: the ledger or a segment is damaged.
    """
    with (ledger_path.parent / "run.lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise MirrorError(f"{ledger_path.parent}: the campaign is running; sync it when it has ended") from error
        events, _ = _read(ledger_path)  # an unfinished last line is the next process's to repair
        mirror = MlflowMirror(tracking_uri, experiment=experiment, directory=ledger_path.parent)
        for event in events:
            mirror.event(event)
        if events and not any(event.type == "finished" for event in events):
            mirror.close("KILLED")
        return mirror.run_id
