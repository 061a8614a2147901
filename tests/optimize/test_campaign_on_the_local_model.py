from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from experiments import load_plan
from lineage import canonical_state, read_events
from optimize import Campaign
from splits import Corpus, Selection, commit_lock, plan_lock
from students.local import DEFAULT_MODEL, find_model

pytestmark = [pytest.mark.model, pytest.mark.integration]

RUNNER = """
import sys
from pathlib import Path
from experiments import load_plan
from optimize import Campaign
loaded = load_plan(sys.argv[1])
Campaign(loaded.plan, loaded.corpus, loaded.lock, Path(sys.argv[2]), baseline=loaded.baseline).run()
"""


@pytest.fixture(scope="module", autouse=True)
def _model() -> None:
    if find_model(DEFAULT_MODEL) is None:
        pytest.skip("the small model is not on this machine; get it with: holdgate model fetch")


def write_plan(place: Path, corpus: Corpus) -> Path:
    """Six groups with one flawed note each, two facts a note, one proposal."""
    place.mkdir()
    lock = plan_lock(
        corpus,
        sizes={"reflect": 2, "accept": 2, "heldout": 2},
        seed=2,
        selection=Selection(groups=6, flawed_per_group=1, seed=2),
    )
    commit_lock(lock, place / "split.lock.json")
    model = {"local": DEFAULT_MODEL.name}
    plan = {
        "name": "tiny",
        "corpus": {"bundled": "consults"},
        "splits": {"lock": "split.lock.json"},
        "student": {"shape": "per-fact", "model": model, "max_facts": 2, "prompt_cache": "exact"},
        "baseline": "stated-in-note",
        "search": {"iterations": 1, "minibatch_groups": 1, "seed": 1},
    }
    path = place / "plan.yaml"
    path.write_text(yaml.safe_dump(plan), encoding="utf-8")
    return path


def paid_calls(cache: Path) -> int:
    if not cache.exists():
        return 0
    with sqlite3.connect(f"file:{cache}?mode=ro", uri=True) as db:
        found: int = db.execute("SELECT count(*) FROM paid").fetchone()[0]
    db.close()
    return found


def test_a_killed_campaign_on_the_real_model_ends_bit_for_bit_as_an_uninterrupted_one(
    tmp_path: Path, consults: Corpus
) -> None:
    plan = write_plan(tmp_path / "plan", consults)
    loaded = load_plan(str(plan))
    whole = tmp_path / "whole" / "run"
    uninterrupted = Campaign(loaded.plan, loaded.corpus, loaded.lock, whole, baseline=loaded.baseline).run()
    (tmp_path / "plan" / "split.lock.register.jsonl").unlink(missing_ok=True)

    out = tmp_path / "killed" / "run"
    command = [sys.executable, "-c", RUNNER, str(plan), str(out)]
    for calls in (5, uninterrupted.paid // 2):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while child.poll() is None and time.monotonic() < deadline:
            try:
                if paid_calls(out.parent / "calls.sqlite") >= calls:
                    break
            except sqlite3.OperationalError:
                pass  # the tables are not there yet
            time.sleep(0.05)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    resumed = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert resumed.returncode == 0, resumed.stderr

    assert paid_calls(out.parent / "calls.sqlite") == uninterrupted.paid, "no judgement is paid twice"
    assert canonical_state(read_events(out / "ledger.jsonl")) == canonical_state(read_events(whole / "ledger.jsonl"))
