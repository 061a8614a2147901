from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage.audit import Finding
from lineage.canonical import canonical_json, digest, pretty_json, write_atomic
from optimize.crossing import audit_experiment


@pytest.fixture
def copied(crossed_run: Path, tmp_path: Path) -> Path:
    """A copy to write into."""
    shutil.copytree(crossed_run, tmp_path / "run")
    return tmp_path / "run"


def errors(found: list[Finding]) -> list[str]:
    return [f"{finding.place}: {finding.words}" for finding in found if finding.severity == "error"]


def rewrite(directory: Path, change: Callable[[dict[str, object]], None]) -> None:
    """Edit events and chain them anew, head included, as a forger would."""
    path, prev = directory / "ledger.jsonl", "0" * 64
    lines = []
    for line in path.read_text().splitlines():
        row = json.loads(line)
        row.pop("hash")
        change(row)
        row["prev"] = prev
        prev = digest(row)
        lines.append(canonical_json({**row, "hash": prev}) + "\n")
    write_atomic(path, "".join(lines))
    write_atomic(directory / "ledger.head.json", pretty_json({"count": len(lines), "hash": prev}))


def test_a_sound_experiment_has_no_error_and_says_what_its_searches_are(crossed_run: Path) -> None:
    found = audit_experiment(crossed_run)
    assert not errors(found)
    assert not [finding for finding in found if finding.severity == "warning"]
    assert any("ends at its choice" in f.words for f in found if f.place.startswith("searches/low"))


def test_an_edited_judgement_is_found(copied: Path) -> None:
    segment = next((copied / "judgements").glob("*-confirm.jsonl"))
    segment.write_text(segment.read_text().replace('"status":"scored"', '"status":"failed"', 1))
    assert any(segment.name in words for words in errors(audit_experiment(copied)))


def test_an_edited_result_is_found_by_its_number(copied: Path) -> None:
    def flatter(row: dict[str, object]) -> None:
        if row["type"] == "crossed":
            row["body"]["result"]["targets"][0]["comparison"]["difference"] = 0.9  # type: ignore[index]
            row["body"]["result_hash"] = digest(row["body"]["result"])  # type: ignore[index]

    rewrite(copied, flatter)
    assert any("targets[0].comparison.difference: recorded 0.9" in words for words in errors(audit_experiment(copied)))


def test_a_winner_that_its_search_did_not_choose_is_found(copied: Path) -> None:
    seed = json.loads((copied / "ledger.jsonl").read_text().splitlines()[2])["body"]["candidate"]

    def swap(row: dict[str, object]) -> None:
        if row["type"] == "searched" and row["body"]["setting"] == "low":  # type: ignore[index]
            row["body"]["winner"] = seed  # type: ignore[index]

    rewrite(copied, swap)
    assert any("searches/low: its choice is not the one" in words for words in errors(audit_experiment(copied)))


def test_an_opening_before_the_last_search_is_found(copied: Path) -> None:
    def early(row: dict[str, object]) -> None:
        if row["type"] == "searched":
            row["seq"] = row["seq"]
        if row["type"] == "seal_opened" and row["body"]["opening"] == "baseline":  # type: ignore[index]
            row["body"]["opening"] = "confirm"  # type: ignore[index]

    rewrite(copied, early)
    found = errors(audit_experiment(copied))
    assert any("the confirm opening comes before the last search" in words for words in found)
    assert any("held-out examples are judged outside a planned opening" in words for words in found)


def test_a_damaged_search_is_an_error_of_the_experiment(copied: Path) -> None:
    path = copied / "searches" / "none" / "plan.json"
    path.write_text(path.read_text().replace('"margin": 0.1', '"margin": 0.2'))
    assert any(words.startswith("searches/none plan.json") for words in errors(audit_experiment(copied)))


def test_an_edited_result_file_and_an_edited_plan_are_found(copied: Path) -> None:
    for name in ("experiment.json", "plan.json"):
        path = copied / name
        path.write_text(path.read_text() + " ")
    found = errors(audit_experiment(copied))
    assert any(words.startswith("experiment.json") for words in found)
    assert any(words.startswith("plan.json") for words in found)


def test_a_directory_without_an_experiment_says_what_to_give(tmp_path: Path, finished_run: Path) -> None:
    assert "give the directory of an experiment" in audit_experiment(tmp_path)[0].remedy
    assert "holdgate audit is for the run directory" in audit_experiment(finished_run)[0].words
