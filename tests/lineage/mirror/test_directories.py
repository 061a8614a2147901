"""Finished runs of every kind, mirrored from their directories."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.ledger import Ledger, read_events
from lineage.mirror import MirrorError, sync_directory
from lineage.mirror.layout import metric_name, word
from lineage.records import Candidate
from lineage.segments import read_segment

pytestmark = pytest.mark.integration

SEED = Candidate({"instruction": "Is it there?"}, "seed")


def test_a_judging_run_has_a_run_for_each_judge(
    finished_judging: Path,
    mlflow_store: Any,
    tmp_path: Path,
    table: Callable[[Any, str], list[dict[str, Any]]],
) -> None:
    directory = shutil.copytree(finished_judging, tmp_path / "judging")
    mlflow_store.sync_directory(directory)
    events, runs = read_events(directory / "ledger.jsonl"), mlflow_store.runs()
    rows = {row["name"]: row for row in next(e.body["table"] for e in events if e.type == "table")["judges"]}
    assert runs.keys() == {"campaign", *rows}
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    assert (runs["campaign"].data.tags["holdgate.kind"], runs["campaign"].data.tags["holdgate.simulated"]) == (
        "judging",
        "true",
    )
    for event in (event for event in events if event.type == "evaluation"):
        name = event.body["purpose"]
        metrics, value = runs[name].data.metrics, rows[name]["paired"]["omission"]["value"]
        assert metrics["paired.omission"] == value
        found = table(runs[name], f"judgements/{event.body['segment']['name']}.json")
        judged = read_segment(directory / "judgements", event.body["segment"])
        assert [row["score"] for row in found] == [judgement.score for judgement in judged]
        assert len(found) == rows[name]["judgements"]


def test_an_emitted_prompt_of_a_real_campaign_is_its_prompt_file(
    finished_run: Path, mlflow_store: Any, tmp_path: Path
) -> None:
    directory = shutil.copytree(finished_run, tmp_path / "emitted")
    mlflow_store.sync_directory(directory)
    (version,) = mlflow_store.client.search_prompt_versions("tiny")
    body = next(e.body for e in read_events(directory / "ledger.jsonl") if e.type == "verdict")
    assert version.tags["holdgate.verdict_hash"] == body["verdict_hash"]
    assert (directory / "prompt.md").read_text(encoding="utf-8").endswith(f"---\n{version.template}\n")
    assert version.tags["holdgate.simulated"] == "true"


def test_a_study_is_the_parent_of_its_trials(
    recorded: Callable[..., Any],
    mlflow_store: Any,
    tmp_path: Path,
    table: Callable[[Any, str], list[dict[str, Any]]],
) -> None:
    study = tmp_path / "study"
    reading = {"values": {"paired": 0.75, "words": None}}
    outcome = {"state": "complete", "reason": "", "reading": reading, "winner": SEED.id, "words": 3, "candidates": 1}
    made = recorded(study="f" * 64, trial=7, exploratory="a study's trial")
    made.propose(SEED)
    made.say("finished", {"decision": "complete", "outcome": outcome})
    made.ledger.close()
    shutil.copytree(made.directory, study / "trials" / "0007")
    with Ledger(study / "workers" / "01" / "ledger.jsonl") as ledger:
        hashes = {"fingerprint": "f" * 64, "corpus_hash": "3" * 64, "lock_hash": "2" * 64}
        ledger.perform("study", {"study": "depths", "plan": {"trials": 1}, "base": {}, **hashes}, dict)
        ledger.perform("trial", {"trial": 7, "parameters": {"minibatch": 2}, "outcome": outcome}, dict)

    def synced() -> str | None:
        return sync_directory(study, tracking_uri=mlflow_store.uri, experiment=mlflow_store.experiment)

    first = synced()
    client = mlflow_store.client
    place = client.get_experiment_by_name(mlflow_store.experiment).experiment_id
    runs = {run.info.run_name: run for run in client.search_runs([place])}
    assert runs.keys() == {"study depths", "trial 0007", "seed"}
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    above = {name: run.data.tags.get("mlflow.parentRunId") for name, run in runs.items()}
    assert above == {"study depths": None, "trial 0007": first, "seed": runs["trial 0007"].info.run_id}
    assert runs["trial 0007"].data.metrics["objective.paired"] == 0.75
    assert runs["study depths"].data.metrics["trials.complete"] == 1
    (row,) = table(runs["study depths"], "trials.json")
    assert (row["trial"], row["values"], row["parameters"]) == (7, reading["values"], {"minibatch": 2})
    assert synced() == first
    assert len(client.search_runs([place])) == 3


def test_an_imported_lineage_says_so_and_registers_nothing(
    mlflow_store: Any, tmp_path: Path, table: Callable[[Any, str], list[dict[str, Any]]]
) -> None:
    seed = {"candidate": "a" * 64, "name": "seed", "target": "t", "kind": "seed", "parents": [], "iteration": 0}
    child = {**seed, "candidate": "b" * 64, "name": "g7", "kind": "mutation", "parents": ["a" * 64], "iteration": 7}
    measures = {"paired": 0.75, "detection": None, "false_alarm": None, "threshold": None, "score": 0.5}
    came = {"outcome": "accepted", "reason": None, "minibatch": {"parent": 0.25, "child": 0.5}, "parents": ["a" * 64]}
    said = {"of": "decision", "target": "t", "emitted": True}
    with Ledger(tmp_path / "run" / "ledger.jsonl") as ledger:
        ledger.perform("imported", {"name": "published", "format": "state", "settings": {"seed": 1}}, dict)
        ledger.perform("candidate", {**seed, "operator": None, "texts": {}, "hashes": {"instruction": "c" * 64}}, dict)
        ledger.perform("candidate", {**child, "operator": None, "texts": {"instruction": "Say."}, "hashes": {}}, dict)
        ledger.perform("outcome", {"candidate": "b" * 64, "target": "t", "iteration": 7, **came}, dict)
        scores = {"of": "scores", "split": "accept", "scale": [0, 1], "scores": {"e1": 0.5, "e0": None}}
        ledger.perform("published", {"of": "accept", "candidate": "b" * 64, "target": "t", "measures": measures}, dict)
        ledger.perform("published", {"candidate": "b" * 64, "target": "t", **scores}, dict)
        ledger.perform("published", said, dict)
        ledger.perform("finished", {"candidates": 2, "published": 3}, dict)
    mlflow_store.sync_directory(tmp_path / "run")
    runs = mlflow_store.runs()
    assert runs.keys() == {"campaign", "seed", "g7"}
    assert {(run.info.status, run.data.tags["holdgate.imported"]) for run in runs.values()} == {("FINISHED", "true")}
    assert runs["campaign"].data.tags["holdgate.kind"] == "imported"
    metrics = runs["g7"].data.metrics
    assert {name: value for name, value in metrics.items() if name.startswith("accept")} == {
        "accept.paired": 0.75,
        "accept.score": 0.5,
    }
    assert "words" not in runs["seed"].data.metrics, "its text is not known"
    rows = [{"example": "e0", "score": None}, {"example": "e1", "score": 0.5}]
    assert table(runs["g7"], "scores/accept.json") == rows
    assert list(mlflow_store.client.search_prompts()) == []


def test_what_has_no_mirror_is_refused_by_name(mlflow_store: Any, tmp_path: Path) -> None:
    (tmp_path / "odd").mkdir()
    with Ledger(tmp_path / "odd" / "ledger.jsonl") as ledger:
        ledger.perform("study", {"study": "x"}, dict)
    with pytest.raises(MirrorError, match="begins with 'study', which has no mirror"):
        mlflow_store.sync_directory(tmp_path / "odd")
    with pytest.raises(MirrorError, match="holds no run and no study to mirror"):
        sync_directory(tmp_path / "gone", tracking_uri=mlflow_store.uri, experiment="x")
    (tmp_path / "empty" / "workers" / "01").mkdir(parents=True)
    (tmp_path / "empty" / "workers" / "01" / "ledger.jsonl").touch()
    with pytest.raises(MirrorError, match="run it first"):
        sync_directory(tmp_path / "empty", tracking_uri=mlflow_store.uri, experiment="x")


def test_names_and_values_that_mlflow_does_not_take_are_replaced() -> None:
    assert metric_name("accept", "a (b)", "μ=1") == "accept.a _b_.μ_1"
    assert (word(None), word(True), word(0.5)) == ("none", "true", "0.5")
    assert json.loads(word(json.dumps([1]))) == [1]
