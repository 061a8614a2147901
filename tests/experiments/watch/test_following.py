"""Following ends with the run, and says how it ended."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from experiments.watch import Follower, follow
from experiments.watch.process import RunningProcess
from lineage.errors import LedgerError

Playback = tuple[Path, Callable[[int], None]]
Runs = Callable[[RunningProcess], None]


def plain() -> Console:
    return Console(file=io.StringIO(), width=200, color_system=None)


def said(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("terminal", [False, True])
def test_a_running_campaign_is_followed_to_its_decision(playback: Playback, terminal: bool) -> None:
    directory, to = playback
    count = len((directory / "ledger.jsonl").read_bytes().splitlines())
    left = list(range(2, count + 1))
    to(1)
    console = Console(file=io.StringIO(), width=200, color_system=None, force_terminal=terminal)
    ended = follow(Follower(directory), console, sleep=lambda _: to(left.pop(0)))
    assert ended == "finished"
    assert left == []
    assert "decision: emit" in said(console)


@pytest.mark.usefixtures("runs")
def test_lines_tell_each_outcome_once_and_when(playback: Playback) -> None:
    directory, to = playback
    count = len((directory / "ledger.jsonl").read_bytes().splitlines())
    left = list(range(2, count + 1))
    to(1)
    console = plain()
    follow(Follower(directory), console, sleep=lambda _: to(left.pop(0)))
    lines = said(console).splitlines()
    decided = [line for line in lines if line.startswith("c0") and "  from " in line]
    assert [line.split()[0] for line in decided] == [f"c{number:02d}" for number in range(1, 7)]
    assert sum("seal opened for baseline" in line for line in lines) == 2  # when it happened, and in the last picture


def test_a_run_that_is_killed_ends_the_watching(playback: Playback, runs: Runs, places: dict[str, int]) -> None:
    directory, to = playback
    to(places["candidate"])
    console = plain()
    assert follow(Follower(directory), console, sleep=lambda _: runs(RunningProcess("none"))) == "interrupted"
    assert "interrupted: killed" in said(console)


def test_with_wait_a_run_is_followed_across_its_resumption(
    playback: Playback, runs: Runs, places: dict[str, int]
) -> None:
    directory, to = playback
    to(places["candidate"])
    runs(RunningProcess("none"))
    steps = iter([lambda: None, lambda: runs(RunningProcess("running", 5)), lambda: to(10_000)])
    console = plain()
    assert follow(Follower(directory), console, wait=True, sleep=lambda _: next(steps)()) == "finished"
    assert "running, process 5" in said(console)


def test_where_locks_cannot_be_seen_it_goes_on(playback: Playback, runs: Runs, places: dict[str, int]) -> None:
    directory, to = playback
    to(places["candidate"])
    runs(RunningProcess("unknown"))
    assert follow(Follower(directory), plain(), sleep=lambda _: to(10_000)) == "finished"


@pytest.mark.usefixtures("runs")
def test_a_quiet_run_is_heard_of_now_and_then(playback: Playback, places: dict[str, int]) -> None:
    directory, to = playback
    to(places["candidate"])
    looks = iter(range(45))
    console = plain()
    follow(Follower(directory), console, sleep=lambda _: to(10_000) if next(looks) == 44 else None)
    assert sum("calibrate: measuring the baseline on accept" in line for line in said(console).splitlines()) == 3


@pytest.mark.usefixtures("runs")
def test_a_run_directory_that_goes_away_ends_the_watching(playback: Playback, places: dict[str, int]) -> None:
    directory, to = playback
    to(places["candidate"])
    with pytest.raises(LedgerError, match="is gone"):
        follow(Follower(directory), plain(), sleep=lambda _: (directory / "ledger.jsonl").unlink())
