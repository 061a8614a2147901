"""Campaigns killed at random moments and after every event: nothing completed is paid twice, and each ends as if never
interrupted.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from experiments import load_plan
from lineage import canonical_state, read_events
from lineage.audit import audit_ledger
from optimize import Campaign
from optimize.recompute import audit_numbers

KILLS = 50
CONCURRENCY = 4

# What a campaign needs is imported and read once; each attempt is a process of its own, forked from there. A number
# above 0 ends it by SIGKILL before so many writes of it are made durable, one below 0 after its first new event.
RUNNER = """
import os, signal, sys, traceback
from pathlib import Path
import gepa, gepa.api
from experiments import load_plan
from lineage.ledger import OPERATIONAL, Ledger
from optimize import Campaign

loaded = load_plan(sys.argv[1])

def attempt(moment):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    durable, count = os.fsync, iter(range(1, 10**9))
    def fsync(file):
        if next(count) == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        durable(file)
    os.fsync = fsync
    append = Ledger._append
    def appended(self, kind, body):
        event = append(self, kind, body)
        if moment < 0 and kind not in OPERATIONAL:
            os.kill(os.getpid(), signal.SIGKILL)
        return event
    Ledger._append = appended
    Campaign(
        loaded.plan, loaded.corpus, loaded.lock, Path(sys.argv[2]), baseline=loaded.baseline, seeds=loaded.seeds
    ).run()

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            attempt(int(line))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@contextmanager
def attempts(plan: Path, out: Path, errors: Path) -> Iterator[Callable[[int], tuple[int, Callable[[], int]]]]:
    """A function that starts an attempt and returns its process and how to wait for its exit status."""
    with errors.open("w") as said:
        command = [sys.executable, "-c", RUNNER, str(plan), str(out)]
        runner = subprocess.Popen(
            command, cwd=out.parent.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True
        )
        assert runner.stdin is not None
        assert runner.stdout is not None
        to, back = runner.stdin, runner.stdout

        def start(moment: int) -> tuple[int, Callable[[], int]]:
            to.write(f"{moment}\n")
            to.flush()
            return int(back.readline()), lambda: int(back.readline())

        try:
            yield start
        finally:
            to.close()
            runner.wait(timeout=60)
            back.close()


def stored(cache: Path) -> Counter[str]:
    """Prompts of the calls that are completed, each as often as it was stored."""
    if not cache.exists():
        return Counter()
    with contextlib.closing(sqlite3.connect(cache)) as database:
        try:
            rows = database.execute("SELECT request FROM calls").fetchall()
        except sqlite3.OperationalError:  # killed before it made its tables
            return Counter()
    found = (json.loads(row)["messages"] for (row,) in rows)
    sent = ([{"role": said["role"], "content": said["content"]} for said in messages] for messages in found)
    return Counter(json.dumps(messages, ensure_ascii=False) for messages in sent)


class Killer:
    """Kills a process a moment after the endpoint got a request of some number.

    The endpoint calls it with each request's number before it is answered.
    """

    def __init__(self, number: int, wait_s: float) -> None:
        self._number, self._wait_s = number, wait_s
        self._process = 0
        self._armed, self._struck = threading.Event(), threading.Event()

    def aim(self, process: int) -> None:
        self._process = process
        self._armed.set()

    def __call__(self, number: int) -> None:
        if number < self._number or self._struck.is_set():
            return
        self._struck.set()
        self._armed.wait(10)
        time.sleep(self._wait_s)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)


def settled(prompts: list[str]) -> int:
    """Requests that came, when no more of them come from a process that is dead."""
    count = -1
    while count != len(prompts):
        count = len(prompts)
        time.sleep(0.02)
    return count


