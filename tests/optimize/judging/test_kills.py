"""A judging run killed at random moments: nothing completed is paid twice, and it ends as if never interrupted."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from experiments.judging import load_judging_plan
from lineage import canonical_state, read_events
from lineage.audit import audit_ledger
from optimize.judging import JudgingRun
from tests.conftest import JUDGES, JudgeEndpoint
from tests.optimize.test_kills import Killer, settled, stored

KILLS = 20
CONCURRENCY = 4

# What a run needs is imported and read once; each attempt is a process of its own, forked from there. A number other
# than 0 ends it by SIGKILL before so many writes of it are made durable.
RUNNER = """
import os, signal, sys, traceback
from pathlib import Path
from experiments.judging import load_judging_plan
from optimize.judging import JudgingRun

loaded = load_judging_plan(sys.argv[1])

def attempt(moment):
    durable, count = os.fsync, iter(range(1, 10**9))
    def fsync(file):
        if next(count) == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        durable(file)
    os.fsync = fsync
    JudgingRun(loaded.plan, loaded.corpus, Path(sys.argv[2]), texts=loaded.texts).run()

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


@pytest.mark.integration
def test_a_judging_run_killed_at_random_moments_pays_for_nothing_twice_and_ends_as_if_never_interrupted(
    tmp_path: Path, judge_endpoint: JudgeEndpoint
) -> None:
    model = {"endpoint": judge_endpoint.url, "name": "judge", "concurrency": CONCURRENCY}
    facts = {"shape": "per-fact", "budget": {"answer_tokens": 1}}
    students = [{"name": "three", "max_facts": 3, **facts}, {"name": "five", "max_facts": 5, **facts}]
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump({**JUDGES, "model": model, "students": students}), encoding="utf-8")
    whole, out = tmp_path / "whole" / "run", tmp_path / "killed" / "run"
    loaded = load_judging_plan(str(path))
    JudgingRun(loaded.plan, loaded.corpus, whole, texts=loaded.texts).run()
    prompts, cache = judge_endpoint.prompts, out.parent / "calls.sqlite"
    planned = Counter(prompts)
    assert planned == stored(whole.parent / "calls.sqlite")
    assert max(planned.values()) == 1, "the calls that two judges share are paid for once"
    prompts.clear()

    draw, kills, lost, status = random.Random(5), 0, 0, -signal.SIGKILL
    out.parent.mkdir()
    with (tmp_path / "errors.txt").open("w") as said:
        command = [sys.executable, "-c", RUNNER, str(path), str(out)]
        runner = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True, env={**os.environ}
        )
        assert runner.stdin is not None
        assert runner.stdout is not None
        try:
            while status != 0:
                completed, before = stored(cache), len(prompts)
                by_request = draw.random() < 0.5
                killer = Killer(before + draw.randint(1, 6), draw.choice([0.0, 0.001, 0.003]))
                judge_endpoint.before = killer if by_request and kills < KILLS else _leave
                moment = 0 if by_request or kills >= KILLS else draw.randint(1, 8)
                runner.stdin.write(f"{moment}\n")
                runner.stdin.flush()
                killer.aim(int(runner.stdout.readline()))
                status = int(runner.stdout.readline())
                assert status in (0, -signal.SIGKILL), (tmp_path / "errors.txt").read_text()
                kills += status != 0
                asked = Counter(prompts[before : settled(prompts)])
                assert asked <= planned - completed, "no completed call is asked again"
                in_flight = asked.total() - (stored(cache) - completed).total()
                assert 0 <= in_flight <= (0 if status == 0 else CONCURRENCY), "only calls in flight are lost"
                lost += in_flight
        finally:
            runner.stdin.close()
            runner.wait(timeout=60)
            runner.stdout.close()
    assert kills == KILLS
    assert stored(cache) == planned
    assert len(prompts) == planned.total() + lost
    with contextlib.closing(sqlite3.connect(cache)) as database:
        most = database.execute("SELECT max(times) FROM (SELECT count(*) AS times FROM paid GROUP BY key)").fetchone()
    assert most == (1,)
    assert canonical_state(read_events(out / "ledger.jsonl")) == canonical_state(read_events(whole / "ledger.jsonl"))
    assert [finding for finding in audit_ledger(out) if finding.severity == "error"] == []


def _leave(number: int) -> None:
    """Answer every request."""
    del number
