"""``holdgate judge`` and ``holdgate compare``."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import JUDGES

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., Path]:
    """Write a judging plan; keyword arguments replace parts of it."""

    def make(**changes: Any) -> Path:
        path = tmp_path / "plan.yaml"
        path.write_text(yaml.safe_dump(JUDGES | changes), encoding="utf-8")
        return path

    return make


def test_a_run_prints_and_stores_the_table_and_every_score(
    holdgate: Run, plan: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    status, said, _ = holdgate("judge", plan(), "--out", out)
    assert status == 0
    assert "4 judges on 24 documents of 6 groups of the corpus, 1 replicate(s): at most 96 calls" in said
    assert "word-overlap" in said
    assert "were compared on identical examples: 24 documents" in said
    assert "calls: 96 paid, 0 found in the cache" in said
    table = json.loads((out / "table.json").read_text())
    markdown = (out / "table.md").read_text()
    assert markdown.startswith("# Judges of judges\n\n- Whole-note designs, per-fact designs and baselines")
    assert f"head {table['ledger_head']['hash']}" in markdown
    with (out / "scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 24
    overlap = next(row for row in rows if row["student"] == "word-overlap" and row["label"] == "omission")
    assert overlap["trace"] == "complete"
    assert (overlap["status"], overlap["flagged"], overlap["calls"]) == ("scored", "", "0")
    assert 0 < float(overlap["score"]) < 1
    status, said, _ = holdgate("audit", out)
    assert (status, "0 errors" in said) == (0, True)


def test_some_students_judge_in_a_directory_of_their_own(
    holdgate: Run, plan: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert holdgate("judge", plan(), "--students", "facts")[0] == 0
    table = json.loads((tmp_path / "runs" / "judges-facts" / "table.json").read_text())
    assert [judge["name"] for judge in table["judges"]] == ["facts", "word-overlap", "sentence-embedding"]
    status, _, error = holdgate("judge", plan(), "--students", "fact")
    assert (status, "has no student 'fact'; it has whole, facts" in error) == (2, True)


def test_a_limit_stops_with_status_3_and_says_what_it_takes_and_the_same_command_goes_on(
    holdgate: Run, plan: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    status, said, error = holdgate("judge", plan(limits={"calls": 30}), "--out", out)
    assert status == 3
    assert "limits.calls = 30 may stop it" in said
    assert "stopped at a limit: limits.calls = 30 would be passed (30 calls paid so far)" in error
    assert "whole 24 calls" in error
    assert "facts 6 calls" in error
    assert "to go on: at most 66 calls more, for facts; limits.calls 96 is enough" in error
    stopped = (out / "stopped.md").read_text()
    assert stopped.startswith("# Stopped: limits.calls\n")
    assert "| facts | 66 |" in stopped
    assert "| limits.calls | 30 | 96 |" in stopped
    status, said, _ = holdgate("judge", plan(limits={"calls": 96}), "--out", out)
    assert (status, "calls: 66 paid" in said) == (0, True)
    assert not (out / "stopped.md").exists()


def test_a_misspelt_plan_and_a_misspelt_key_are_hinted(holdgate: Run, plan: Callable[..., Path]) -> None:
    status, _, error = holdgate("judge", "simulated-judge")
    assert (status, "did you mean 'simulated-judges'?" in error) == (2, True)
    path = plan()
    path.write_text(path.read_text().replace("replicates", "x") + "replicate: 1\n", encoding="utf-8")
    status, _, error = holdgate("judge", path)
    assert (status, "unknown key 'replicate'; did you mean 'replicates'?" in error) == (2, True)


def test_the_schema_is_printed_for_editors(holdgate: Run) -> None:
    status, said, _ = holdgate("judge", "--schema")
    assert status == 0
    assert set(json.loads(said)["required"]) == {"name", "corpus", "students"}
    assert holdgate("judge")[0] == 2


def test_an_instruction_may_be_a_file_beside_the_plan(holdgate: Run, plan: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("Count what is missing.", encoding="utf-8")
    student = {"name": "mine", "shape": "whole-note", "instruction": "mine.md"}
    assert holdgate("judge", plan(students=[student]), "--out", tmp_path / "run")[0] == 0
    assert "Count what is missing." in (tmp_path / "run" / "ledger.jsonl").read_text()
    status, _, error = holdgate("judge", plan(students=[{**student, "instruction": "nothing"}]))
    assert (status, "there is no instruction 'nothing'" in error) == (2, True)


def test_heldout_examples_without_a_reason_are_refused(holdgate: Run, make_plan: Callable[..., Path]) -> None:
    campaign = make_plan()
    changes = {"selection": None, "splits": {"lock": "split.lock.json"}, "split": "heldout"}
    path = campaign.parent / "judges.yaml"
    path.write_text(yaml.safe_dump(JUDGES | changes), encoding="utf-8")
    status, _, error = holdgate("judge", path, "--out", campaign.parent / "run")
    assert status == 2
    assert "give --exploratory REASON" in error
    status, said, _ = holdgate("judge", path, "--out", campaign.parent / "run", "--exploratory", "a look")
    assert (status, "EXPLORATORY" in said) == (0, True)
    status, said, _ = holdgate("audit", campaign.parent / "run")
    assert (status, "its numbers confirm nothing" in said) == (0, True)


def test_two_judges_are_compared_on_screen_and_as_json(holdgate: Run, finished_judging: Path) -> None:
    pair = (f"{finished_judging}:whole", f"{finished_judging}:facts")
    status, said, _ = holdgate("compare", *pair, "--swept", "--union")
    assert status == 0
    assert "Both judged identical examples: 24 documents of 6 groups in 3 replicate(s)" in said
    assert "running both: flagged if either flags" in said
    assert "overlap of what they flag" in said
    status, said, _ = holdgate("compare", *pair, "--json")
    assert status == 0
    found = json.loads(said)
    assert (found["a"]["judge"], found["b"]["judge"], found["union"]) == ("whole", "facts", None)
    assert found["flags"]["reason"] == "whole has no rule of its own"


def test_a_comparison_of_nothing_that_both_scored_says_so_and_is_no_error(
    holdgate: Run, finished_judging: Path, tmp_path: Path
) -> None:
    status, said, _ = holdgate("compare", f"{finished_judging}:whole", f"{finished_judging}:word-overlap", "--union")
    assert status == 0
    assert "What they flag is not compared: whole has no rule of its own; give --swept" in said
    assert "cost of one document" in said


def test_what_is_no_judging_run_is_refused_by_compare(holdgate: Run, finished_judging: Path, tmp_path: Path) -> None:
    status, _, error = holdgate("compare", tmp_path / "nothing", f"{finished_judging}:facts")
    assert (status, "holds no ledger.jsonl" in error) == (2, True)
    copy = Path(shutil.copytree(finished_judging, tmp_path / "copy"))
    segment = copy / "judgements" / "0001-whole.jsonl"
    segment.write_text(segment.read_text().replace("7", "8", 1))
    status, _, error = holdgate("compare", f"{copy}:whole", f"{finished_judging}:facts")
    assert (status, "were edited after they were recorded" in error) == (2, True)


def test_the_report_of_a_judging_run_is_its_table_and_a_page(
    holdgate: Run, finished_judging: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(finished_judging, tmp_path / "copy"))
    status, said, _ = holdgate("report", copy)
    assert status == 0
    names = ("table.md", "scores.csv", "report.html", "report.md")
    assert said.split() == [str(copy / name) for name in names]
    assert (copy / "table.md").is_file()
