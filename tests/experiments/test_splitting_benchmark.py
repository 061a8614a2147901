"""The benchmark of splitting, on a small corpus: every step is taken, and says what it cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.benchmarks import splitting
from splits import SPLITS, load_corpus


def test_the_simulated_corpus_has_its_groups_and_every_kind_of_flaw(tmp_path: Path) -> None:
    notes, facts = splitting.write_simulated(tmp_path, groups=120, per_group=5)
    corpus = load_corpus(notes, facts=facts)
    assert len(corpus.groups) == 120
    assert len(corpus.examples) == 600
    assert {example.flaw for example in corpus.examples} == {"clean", *splitting.FLAWS}
    assert {example.stratum for example in corpus.examples} == {f"stratum-{number}" for number in range(12)}


def test_every_step_is_taken_and_measured(tmp_path: Path) -> None:
    steps, corpus, lock = splitting.take(tmp_path, *splitting.write_simulated(tmp_path, groups=120, per_group=5))
    assert [row.name.partition(":")[0] for row in steps.rows] == ["check", "split", "commit", "verify"]
    assert all(row.wall_s >= 0 and row.peak_mib > 10 for row in steps.rows)
    together = steps.together()
    assert together.wall_s == pytest.approx(sum(row.wall_s for row in steps.rows))
    assert sum(len(lock.splits[name]) for name in SPLITS) == len(corpus.groups) - 50


@pytest.mark.integration
@pytest.mark.parametrize("arguments", [("--json",), ("--near-duplicates",)])
def test_the_script_says_what_it_measured(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, splitting.__file__, "--groups", "120", "--per-group", "5", *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(splitting.__file__).parents[2]), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    if "--json" in arguments:
        assert json.loads(done.stdout)[-1]["name"] == "together"
    else:
        assert "SIMULATED corpus" in done.stdout
        assert "apart: near-duplicate groups" in done.stdout
