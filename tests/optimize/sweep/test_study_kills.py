"""A study killed at many moments: nothing completed is paid for twice, and it ends as if never interrupted."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from experiments.sweep.loading import load_study
from lineage import canonical_state, read_events
from optimize.sweep import StudyResult
from optimize.sweep.verification import audit_study

KILLS = 14
CONCURRENCY = 3
PRICE = {"prompt_usd_per_million": 1.0, "completion_usd_per_million": 1.0}

# Each attempt is a process of its own, forked from one that has imported everything. A number other than 0 ends it by
# SIGKILL before so many of its durable writes and of its database's transactions.
RUNNER = """
import os, signal, sys, traceback
from pathlib import Path
import gepa, gepa.api
from experiments.sweep.loading import load_study
from optimize.sweep import Study, StudyStorage

loaded = load_study(sys.argv[1])

def attempt(moment):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    durable, begin, count = os.fsync, StudyStorage.begin, iter(range(1, 10**9))
    def counted():
        if next(count) == moment:
            os.kill(os.getpid(), signal.SIGKILL)
    def fsync(file):
        counted()
        durable(file)
    def begun(self):
        counted()
        return begin(self)
    os.fsync, StudyStorage.begin = fsync, begun
    Study(loaded.inputs, loaded.corpus, loaded.lock, Path(sys.argv[2])).work()

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            attempt(int(line))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@contextmanager
def attempts(study: Path, out: Path, errors: Path) -> Iterator[Callable[[int], int]]:
    """A function that makes one attempt and returns its exit status."""
    with errors.open("w") as said:
        command = [sys.executable, "-c", RUNNER, str(study), str(out)]
        runner = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True)
        assert runner.stdin is not None
        assert runner.stdout is not None
        to, back = runner.stdin, runner.stdout

        def make(moment: int) -> int:
            to.write(f"{moment}\n")
            to.flush()
            return int(back.readline())

        try:
            yield make
        finally:
            to.close()
            runner.wait(timeout=60)
            back.close()


def states(out: Path) -> dict[str, str]:
    ledgers = sorted(out.glob("*/*/ledger.jsonl"))
    return {str(path.relative_to(out).parent): canonical_state(read_events(path)) for path in ledgers}


@pytest.mark.integration
def test_a_study_killed_at_random_moments_pays_for_nothing_twice_and_ends_as_if_never_interrupted(
    make_study: Callable[..., Path], work: Callable[..., StudyResult], tmp_path: Path, judge_endpoint: Any
) -> None:
    model = {"endpoint": judge_endpoint.url, "name": "judge", "concurrency": CONCURRENCY, "price": PRICE}
    study = make_study(
        base={
            "student": {"shape": "per-fact", "model": model, "max_facts": 2},
            "search": {"iterations": 2, "minibatch_groups": 1, "seed": 1},
        },
        space={"student.max_facts": [2, 3], "search.seed": [1, 2]},
        pruning={"groups": [2], "reduction": 2},
        limits={"usd": 5.0},
        attempts=KILLS + 1,
        objectives=["paired", "cost"],
    )
    whole, out = tmp_path / "whole" / "study", tmp_path / "killed" / "study"
    uninterrupted = work(study, whole)
    planned = judge_endpoint.answered.copy()
    assert set(planned.values()) == {1}
    judge_endpoint.answered.clear()

    draw, errors, kills = random.Random(7), tmp_path / "errors.txt", 0
    lost = Counter[str]()
    with attempts(study, out, errors) as make:
        status = -signal.SIGKILL
        while status != 0:
            status = make(draw.randint(1, 75) if kills < KILLS else 0)
            assert status in (0, -signal.SIGKILL), errors.read_text()
            kills += status != 0
    assert kills == KILLS
    answered = judge_endpoint.answered
    assert set(answered) == set(planned), "the same calls, whatever happened"
    lost = answered - planned
    assert lost.total() <= KILLS * CONCURRENCY, "only what was under way at a kill is asked again"
    result = work(study, out)
    assert answered == judge_endpoint.answered, "a finished study asks nothing"
    assert states(out) == states(whole)
    assert [trial.values for trial in result.trials] == [trial.values for trial in uninterrupted.trials]
    findings = audit_study(out, result, load_study(str(study)).lock)
    assert [finding for finding in findings if finding.severity == "error"] == []
    spend = result.spend
    assert spend.paid.calls + spend.unanswered.calls >= answered.total(), "nothing that was paid for is forgotten"
