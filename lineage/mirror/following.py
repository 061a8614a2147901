"""Following a run directory event by event as it runs, or afterwards from its ledger."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from lineage.imported import IMPORTED
from lineage.ledger import OPERATIONAL, Event, _read
from lineage.mirror.campaign import CampaignWriter
from lineage.mirror.directory import DirectoryWriter
from lineage.mirror.judging import KIND, JudgingWriter
from lineage.mirror.layout import TOP
from lineage.mirror.store import MirrorError, RunStore
from lineage.records import VOLATILE

Status = Literal["FINISHED", "FAILED", "KILLED"]
FIRST: Final = ("plan", "experiment", IMPORTED)
"""Types of the first event of what can be mirrored."""
LOCK: Final = "mlflow.lock"
NOISE: Final = "noise.json"
"""The result of a measurement of noise, whose ledger does not say that it has finished."""
PATIENCE_S: Final = 120.0
"""Seconds that one who would write waits for another to end."""
EVENTS: Final = 200
"""Events after which what was logged is sent, and how far it is mirrored is kept."""
WAITING: Final = frozenset({"reflection", "candidate", "contamination", "evaluation", "measured"})
"""Events of a proposal whose outcome comes next: what they log is sent with it, at once."""
OUTCOMES_S: Final = 1.0
"""Seconds between two sendings of outcomes, where they come quickly; every other event is sent at once."""


class MlflowMirror:
    """Mirrors the events of one run directory, as they come, into one run and its child runs.

    Every event may come again: those mirrored before cost nothing, and a resumed campaign goes on in the same runs.
    Everything written has its event's time and place, so that writing it twice changes nothing. What a proposal's
    events log is sent with its outcome, and outcomes that come quickly are sent together; :meth:`send` waits for
    nothing. Use it from one thread, and one process at a time. After a `MirrorError` it takes events and writes no
    more: :func:`sync` does the rest.

    Args:
        tracking_uri: MLflow's tracking address, such as ``sqlite:////abs/path/mlflow.db``.
        experiment: name of the experiment; created where there is none, with its artifacts beside a local store.
        directory: the run directory, whose ``mlflow.json`` keeps what has been mirrored.
        beneath: MLflow's id of a run that the directory's own run is to be a child of, or None.
    """

    def __init__(self, tracking_uri: str, *, experiment: str, directory: Path, beneath: str | None = None) -> None:
        self._directory = directory
        self._store = RunStore(tracking_uri, experiment=experiment, directory=directory, beneath=beneath)
        self._writer: DirectoryWriter | None = None
        self._waiting: list[Event] = []
        self._last: Event | None = None
        self._stopped: str | None = None
        self._failed = False
        self._unsent: Event | None = None
        self._due = 0.0

    @property
    def run_id(self) -> str | None:
        """MLflow's id of the directory's run; None before its first event is mirrored."""
        return self._store.run_id

    def event(self, event: Event) -> None:
        """Mirror one event; every event is to come, in order, those of earlier processes included.

        Raises:
            MirrorError: the store cannot be written, or the events are of something that has no mirror.
            LedgerError: a judgement segment that belongs to the event is damaged.
        """
        self.events([event])

    def events(self, events: Sequence[Event]) -> None:
        """Mirror events as :meth:`event` does, together."""
        for event in events:
            if event.type in OPERATIONAL:
                self._stopped = event.body[VOLATILE].get("reason") if event.type == "stopped" else None
                continue
            if event.seq == 0:
                self._begin(event)
            self._waiting.append(event)
            self._last = event
        if self._last is not None and self._last.seq >= self._store.state["mirrored"]:
            early = self._last.type == "outcome" and time.monotonic() < self._due
            self._call(self._catch_up if early or self._last.type in WAITING else self._all)

    def resume(self) -> None:
        """Say that what an earlier process left is running again.

        Raises:
            MirrorError: the store cannot be written.
        """
        if self._last is not None and self._last.type != "finished":
            self._call(self._all)

    def send(self) -> None:
        """Send what was logged and waits.

        Raises:
            MirrorError: the store cannot be written.
        """
        if self._unsent is not None:
            self._call(self._sent)

    def close(self, status: Status) -> None:
        """Say how the process ended: ``FAILED`` or ``KILLED`` is noted on runs that are open; a finished one stays so.

        ``FINISHED`` notes nothing: that is the ledger's ``finished`` event to say.

        Raises:
            ValueError: the status is not one of MLflow's final ones.
            MirrorError: the store cannot be written.
        """
        if status not in ("FINISHED", "FAILED", "KILLED"):
            raise ValueError(f"status must be FINISHED, FAILED or KILLED, got {status!r}")
        if status != "FINISHED":
            self._end(status)

    def _end(self, status: Status) -> None:
        last = self._last
        if last is None or last.type == "finished":
            return

        def end() -> None:
            self._all()
            self._store.log(TOP, last, tags={"stopped": self._stopped})
            self._store.end_open(status, last)
            self._store.keep()

        self._call(end)

    def _begin(self, event: Event) -> None:
        if event.type not in FIRST:
            raise MirrorError(
                f"{self._directory}: begins with {event.type!r}, which has no mirror; mirror a campaign, a judging "
                "run, a crossed experiment, or a study by its directory"
            )
        self._store.follow(event.hash)
        judging = event.body.get("kind") == KIND
        self._writer = (JudgingWriter if judging else CampaignWriter)(self._store, self._directory)

    def _call(self, step: Callable[[], None]) -> None:
        if self._failed:
            return
        self._failed = True
        self._store.call(step)
        self._failed = False

    def _catch_up(self) -> None:
        """Mirror every event that has come and is not mirrored yet."""
        assert self._writer is not None, "the first event comes first"
        waiting, self._waiting = self._waiting, []
        mirrored = self._store.state["mirrored"]
        for count, event in enumerate(waiting, start=1):
            self._writer.observe(event)
            if event.seq >= mirrored:
                self._writer.mirror(event)
            self._writer.after(event)
            if event.seq >= mirrored:
                self._unsent = event
                if count % EVENTS == 0:
                    self._sent()

    def _all(self) -> None:
        self._catch_up()
        self._sent()

    def _sent(self) -> None:
        if self._unsent is not None:
            self._store.flush()
            self._store.state["mirrored"] = self._unsent.seq + 1
            self._store.keep()
            self._unsent, self._due = None, time.monotonic() + OUTCOMES_S


def sync(ledger_path: Path, *, tracking_uri: str, experiment: str, beneath: str | None = None) -> str | None:
    """Mirror a finished or interrupted run from its run directory, and return MLflow's id of its run.

    What is there already stays as it is. A run that has not finished is noted as ``FAILED`` where a limit or an error
    of the calls stopped it, and as ``KILLED`` where nothing says what did.

    Args:
        ledger_path: its ledger.
        tracking_uri: as in `MlflowMirror`.
        experiment: as in `MlflowMirror`.
        beneath: as in `MlflowMirror`.

    Raises:
        MirrorError: the store cannot be written, or the campaign is running: its own process mirrors it.
        LedgerError: the ledger or a segment is damaged.
    """
    directory = ledger_path.parent
    with (directory / "run.lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise MirrorError(f"{directory}: the campaign is running; sync it when it has ended") from error
        with alone(directory):
            events, _ = _read(ledger_path)  # an unfinished last line is the next process's to repair
            mirror = MlflowMirror(tracking_uri, experiment=experiment, directory=directory, beneath=beneath)
            mirror.events(events)
            mirror.send()
            ended = [event.type for event in events if event.type in ("finished", "stopped", "resumed")]
            if (directory / NOISE).exists():
                mirror._end("FINISHED")
            elif ended[-1:] != ["finished"]:
                mirror.close("FAILED" if ended[-1:] == ["stopped"] else "KILLED")
            return mirror.run_id


@contextmanager
def alone(directory: Path) -> Iterator[None]:
    """Be the one who mirrors a run directory; another who does is waited for.

    Raises:
        MirrorError: another does not end.
    """
    with (directory / LOCK).open("ab") as lock:
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > until:
                    raise MirrorError(
                        f"{directory}: another process is mirroring it; sync it when it has ended"
                    ) from error
                time.sleep(0.1)
        yield
