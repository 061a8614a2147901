"""A ledger is read as it grows, verified, and never locked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.watch import LedgerTail
from lineage.errors import LedgerError
from lineage.ledger import Ledger, read_events

Playback = tuple[Path, Callable[[int], None]]


def test_only_what_is_new_is_read(playback: Playback, finished_run: Path) -> None:
    directory, to = playback
    events = read_events(finished_run / "ledger.jsonl")
    tail = LedgerTail(directory / "ledger.jsonl")
    to(3)
    assert tail.read() == list(events[:3])
    assert tail.read() == []
    to(len(events))
    assert tail.read() == list(events[3:])


def test_a_line_that_is_being_written_is_left_for_later(playback: Playback) -> None:
    directory, to = playback
    path = directory / "ledger.jsonl"
    to(4)
    whole = path.read_bytes()
    tail = LedgerTail(path)
    path.write_bytes(whole[:-10])
    assert len(tail.read()) == 3
    path.write_bytes(whole)
    assert [event.seq for event in tail.read()] == [3]


def test_a_ledger_that_is_not_there_yet_has_no_events(tmp_path: Path) -> None:
    assert LedgerTail(tmp_path / "ledger.jsonl").read() == []


def test_a_ledger_that_its_process_holds_is_read(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        tail = LedgerTail(path)
        ledger.perform("plan", {"a": 1}, dict)
        assert [event.type for event in tail.read()] == ["plan"]
        ledger.perform("splits", {"b": 2}, dict)
        assert [event.type for event in tail.read()] == ["splits"]


def test_an_edited_event_is_named(playback: Playback) -> None:
    directory, to = playback
    path = directory / "ledger.jsonl"
    to(4)
    lines = path.read_bytes().split(b"\n")
    lines[2] = lines[2].replace(b'"type":"', b'"type":"x', 1)
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(LedgerError, match="event seq 2 was edited"):
        LedgerTail(path).read()


def test_a_ledger_that_shrinks_or_goes_is_told_of(playback: Playback) -> None:
    directory, to = playback
    path = directory / "ledger.jsonl"
    to(4)
    tail = LedgerTail(path)
    tail.read()
    to(2)
    with pytest.raises(LedgerError, match="is shorter than when it was read last"):
        tail.read()
    path.unlink()
    with pytest.raises(LedgerError, match="is gone; the run directory was moved or removed"):
        tail.read()
