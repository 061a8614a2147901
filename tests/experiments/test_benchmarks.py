from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from experiments.benchmarks import calls, stub
from experiments.benchmarks.peers import CONTENDERS, GROUP, evaluating, judge, notes

pytestmark = pytest.mark.integration


def posted(url: str, content: str) -> Any:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{url}/chat/completions", body), timeout=10) as answer:
        return json.loads(answer.read())


def test_the_stub_answers_after_its_latency_and_counts_what_it_answered() -> None:
    with stub.Stub(0.1) as endpoint:
        start = time.monotonic()
        answer = posted(endpoint.url, "hello")
        assert time.monotonic() - start >= 0.1
        assert answer["choices"][0]["message"]["content"] == "Score: 8"
        assert "[[ ## score ## ]]" in posted(endpoint.url, "answer with [[ ## ")["choices"][0]["message"]["content"]
        assert endpoint.figures().answered == 2


def test_notes_share_their_source_in_groups_and_no_two_are_equal() -> None:
    made = notes(12)
    assert [len(examples) for examples in made.groups.values()] == [GROUP] * 3
    assert len({example.document for example in made.examples}) == 12


def test_our_own_path_pays_for_each_judgement_once_and_replays_it_from_the_cache(tmp_path: Path) -> None:
    with stub.Stub(0.0) as endpoint:
        for directory in ("one", "two"):
            with evaluating(endpoint.url, tmp_path, concurrency=4) as evaluator:
                assert judge(evaluator, notes(8), replicates=2) == 16
            (tmp_path / "run").rename(tmp_path / directory)
        assert endpoint.figures().answered == 16


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, calls.__file__, *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(calls.__file__).parents[2]), "COLUMNS": "160"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_comparison_says_ratios_and_why_a_peer_was_skipped() -> None:
    said = run(
        "--part", "compare", "--only", "holdgate", "--only", "inspect_ai", "--share", "0.04", "--latency", "0.02"
    )
    assert "16 judgements, 16 at once, 20 ms each: ideal 0.02 s" in said
    assert "64 judgements, 64 at once, 20 ms each: ideal 0.02 s" in said
    assert "wall / ideal" in said
    rows = [line for line in said.splitlines() if "│ holdgate" in line]
    assert [row.split("│")[5].strip() for row in rows] == ["16", "64"], "every judgement is a call"
    if importlib.util.find_spec("inspect_ai") is None:
        assert "skipped: inspect_ai is not installed" in said


def test_the_replay_is_said_in_words() -> None:
    assert "replay of 200 cached judgements: " in run("--part", "replay", "--share", "0.02")


def test_memory_is_measured_in_evaluations_of_one_size() -> None:
    with stub.Stub(0.0) as endpoint:
        found = calls.growing(url=endpoint.url, calls=400, concurrency=8, at_once=200)
        assert endpoint.figures().answered == found.scores == 400
    assert found.peak_mib > 10


def test_every_contender_names_the_package_that_it_needs() -> None:
    assert list(CONTENDERS) == ["holdgate", "dspy.Evaluate", "gepa DefaultAdapter", "promptolution", "inspect_ai"]
