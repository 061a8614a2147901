"""A snapshot says how far a run is, and nothing of held-out data before the decision."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from experiments.watch import Follower, Snapshot
from experiments.watch.process import RunningProcess
from experiments.watch.screen import screen
from lineage.canonical import canonical_json, digest
from lineage.ledger import read_events
from lineage.records import VOLATILE, Usage
from optimize.recompute.recorded import load_run, recorded_pool
from students.transport.cache_file import SCHEMA

Playback = tuple[Path, Callable[[int], None]]
Runs = Callable[[RunningProcess], None]


def shown(snapshot: Snapshot, width: int = 120) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(screen(snapshot, console, now=datetime(2030, 1, 1, tzinfo=UTC)))
    return capture.get()


def look(playback: Playback, count: int) -> Snapshot:
    directory, to = playback
    to(count)
    return Follower(directory).look()


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("after", "phase"),
    [
        ("plan", "register"),
        ("candidate", "calibrate"),
        ("measured", "baseline"),
        ("baseline judged", "search"),
        ("choice", "choose"),
        ("verdict", "gate"),
        ("finished", "finished"),
    ],
)
def test_the_phase_is_the_next_step(playback: Playback, places: dict[str, int], after: str, phase: str) -> None:
    assert look(playback, places[after]).phase == phase


@pytest.mark.usefixtures("runs")
def test_no_heldout_result_is_shown_before_the_verdict(
    playback: Playback, places: dict[str, int], finished_run: Path
) -> None:
    events = read_events(finished_run / "ledger.jsonl")
    secrets = set()
    for event in events:
        if event.type == "measured" and event.body["purpose"] != "accept":
            row = event.body["measures"]["omissions"]
            secrets |= {f"{row['value']:.3f}", f"{row['wins']} won"}
        if event.type == "word_overlap":
            secrets.add(f"{event.body['omissions']['all']['value']:.3f}")
    on_accept = {
        f"{event.body['measures']['omissions']['value']:.3f}"
        for event in events
        if event.type == "measured" and event.body["purpose"] == "accept"
    }
    directory, to = playback
    follower = Follower(directory)
    for count in range(1, places["verdict"]):
        to(count)
        snapshot = follower.look()
        text = shown(snapshot)
        assert snapshot.verdict is None
        assert not [secret for secret in secrets - on_accept if secret in text]
        assert "decision" not in text.replace("when the campaign is decided", "")
    to(places["verdict"])
    assert "decision: emit, because" in shown(follower.look())


@pytest.mark.usefixtures("runs")
def test_a_follower_that_looked_at_every_event_sees_what_a_fresh_one_sees(playback: Playback) -> None:
    directory, to = playback
    count = len((directory / "ledger.jsonl").read_bytes().splitlines())
    patient = Follower(directory)
    for number in range(1, count + 1):
        to(number)
        last = patient.look()
    assert last == Follower(directory).look()


@pytest.mark.usefixtures("runs")
def test_the_frontier_is_that_of_the_search(playback: Playback, finished_run: Path) -> None:
    snapshot = Follower(playback[0]).look()
    pool = recorded_pool(load_run(finished_run))
    assert snapshot.frontier is not None
    assert [leader.row.candidate for leader in snapshot.frontier.pool] == [e.candidate.id for e in pool.pool]
    assert [leader.rewards for leader in snapshot.frontier.pool] == [entry.rewards for entry in pool.pool]


@pytest.mark.usefixtures("runs")
def test_the_last_proposals_are_shown_with_their_reasons(playback: Playback, places: dict[str, int]) -> None:
    snapshot = look(playback, places["last outcome"])
    text = shown(snapshot)
    last = snapshot.rows[-1]
    assert last.name in text
    assert last.reason is not None
    assert last.reason in text
    assert f"proposals: {len(snapshot.rows) - 1}, of them" in text
    assert "search: searching, iteration 6 of 6" in text


def test_a_killed_run_is_said_to_be_interrupted_and_how_to_go_on(
    playback: Playback, places: dict[str, int], runs: Runs
) -> None:
    runs(RunningProcess("none"))
    text = shown(look(playback, places["candidate"]), width=400)
    assert "no process of this machine runs it" in text
    assert "interrupted: killed, or run by another machine" in text
    assert f"to go on: holdgate run PLAN --out {playback[0]}" in text


def test_a_run_that_a_limit_stopped_says_which(playback: Playback, places: dict[str, int], runs: Runs) -> None:
    directory, to = playback
    to(places["candidate"])
    events = read_events(directory / "ledger.jsonl")
    usage = Usage(40, 4000, 400, cost_usd=0.5).row()
    limits = {"calls": 40, "tokens": None, "usd": 2.0, "wall_s": None, "student": {"calls": 80}, "reflector": {}}
    body = {
        VOLATILE: {
            "reason": "limits.calls = 40 is reached",
            "limit": "limits.calls",
            "paid": {"student calibrate": usage},
            "unanswered": Usage().row(),
            "limits": limits,
        }
    }
    row = {"seq": len(events), "at": "2026-01-01T00:00:00+00:00", "type": "stopped", "body": body}
    row["prev"] = events[-1].hash
    with (directory / "ledger.jsonl").open("ab") as file:
        file.write(canonical_json({**row, "hash": digest(row)}).encode() + b"\n")
    runs(RunningProcess("none"))
    snapshot = Follower(directory).look()
    text = shown(snapshot)
    assert (snapshot.limit, snapshot.stopped) == ("limits.calls", "limits.calls = 40 is reached")
    assert "stopped: limits.calls = 40 is reached" in text
    assert "|####################| 100%" in text
    assert "|#####               | 25%" in text
    assert "|##########          | 50%" in text


def test_what_is_paid_so_far_is_read_from_the_cache_that_the_run_writes(
    playback: Playback, places: dict[str, int], runs: Runs
) -> None:
    import sqlite3

    directory, to = playback
    to(places["candidate"])
    campaign = read_events(directory / "ledger.jsonl")[0].hash
    insert = "INSERT INTO paid (key, campaign, role, phase, candidate, usage, at) VALUES (?, ?, ?, ?, ?, ?, ?)"
    db = sqlite3.connect(directory.parent / "calls.sqlite", isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript(SCHEMA)
    usage = canonical_json(Usage(1, 100, 10, cost_usd=0.25).row())
    follower = Follower(directory)
    db.execute(insert, ("a", campaign, "student", "calibrate", "", usage, ""))
    db.execute(insert, ("b", "another", "student", "calibrate", "", usage, ""))
    first = follower.look().paid
    db.execute("BEGIN IMMEDIATE")  # the run writes while it is looked at
    db.execute(insert, ("c", campaign, "reflector", "search", "", usage, ""))
    during = follower.look().paid
    db.execute("COMMIT")
    after = follower.look().paid
    db.close()
    assert first is not None
    assert during is not None
    assert after is not None
    assert [paid.total.calls for paid in (first, during, after)] == [1, 1, 2]
    assert after.by_phase["reflector search"] == Usage(1, 100, 10, cost_usd=0.25)


@pytest.mark.usefixtures("runs")
def test_without_a_cache_the_spend_is_said_to_be_unknown(playback: Playback, places: dict[str, int]) -> None:
    assert "spend: not known" in shown(look(playback, places["candidate"]))


@pytest.mark.usefixtures("runs")
def test_a_judging_run_is_followed_by_judge(finished_judging: Path) -> None:
    snapshot = Follower(finished_judging).look()
    assert snapshot.finished
    assert "judging" in snapshot.marks
    assert "judges  simulated  judging  finished" in shown(snapshot)


@pytest.mark.usefixtures("runs")
def test_a_run_that_has_not_begun_is_looked_at(tmp_path: Path) -> None:
    snapshot = Follower(tmp_path / "later").look()
    assert (snapshot.name, snapshot.phase, snapshot.events) == ("later", "register", 0)
    assert "later  register" in shown(snapshot)
