"""The mirror in a process of its own, so that no store, slow or broken, slows or fails a campaign.

It reads the campaign's ledger as it grows, and writes from its one thread. If the campaign's process dies without a
word, the pipe between them closes, and the runs end as ``KILLED``.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from lineage.errors import HoldgateError, LedgerError
from lineage.ledger import OPERATIONAL, Event
from lineage.mirror.following import PATIENCE_S, MlflowMirror, Status, alone
from lineage.mirror.store import STATE, MirrorError, RunStore

PROGRAM: Final = "from lineage.mirror.process import main; main()"
POLL_S: Final = 0.2
"""Seconds between two looks at the ledger."""
NICE: Final = 5
"""How far the process stands back where the processor is wanted by others."""


class MirrorProcess:
    """Mirrors a running campaign, as :class:`MlflowMirror` does, from a process of its own.

    It is started by the first event that there is something to do for, and lives until :meth:`close`. A finished
    campaign that is mirrored already starts none.

    Args:
        tracking_uri: as in `MlflowMirror`.
        experiment: as in `MlflowMirror`.
        directory: as in `MlflowMirror`.
        patience_s: seconds that :meth:`close` waits for what is not written yet.
    """

    def __init__(self, tracking_uri: str, *, experiment: str, directory: Path, patience_s: float = PATIENCE_S) -> None:
        self._asked = {"tracking_uri": tracking_uri, "experiment": experiment, "directory": str(directory)}
        self._directory, self._patience_s = directory, patience_s
        self._state = RunStore(tracking_uri, experiment=experiment, directory=directory).state
        self._process: subprocess.Popen[bytes] | None = None
        self._over = False

    @property
    def run_id(self) -> str | None:
        """MLflow's id of the directory's run, as far as it is known; None before its first event is mirrored."""
        try:
            found: str | None = json.loads((self._directory / STATE).read_text(encoding="utf-8"))["run"]
        except (OSError, ValueError, KeyError):
            return None
        return found

    def event(self, event: Event) -> None:
        """Take note that an event is in the ledger; this waits for nothing.

        Raises:
            MirrorError: the mirror stopped, and why; this is said once.
        """
        if event.type in OPERATIONAL or self._over:
            return
        known = self._state["campaign"] == event.hash or event.seq > 0
        whole = known and self._state["status"] == "FINISHED" and event.seq < self._state["mirrored"]
        if self._process is None and not whole:
            self._start()
        elif self._process is not None and self._process.poll() is not None:
            self._stopped(self._process)

    def close(self, status: Status) -> None:
        """Say how the campaign's process ended, and wait for the mirror to come to its end.

        Raises:
            MirrorError: the mirror stopped before, or does not come to its end; this is said once.
        """
        process, self._process = self._process, None
        if process is None or self._over:
            return
        assert process.stdin is not None, "it is a pipe"
        with suppress(BrokenPipeError):  # if it has ended, it says below why
            process.stdin.write(f"{status}\n".encode())
            process.stdin.close()
        try:
            process.wait(self._patience_s)
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.wait()
            self._over = True
            raise MirrorError(
                f"the MLflow store took longer than {self._patience_s:g} seconds for the rest of {self._directory}"
            ) from error
        finally:
            if self._over and process.stdout is not None:
                process.stdout.close()
        self._stopped(process)

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt from the keyboard is the campaign's
        )
        assert self._process.stdin is not None, "it is a pipe"
        with suppress(BrokenPipeError):  # the next event finds that it has ended
            self._process.stdin.write(json.dumps(self._asked).encode() + b"\n")
            self._process.stdin.flush()

    def _stopped(self, process: subprocess.Popen[bytes]) -> None:
        """Say why the mirror ended, if it did not end well."""
        self._over = True
        assert process.stdin is not None, "it is a pipe"
        assert process.stdout is not None, "it is another"
        with suppress(BrokenPipeError):
            process.stdin.close()
        with process.stdout as said:
            problem = said.read().decode("utf-8", "replace").strip()
        if process.returncode != 0:
            raise MirrorError(problem or f"the mirror's process ended with status {process.returncode}")


class _Tail:
    """A ledger as it grows."""

    def __init__(self, path: Path) -> None:
        self._path, self._read, self._rest = path, 0, b""
        self._prev: str | None = None

    def events(self) -> list[Event]:
        """The events that were added since the last look.

        Raises:
            LedgerError: an event does not follow the one before it.
        """
        if self._path.stat().st_size <= self._read:
            return []
        with self._path.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        self._read += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        return list(self._parsed(lines))

    def _parsed(self, lines: list[bytes]) -> Iterator[Event]:
        for line in lines:
            row: dict[str, Any] = json.loads(line)
            event = Event(row["seq"], row["at"], row["type"], row["body"], row["prev"], row["hash"])
            if self._prev is not None and event.prev != self._prev:
                raise LedgerError(f"{self._path}: event seq {event.seq} does not follow the one before it")
            self._prev = event.hash
            yield event


def follow(told: IO[bytes], *, tracking_uri: str, experiment: str, directory: Path) -> None:
    """Mirror a run directory while its ledger grows, until the other process says how it ended, or dies.

    Args:
        told: what the other process writes: at last a status, or nothing.
        tracking_uri: as in `MlflowMirror`.
        experiment: as in `MlflowMirror`.
        directory: as in `MlflowMirror`.

    Raises:
        HoldgateError: with what the mirror cannot go on after.
    """
    with alone(directory):
        mirror = MlflowMirror(tracking_uri, experiment=experiment, directory=directory)
        tail = _Tail(directory / "ledger.jsonl")
        mirror.events(tail.events())
        mirror.resume()
        while not select.select([told], [], [], POLL_S)[0]:
            if found := tail.events():
                mirror.events(found)
            else:
                mirror.send()
        status = told.readline().decode().strip() or "KILLED"
        mirror.events(tail.events())
        mirror.close(status)  # type: ignore[arg-type]  # one of the three, by the type of MirrorProcess.close


def main() -> None:
    """What the process runs: say on standard output what went wrong, in one line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICE)
    told: Any = os.fdopen(sys.stdin.fileno(), "rb", buffering=0)  # unbuffered, so that a look at the pipe sees all
    asked = json.loads(told.readline())
    try:
        follow(told, **{**asked, "directory": Path(asked["directory"])})
    except HoldgateError as error:
        problem = str(error)
    except Exception as error:  # whatever it is, it is told, and the campaign goes on
        problem = f"the mirror stopped: {type(error).__name__}: {error}"
    else:
        return
    sys.stdout.write(problem.replace("\n", " ") + "\n")
    sys.stdout.flush()
    sys.exit(1)
