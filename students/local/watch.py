"""Run a download in a child process and watch the bytes arrive on disk.

A child process can be stopped at any moment and cannot leave a broken import or a hung thread behind; the size of the
directory it writes into is a measure of progress that every downloader has.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

POLL_S = 0.2
# Lock files and cache tags appear before anything is transferred; a real download is past this size at once.
FIRST_BYTES = 64 * 1024


class Progress(Protocol):
    """Told now and then how far a piece of work is. Drawing it is the caller's business."""

    def __call__(self, done_bytes: int, total_bytes: int, what: str) -> None:
        """``done_bytes`` of ``total_bytes`` are done of the work named ``what``; ``done_bytes`` may restart at 0."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a download may show nothing before it is stopped.

    Args:
        start_s: seconds until the first bytes must have arrived.
        stall_s: seconds without a new byte after that.
    """

    start_s: float
    stall_s: float


@dataclass(frozen=True, slots=True)
class Finished:
    """How a watched command ended.

    Args:
        returncode: exit status; negative for a signal.
        tail: last lines of its output.
        gave_up: why it was stopped before its end, empty if it ended by itself.
    """

    returncode: int
    tail: str
    gave_up: str

    @property
    def failed(self) -> bool:
        """Whether the command was stopped or reported a failure."""
        return bool(self.gave_up) or self.returncode != 0


def run_watched(
    command: Sequence[str],
    *,
    directory: Path,
    log: Path,
    environment: Mapping[str, str],
    on_size: Callable[[int], None],
    patience: Patience | None = None,
) -> Finished:
    """Run ``command`` to its end, reporting the size of ``directory`` in bytes as it grows.

    Args:
        command: program and arguments.
        directory: where the command writes what it downloads.
        log: file for its output; outside ``directory``, which is measured.
        environment: variables set on top of this process' own.
        on_size: told the bytes in ``directory``, several times a second.
        patience: when to give up; ``None`` waits for as long as the command runs.
    """
    gave_up = ""
    with log.open("wb") as output:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env={**os.environ, **environment}
        )
        try:
            seen, changed_at = 0, time.monotonic()
            while True:
                try:
                    child.wait(timeout=POLL_S)
                    break
                except subprocess.TimeoutExpired:
                    size = directory_size(directory)
                if size != seen:
                    on_size(size)
                    # Growth below FIRST_BYTES is bookkeeping and does not extend the wait for the first bytes.
                    if size >= FIRST_BYTES:
                        changed_at = time.monotonic()
                    seen = size
                if patience is not None:
                    started = seen >= FIRST_BYTES
                    limit = patience.stall_s if started else patience.start_s
                    if time.monotonic() - changed_at > limit:
                        gave_up = f"nothing {'more ' if started else ''}arrived within {limit:g} s"
                        break
        finally:
            stop_child(child, grace_s=2.0)
    on_size(directory_size(directory))
    return Finished(returncode=child.returncode, tail=tail_of(log, lines=8), gave_up=gave_up)


def stop_child(child: subprocess.Popen[bytes], *, grace_s: float) -> None:
    """End ``child`` if it still runs: terminate it, and kill it when ``grace_s`` seconds were not enough."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(timeout=grace_s)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def directory_size(directory: Path) -> int:
    """Bytes in the regular files under ``directory``; 0 when it does not exist (yet)."""
    total = 0
    for parent, _, files in os.walk(directory):
        for name in files:
            try:
                total += Path(parent, name).lstat().st_size
            except FileNotFoundError:  # a downloader renamed or removed it since the directory was listed
                continue
    return total


def tail_of(log: Path, *, lines: int) -> str:
    """The last ``lines`` non-empty lines of a log file, as text; empty when there is none."""
    if not log.exists():
        return ""
    text = log.read_bytes()[-64 * 1024 :].decode("utf-8", errors="replace")
    return "\n".join([line for line in text.splitlines() if line.strip()][-lines:])
