"""Who runs a directory is read from the system's list of locks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from experiments.watch.process import LOCKS, running_process
from lineage.ledger import Ledger


@pytest.mark.skipif(not LOCKS.is_file(), reason="the system has no /proc/locks")
def test_the_process_that_holds_a_run_is_found_and_not_disturbed(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl"):
        found = running_process(tmp_path)
        assert (found.state, found.pid) == ("running", os.getpid())
    assert running_process(tmp_path).state == "none"


@pytest.mark.skipif(sys.platform != "linux", reason="the list of locks is Linux's")
def test_a_lock_on_another_file_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "run.lock").touch()
    inode = (tmp_path / "run.lock").stat().st_ino
    for line in (
        f"1: POSIX  ADVISORY  WRITE {os.getpid()} fe:00:{inode} 0 EOF",
        f"1: FLOCK  ADVISORY  READ {os.getpid()} fe:00:{inode} 0 EOF",
        f"1: -> FLOCK  ADVISORY  WRITE {os.getpid()} fe:00:{inode} 0 EOF",
        f"1: FLOCK  ADVISORY  WRITE {os.getpid()} fe:00:{inode} 0 EOF",  # of the same number on another device
    ):
        locks = tmp_path / "locks"
        locks.write_text(line + "\n")
        assert running_process(tmp_path, locks=locks).state == "none"


def test_a_run_that_never_began_is_run_by_nobody(tmp_path: Path) -> None:
    locks = tmp_path / "locks"
    locks.touch()
    assert running_process(tmp_path / "nowhere", locks=locks).state == "none"


def test_where_locks_cannot_be_seen_nothing_is_claimed(tmp_path: Path) -> None:
    found = running_process(tmp_path, locks=tmp_path / "no such list")
    assert (found.state, str(found)) == ("unknown", "whether it runs cannot be seen on this system")
