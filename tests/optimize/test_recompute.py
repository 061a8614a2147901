"""Every number of a run directory can be computed again from it, and a changed one is found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.audit import audit_ledger
from lineage.canonical import canonical_json, digest, digest_bytes
from lineage.errors import LedgerError
from lineage.records import stable
from optimize import Campaign, parse_plan
from optimize.recompute import audit_numbers, differences, load_run, recompute_verdict, recorded_pool
from splits import Corpus, SplitLock
from students import load_instruction

Rows = list[dict[str, Any]]
Rewrite = Callable[[Path, Callable[[Rows], None]], None]
MakePlan = Callable[..., dict[str, Any]]
PER_FACT = {"shape": "per-fact", "model": {"simulated": {"noise": 2.0}}, "budget": {"answer_tokens": 1}, "max_facts": 5}
WHOLE_NOTE = {"shape": "whole-note", "model": {"simulated": {"noise": 2.0}}, "samples": 2, "temperature": 1.0}


@pytest.fixture
def run(finished_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished_run, tmp_path / "run"))


def errors(directory: Path) -> list[str]:
    return [f"{found.place}: {found.words}" for found in audit_numbers(directory) if found.severity != "info"]


def body(rows: Rows, kind: str) -> Any:
    return next(row for row in rows if row["type"] == kind)["body"]


def test_an_untouched_run_is_computed_again_without_a_difference(run: Path) -> None:
    found = audit_numbers(run)
    assert [finding.severity for finding in found] == ["info"]
    assert "1 choice, 1 verdict" in found[0].words


def test_the_verdict_is_computed_again_exactly(run: Path) -> None:
    verdict = json.loads((run / "verdict.json").read_text())
    del verdict["ledger_head"]
    assert json.loads(canonical_json(recompute_verdict(load_run(run)))) == verdict


@pytest.mark.parametrize(
    "more",
    [
        {"student": {**PER_FACT, "aggregator": "margin"}, "search": {"iterations": 1}},
        {"student": {**PER_FACT, "aggregator": "minimum"}, "search": {"iterations": 1}},
        {"student": {**PER_FACT, "aggregator": "share"}, "search": {"iterations": 1}},
        {"student": WHOLE_NOTE, "objective": {"margin": 1.0}},
        {"replicates": 3},
        {"gate": {"rule": "permutation"}},
        {"gate": {"rule": "lower-bound"}},
        {"search": {"iterations": 0}},
    ],
    ids=["margin", "minimum", "share", "whole-note", "replicates", "permutation", "lower-bound", "no-search"],
)
def test_campaigns_of_every_kind_are_computed_again(
    more: dict[str, Any], consults: Corpus, finished_lock: SplitLock, tiny_plan: MakePlan, tmp_path: Path
) -> None:
    directory = tmp_path / "run"
    # The third proposal of this search is the winner.
    plan = parse_plan(tiny_plan(**{"search": {"iterations": 3, "minibatch_groups": 2, "seed": 4}} | more), where="test")
    baseline = load_instruction("stated-in-note")
    Campaign(plan, consults, finished_lock, directory, baseline=baseline, exploratory="a test").run()
    assert errors(directory) == []
    assert [found.words for found in audit_ledger(directory) if found.severity != "info"] == []


def measured(rows: Rows) -> None:
    body(rows, "measured")["measures"]["omissions"]["wins"] += 1


def calibrated(rows: Rows) -> None:
    body(rows, "calibration")["balanced_accuracy"] += 1e-6


def rewarded(rows: Rows) -> None:
    rewards = body(rows, "outcome")["child_rewards"]
    rewards[min(rewards)] += 0.001


def worded(rows: Rows) -> None:
    body(rows, "outcome")["reason"] = "minibatch reward +9.0000"


def ranked(rows: Rows) -> None:
    body(rows, "choice")["ranking"].reverse()


def led(rows: Rows) -> None:
    leads = body(rows, "choice")["leads"]
    leads[min(leads)] += 1


def bounded(rows: Rows) -> None:
    body(rows, "verdict")["verdict"]["heldout"]["omissions"]["low"] += 0.01


def pleased(rows: Rows) -> None:
    body(rows, "verdict")["verdict"]["words"][0] = "The winner is far better."


def spent(rows: Rows) -> None:
    opened = next(row for row in rows if row["type"] == "seal_opened" and row["body"]["opening"] == "confirm")["body"]
    opened["comparison"]["alpha"] = body(rows, "verdict")["verdict"]["comparison"]["alpha"] = 0.05


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (measured, "measured: omissions.wins"),
        (calibrated, "calibration: balanced_accuracy"),
        (rewarded, "outcome: "),
        (worded, "outcome: [1]"),
        (ranked, "choice: ranking[0]"),
        (led, "choice: leads"),
        (bounded, "verdict: heldout.omissions.low"),
        (pleased, "verdict: words[0]"),
        (spent, "seal_opened: alpha"),
    ],
)
def test_a_changed_number_that_is_chained_anew_is_found(
    run: Path, rewrite: Rewrite, change: Callable[[Rows], None], place: str
) -> None:
    rewrite(run, change)
    assert any(place in error for error in errors(run)), errors(run)


def test_another_wording_is_a_warning_where_another_version_wrote_it(run: Path, rewrite: Rewrite) -> None:
    def older(rows: Rows) -> None:
        rows[0]["body"]["volatile"]["holdgate"] = "0.0.1"
        pleased(rows)

    rewrite(run, older)
    found = [finding for finding in audit_numbers(run) if finding.severity != "info"]
    assert [(finding.severity, finding.words[:8]) for finding in found] == [("warning", "words[0]")]
    rewrite(run, bounded)
    assert "error" in {finding.severity for finding in audit_numbers(run)}


def test_a_changed_score_with_every_hash_made_anew_is_found(run: Path, rewrite: Rewrite) -> None:
    path = next(path for path in sorted((run / "judgements").iterdir()) if "confirm" in path.name)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["score"] = round(1 - rows[0]["score"], 3)
    text = "".join(canonical_json(row) + "\n" for row in rows)
    path.write_text(text)

    def relink(events: Rows) -> None:
        segment = next(
            event["body"]["segment"]
            for event in events
            if event["type"] == "evaluation" and event["body"]["segment"]["name"] == path.stem
        )
        segment.update(content=digest(stable(rows)), volatile={"sha256": digest_bytes(text.encode())})

    rewrite(run, relink)
    assert any(path.name in error and "score of" in error for error in errors(run))


def test_a_verdict_against_its_threshold_is_found(run: Path, rewrite: Rewrite) -> None:
    rewrite(run, lambda rows: body(rows, "calibration").update(threshold=0.95))
    assert any("calibration: threshold" in error for error in errors(run))


def test_an_interrupted_run_is_computed_again_as_far_as_it_came(run: Path) -> None:
    lines = (run / "ledger.jsonl").read_text().splitlines(keepends=True)
    for count in range(3, len(lines), 5):
        (run / "ledger.jsonl").write_text("".join(lines[:count]))
        assert errors(run) == [], f"{count} events"


def test_a_damaged_ledger_is_not_computed_again(run: Path) -> None:
    (run / "ledger.jsonl").write_text((run / "ledger.jsonl").read_text().replace("seed", "sead"))
    assert any("were not computed again" in error for error in errors(run))


def test_a_missing_example_list_is_an_error(run: Path) -> None:
    (run / "examples.jsonl").unlink()
    with pytest.raises(LedgerError, match=r"examples\.jsonl"):
        load_run(run)
    assert errors(run)


def test_an_unchosen_run_has_no_verdict_to_compute(run: Path) -> None:
    lines = (run / "ledger.jsonl").read_text().splitlines(keepends=True)
    (run / "ledger.jsonl").write_text("".join(lines[:20]))
    with pytest.raises(LedgerError, match="no winner has been chosen"):
        recompute_verdict(load_run(run))


def test_no_text_of_an_example_is_needed(run: Path) -> None:
    loaded = load_run(run)
    assert {(example.source, example.document) for example in loaded.examples.values()} == {("", "")}
    assert recorded_pool(loaded).pool[0].name == "seed"


def test_differences_name_their_place_and_forgive_the_last_bit() -> None:
    assert list(differences({"a": [0.1 + 0.2]}, {"a": [0.3]})) == []
    assert list(differences({"a": [1, 2]}, {"a": [1, 3]})) == ["a[1]: recorded 2, computed 3"]
    assert list(differences({"a": {"b": None}}, {"a": {}})) == []
    assert list(differences([1], [1, 2])) == [": 1 recorded, 2 computed"]
    assert list(differences({"x": 0.5}, {"x": None})) == ["x: recorded 0.5, computed None"]
    assert list(differences({"x": 1.0}, {"x": True})) == []
