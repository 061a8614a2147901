"""Every number of a judging run can be computed again from its directory, and a changed one is found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.canonical import canonical_json, digest, digest_bytes, pretty_json
from lineage.ledger import GENESIS
from lineage.records import FactVerdict, Judgement, stable
from optimize.judging import JudgingPlan, JudgingRun
from optimize.recompute import audit_numbers
from optimize.recompute.judgements import recomputed_score
from splits import Corpus
from students.designs import DESIGNS

Rows = list[dict[str, Any]]
SENT: dict[str, Any] = {"scratchpad": None, "samples": 1}


@pytest.fixture
def run(finished_judging: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished_judging, tmp_path / "run"))


def errors(directory: Path) -> list[str]:
    return [f"{found.place}: {found.words}" for found in audit_numbers(directory) if found.severity == "error"]


def rewrite(directory: Path, change: Callable[[Rows], None]) -> None:
    """Change events and chain them anew, with the head to match."""
    rows = [json.loads(line) for line in (directory / "ledger.jsonl").read_text().splitlines()]
    change(rows)
    prev = GENESIS
    for row in rows:
        row["prev"] = prev
        prev = row["hash"] = digest({key: value for key, value in row.items() if key != "hash"})
    (directory / "ledger.jsonl").write_text("".join(canonical_json(row) + "\n" for row in rows))
    (directory / "ledger.head.json").write_text(pretty_json({"count": len(rows), "hash": prev}))


def test_an_untouched_run_is_computed_again_without_a_difference(run: Path) -> None:
    found = audit_numbers(run)
    assert [finding.severity for finding in found] == ["info", "info"]
    assert found[0].words == (
        "scores of word-overlap, sentence-embedding need more than the run holds and were not computed again"
    )
    assert found[1].words == "computed again: 4 evaluation, 1 table"


def test_a_changed_number_of_the_table_is_found_with_its_place(run: Path) -> None:
    def change(rows: Rows) -> None:
        table = next(row for row in rows if row["type"] == "table")["body"]["table"]
        table["judges"][0]["paired"]["omission"]["value"] = 0.99
        table["judges"][1]["cost"]["amortised"]["tokens"] += 1
        table["words"][0] = "All is well."

    rewrite(run, change)
    found = errors(run)
    assert len(found) == 3
    assert any("judges[0].paired.omission.value: recorded 0.99" in words for words in found)
    assert any("judges[1].cost.amortised.tokens" in words for words in found)
    assert any("words[0]: recorded 'All is well.'" in words for words in found)


def test_a_changed_score_is_found_though_its_segment_and_the_ledger_were_made_to_match(run: Path) -> None:
    path = run / "judgements" / "0001-whole.jsonl"
    judged = [json.loads(line) for line in path.read_text().splitlines()]
    judged[0]["score"] = 10.0 - judged[0]["score"]
    text = "".join(canonical_json(row) + "\n" for row in judged)
    path.write_text(text, encoding="utf-8")

    def change(rows: Rows) -> None:
        segment = next(row for row in rows if row["type"] == "evaluation")["body"]["segment"]
        segment["content"] = digest(stable(judged))
        segment["volatile"] = {"sha256": digest_bytes(text.encode())}

    rewrite(run, change)
    found = errors(run)
    assert found[0].startswith(f"judgements/0001-whole.jsonl: score of {judged[0]['example']}: recorded")


def test_a_damaged_segment_is_an_error_and_no_crash(run: Path) -> None:
    (run / "judgements" / "0002-facts.jsonl").write_text("", encoding="utf-8")
    (found,) = errors(run)
    assert "the numbers were not computed again" in found


def made(score: float, **fields: Any) -> Judgement:
    return Judgement("e", "c", "s", "scored", score, **{"sent": SENT, **fields})


VERDICTS = (
    FactVerdict("f1", 1.0, None, True, severity="critical", grade="full", mentions=("full", "partial")),
    FactVerdict("f2", 0.0, None, False, severity="peripheral", grade="absent", mentions=("absent", "absent")),
)
PIPELINE: dict[str, Any] = {
    "weights": {"critical": 4, "supporting": 2, "peripheral": 1},
    "credits": {"full": 1, "partial": 0.5, "absent": 0},
    "sections": False,
}


@pytest.mark.parametrize(
    ("student", "judgement", "score"),
    [
        ({"shape": "two-stage", **PIPELINE}, made(0, facts=VERDICTS), 0.5),
        ({"shape": "three-stage", **PIPELINE}, made(0, facts=VERDICTS), 0.8),
        # 1 - 2^-1.5 with weight 4 of 5.
        ({"shape": "three-stage", **PIPELINE, "sections": True}, made(0, facts=VERDICTS), 0.8 * 0.646446609),
        ({"shape": "fact-list", "samples": 1}, made(0, raw=("Score: 3",)), 3.0),
        (
            {"shape": "fact-list", "samples": 1},
            made(0, raw=("I think", "Score: 3"), sent={**SENT, "scratchpad": {"a": 1}}),
            3.0,
        ),
    ],
)
def test_scores_of_pipelines_and_of_the_control_are_computed_again(
    student: dict[str, Any], judgement: Judgement, score: float
) -> None:
    assert recomputed_score(judgement, student) == pytest.approx(score)


@pytest.mark.parametrize("student", [{"shape": "three-stage", **PIPELINE}, {"shape": "fact-list", "samples": 1}])
def test_what_lacks_its_verdicts_or_its_answer_has_no_score(student: dict[str, Any]) -> None:
    assert recomputed_score(made(0), student) is None


def test_every_design_that_the_simulated_judge_answers_is_computed_again(
    judging: Callable[..., JudgingPlan], consults: Corpus, tmp_path: Path
) -> None:
    students = [{"name": design.name, "shape": design.name} for design in DESIGNS.values() if design.simulated]
    students[-1] |= {"second_look": True, "sections": True}
    plan = judging(students=students, selection={"groups": 1, "flawed_per_group": 1})
    result = JudgingRun(plan, consults, tmp_path / "run", texts={}).run()
    assert {judge["scored"] for judge in result.table["judges"]} == {2}, "all of them are read"
    assert errors(tmp_path / "run") == []


def test_scores_of_a_program_that_is_not_here_are_named_and_are_no_error(run: Path) -> None:
    def change(rows: Rows) -> None:
        for judge in rows[0]["body"]["judges"]:
            if judge["name"] == "whole":
                judge["asked"] |= {"shape": "program", "program": "nowhere_to_be_found:make"}

    rewrite(run, change)
    assert errors(run) == []
    assert any(found.words.startswith("scores of whole, word-overlap") for found in audit_numbers(run))
