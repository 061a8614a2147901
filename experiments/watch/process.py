"""Which process runs a campaign, from the system's own list of locks: the lock itself is never asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

State = Literal["running", "none", "unknown"]
LOCKS: Final = Path("/proc/locks")


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """Whether a process of this machine holds a run directory.

    ``none`` does not say that no other machine runs it, where the directory is shared; ``unknown`` is where the system
    has no list of locks.
    """

    state: State
    pid: int | None = None

    def __str__(self) -> str:
        if self.state == "running":
            return f"running, process {self.pid}"
        if self.state == "none":
            return "no process of this machine runs it"
        return "whether it runs cannot be seen on this system"


def running_process(directory: Path, *, locks: Path = LOCKS) -> RunningProcess:
    """Which process holds the lock of a run directory.

    Args:
        directory: the run directory.
        locks: the system's list of locks.
    """
    try:
        held = locks.read_text(encoding="utf-8")
    except OSError:
        return RunningProcess("unknown")
    try:
        inode = (directory / "run.lock").stat().st_ino
    except OSError:
        return RunningProcess("none")
    for line in held.splitlines():
        parts = line.split()
        if "->" in parts or len(parts) < 6 or parts[1:4] != ["FLOCK", "ADVISORY", "WRITE"]:
            continue
        if parts[5].rpartition(":")[2] == str(inode) and _has_open(int(parts[4]), directory / "run.lock"):
            return RunningProcess("running", int(parts[4]))
    return RunningProcess("none")


def _has_open(pid: int, lock: Path) -> bool:
    """Whether a process has the file open; taken as given where that cannot be looked up.

    Inode numbers are of one file system, and the device that the list names need not be the one that a path shows.
    """
    descriptors = Path(f"/proc/{pid}/fd")
    try:
        return any(one.samefile(lock) for one in descriptors.iterdir() if one.exists())
    except OSError:
        return True