@pytest.mark.integration
def test_a_campaign_killed_at_fifty_random_moments_pays_for_nothing_twice_and_ends_as_if_never_interrupted(
    make_plan: Callable[..., Path], tmp_path: Path, judge_endpoint: Any
) -> None:
    model = {"endpoint": judge_endpoint.url, "name": "judge", "concurrency": CONCURRENCY}
    search = {"iterations": 6, "minibatch_groups": 2, "seed": 1}
    plan = make_plan(student={"shape": "per-fact", "model": model, "max_facts": 2}, search=search)
    whole, out = tmp_path / "whole" / "run", tmp_path / "killed" / "run"
    loaded = load_plan(str(plan))
    Campaign(loaded.plan, loaded.corpus, loaded.lock, whole, baseline=loaded.baseline).run()
    prompts, cache = judge_endpoint.prompts, out.parent / "calls.sqlite"
    planned = Counter(prompts)
    assert planned == stored(whole.parent / "calls.sqlite")
    (plan.parent / "split.lock.register.jsonl").unlink()
    prompts.clear()

    draw = random.Random(11)
    errors = tmp_path / "errors.txt"
    out.parent.mkdir()
    kills = lost = 0
    status = -signal.SIGKILL
    with attempts(plan, out, errors) as start:
        while status != 0:
            completed, before = stored(cache), len(prompts)
            killer = Killer(before + draw.randint(1, 6), draw.choice([0.0, 0.0, 0.001, 0.003]))
            by_request = draw.random() < 0.5
            moment = 0 if by_request or kills == KILLS else draw.randint(1, 26)
            judge_endpoint.before = killer if by_request and kills < KILLS else lambda number: None
            process, ended = start(moment)
            killer.aim(process)
            status = ended()
            assert status in (0, -signal.SIGKILL), errors.read_text()
            kills += status != 0
            asked = Counter(prompts[before : settled(prompts)])
            assert asked <= planned - completed, "no completed call is asked again"
            in_flight = asked.total() - (stored(cache) - completed).total()
            assert 0 <= in_flight <= (0 if status == 0 else CONCURRENCY), "only calls in flight at a kill are lost"
            lost += in_flight
    assert kills == KILLS
    assert stored(cache) == planned
    assert len(prompts) == planned.total() + lost
    with contextlib.closing(sqlite3.connect(cache)) as database:
        most = database.execute("SELECT max(times) FROM (SELECT count(*) AS times FROM paid GROUP BY key)").fetchone()
    assert most == (1,)
    assert canonical_state(read_events(out / "ledger.jsonl")) == canonical_state(read_events(whole / "ledger.jsonl"))
    assert [finding for finding in audit_ledger(out) if finding.severity == "error"] == []


def paid_calls(cache: Path) -> Counter[str]:
    """Calls that were paid for, by key."""
    with contextlib.closing(sqlite3.connect(cache)) as database:
        return Counter(key for (key,) in database.execute("SELECT key FROM paid"))


@pytest.mark.integration
def test_a_search_with_everything_killed_after_each_of_its_events_ends_as_if_never_interrupted(
    make_plan: Callable[..., Path], tmp_path: Path
) -> None:
    search = {
        "iterations": 5,
        "parallel": 2,
        "minibatch_groups": 1,
        "seed": 3,
        "merge": {"from_candidates": 3, "at_most": 3, "chance": 0.8},
        "seeds": ["engineered"],
        "frontier": "both",
        "rare_traces": True,
    }
    plan = make_plan(
        student={"shape": "per-fact", "model": {"simulated": {"noise": 2.0}}, "max_facts": 2}, search=search
    )
    whole, out = tmp_path / "whole" / "run", tmp_path / "killed" / "run"
    loaded = load_plan(str(plan))
    Campaign(loaded.plan, loaded.corpus, loaded.lock, whole, baseline=loaded.baseline, seeds=loaded.seeds).run()
    events = read_events(whole / "ledger.jsonl")
    kinds = Counter(event.body["kind"] for event in events if event.type == "candidate")
    outcomes = Counter(event.body["outcome"] for event in events if event.type == "outcome")
    assert kinds["seed"] == 2
    assert kinds["merge"] >= 2
    assert min(outcomes[name] for name in ("accepted", "rejected", "invalid")) >= 1

    kills = 0
    out.parent.mkdir()
    errors = tmp_path / "errors.txt"
    with attempts(plan, out, errors) as start:
        status = -signal.SIGKILL
        while status != 0:
            _, ended = start(-1)
            status = ended()
            assert status in (0, -signal.SIGKILL), errors.read_text()
            kills += status != 0
    again = read_events(out / "ledger.jsonl")
    assert kills == len(events), "one kill an event"
    assert sum(event.type == "resumed" for event in again) == kills
    assert canonical_state(again) == canonical_state(events)
    paid = paid_calls(out.parent / "calls.sqlite")
    assert paid == paid_calls(whole.parent / "calls.sqlite")
    assert set(paid.values()) == {1}
    assert [finding for finding in (*audit_ledger(out), *audit_numbers(out)) if finding.severity == "error"] == []
    assert (out / "verdict.json").is_file()
