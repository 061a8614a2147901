from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from optimize.recompute import load_run

Holdgate = Callable[..., tuple[int, str, str]]


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def plan(finished_run: Path, tmp_path: Path) -> Path:
    """A plan with the corpus and the lock of the finished run."""
    path = tmp_path / "plan.yaml"
    data = {
        "name": "tiny",
        "corpus": {"bundled": "consults"},
        "splits": {"lock": str(finished_run.parent / "lock.json")},
        "student": {"shape": "per-fact", "model": {"simulated": {}}, "max_facts": 5},
        "baseline": "stated-in-note",
        "search": {"iterations": 1},
    }
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


def test_every_measure_of_the_winner_on_held_out_data_is_shown(holdgate: Holdgate, finished_run: Path) -> None:
    status, out, _ = holdgate("measures", finished_run)
    text = words(out)
    assert status == 0
    assert "run, winner on held-out data" in text
    for said in ("paired discrimination", "AUC", "false alarms", "severity-weighted detection", "coverage"):
        assert said in text
    for part in ("trace: complete", "severity: critical", "kind: omit", "stratum: telephone"):
        assert part in text
    assert "fixed beforehand" in text
    assert "distinct scores among" in text
    assert "SIMULATED judge" in text


def test_the_json_holds_every_row_with_its_method_and_reason(holdgate: Holdgate, finished_run: Path) -> None:
    status, out, _ = holdgate("measures", finished_run, "--arm", "baseline", "--json")
    found = json.loads(out)
    verdict = load_run(finished_run).all("verdict")[0].body["verdict"]
    assert status == 0
    assert (found["split"], found["simulated"], found["candidate"]) == ("heldout", True, verdict["baseline"])
    (row,) = (r for r in found["rows"] if (r["by"], r["part"], r["measure"]) == ("label", "omission", "AUC"))
    assert row["method"].startswith("all couples")
    assert row["low"] < row["value"] < row["high"]
    undefined = [r for r in found["rows"] if r["low"] is None]
    assert undefined
    assert all(r["reason"] for r in undefined)


def test_confounds_are_read_on_accept_from_the_plans_own_corpus(
    holdgate: Holdgate, finished_run: Path, plan: Path
) -> None:
    status, out, _ = holdgate("measures", finished_run, "--split", "accept", "--plan", plan)
    assert status == 0
    assert "length only (more characters are better)" in words(out)
    assert "position only (a difference from the twin in part" in words(out)
    assert "accept is optimistic" in words(out)
    status, _, error = holdgate("measures", finished_run, "--plan", plan)
    assert status == 2
    assert "those of heldout are not read here; give --split accept" in error
    status, _, error = holdgate("measures", finished_run, "--split", "accept", "--plan", "simulated")
    assert status == 2
    assert "its corpus and split lock are not those of" in error


def test_an_unfinished_run_shows_accept_and_no_held_out_number(
    holdgate: Holdgate, finished_run: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(finished_run, tmp_path / "run"))
    lines = (run / "ledger.jsonl").read_text().splitlines(keepends=True)
    (run / "ledger.jsonl").write_text("".join(lines[:-1]))
    status, out, _ = holdgate("measures", run)
    assert status == 0
    assert "winner on accept" in out
    status, _, error = holdgate("measures", run, "--split", "heldout")
    assert status == 2
    assert "is not finished" in error
    chosen = next(place for place, line in enumerate(lines) if json.loads(line)["type"] == "choice")
    (run / "ledger.jsonl").write_text("".join(lines[:chosen]))
    status, _, error = holdgate("measures", run, "--arm", "winner")
    assert status == 2
    assert "has chosen no winner yet" in error
    assert "baseline on accept" in holdgate("measures", run)[1]


def test_a_directory_that_is_no_run_is_named(holdgate: Holdgate, tmp_path: Path) -> None:
    status, _, error = holdgate("measures", tmp_path)
    assert status == 2
    assert "holds no campaign" in error
