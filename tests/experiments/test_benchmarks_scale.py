"""The benchmark of a large run, on a small one: it is genuine, and the commands are measured on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.benchmarks import scale
from experiments.benchmarks.large_run import write_large_run
from lineage.audit import audit_ledger
from lineage.ledger import read_events
from optimize.recompute import audit_numbers


def test_a_large_run_is_genuine(tmp_path: Path) -> None:
    made = write_large_run(tmp_path / "run", candidates=12)
    found = [*audit_ledger(made.directory), *audit_numbers(made.directory)]
    assert {one.severity for one in found} == {"info"}
    events = read_events(made.directory / "ledger.jsonl")
    assert sum(event.type == "candidate" for event in events) == made.candidates == 12
    judged = sum(event.body["segment"]["judgements"] for event in events if event.type == "evaluation")
    assert judged == made.judgements
    assert made.pool >= 1


@pytest.mark.integration
def test_the_script_says_what_it_measured() -> None:
    done = subprocess.run(
        [sys.executable, scale.__file__, "--candidates", "6", "--only", "audit", "--json"],
        env={**os.environ, "PYTHONPATH": str(Path(scale.__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    (cost,) = json.loads(done.stdout)
    assert (cost["command"], cost["status"]) == ("audit", 0)
    assert cost["wall_s"] > 0
    assert cost["peak_mib"] > 10
