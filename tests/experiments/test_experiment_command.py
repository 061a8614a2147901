from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from experiments.crossing.planted import planted_corpus
from lineage import read_events
from lineage.canonical import digest
from splits import commit_lock, plan_lock
from splits.loaders import save_corpus
from tests.conftest import JudgeEndpoint
from tests.optimize.engines.conftest import PRICE, for_gepa, for_mipro

Holdgate = Callable[..., tuple[int, str, str]]

BASE: dict[str, Any] = {
    "name": "base",
    "corpus": {"path": "corpus.jsonl", "facts": "facts.jsonl"},
    "splits": {"lock": "split.lock.json"},
    "student": {
        "shape": "per-fact",
        "model": {"simulated": {"noise": 0.5, "planted": {"effect": 4.0}}},
        "budget": {"effort": "low", "answer_tokens": 1},
    },
    "baseline": "stated-in-note",
    "reflector": {"kind": "simulated-diagnosis"},
    "search": {"iterations": 3, "minibatch_groups": 1, "seed": 1},
}
EXPERIMENT: dict[str, Any] = {
    "name": "small",
    "campaign": "base.yaml",
    "settings": {"none": {"answer_tokens": 1}, "low": {"effort": "low", "answer_tokens": 1}},
    "budget": {"calls": 300},
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a small experiment and its campaign, in which the command line runs."""
    corpus = planted_corpus(10)
    save_corpus(corpus, tmp_path)
    lock = plan_lock(corpus, sizes={"reflect": 2, "accept": 3, "heldout": 5}, seed=1, comparisons=3)
    commit_lock(lock, tmp_path / "split.lock.json")
    (tmp_path / "base.yaml").write_text(yaml.safe_dump(BASE))
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(EXPERIMENT))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_experiment_runs_from_its_plan_to_its_report_and_passes_its_audit(holdgate: Holdgate, place: Path) -> None:
    status, out, err = holdgate("experiment", "small.yaml")
    assert (status, err) == (0, "")
    assert "SIMULATED" in out
    assert "searched at low" in out
    directory = place / "runs" / "small"
    assert {path.name for path in directory.iterdir()} >= {"report.html", "report.md", "experiment.json", "searches"}
    status, out, _ = holdgate("experiment", "audit", directory)
    assert status == 0
    assert "0 errors" in out
    (directory / "report.md").unlink()
    assert holdgate("experiment", "report", directory)[0] == 0
    assert (directory / "report.md").exists()
    path = directory / "plan.json"
    path.write_text(path.read_text() + " ")
    status, out, _ = holdgate("experiment", "audit", directory, "--json")
    assert status == 1
    assert [row for row in json.loads(out) if row["place"] == "plan.json"]


def test_the_plan_command_counts_calls_and_comparisons_and_calls_nothing(holdgate: Holdgate, place: Path) -> None:
    status, out, _ = holdgate("experiment", "plan", "small.yaml")
    assert status == 0
    assert "Registered held-out comparisons: 3" in out
    assert "Each search ends once it has used 300 calls" in out
    assert not (place / "runs").exists()
    status, out, _ = holdgate("experiment", "plan", "--schema")
    assert json.loads(out)["properties"]["settings"]


def test_a_bundled_local_experiment_says_how_long_it_takes(holdgate: Holdgate) -> None:
    status, out, _ = holdgate("experiment", "plan", "reasoning-budget")
    assert status == 0
    assert "On the embedded model: " in out


def test_ablations_are_run_into_one_table(holdgate: Holdgate, place: Path) -> None:
    other = BASE | {"name": "blind", "reflector": {"kind": "random-edits"}}
    (place / "blind.yaml").write_text("# Blind edits.\n" + yaml.safe_dump(other))
    status, out, _ = holdgate("experiment", "ablations", "base.yaml", "blind.yaml", "--out", "runs/two", "--seeds", "2")
    assert status == 0
    assert "SIMULATED" in out
    assert "one of several campaigns of ablations" in out
    row = json.loads((place / "runs" / "two" / "comparison.json").read_text())
    assert [each["name"] for each in row["campaigns"]] == ["base", "blind"]
    assert row["campaigns"][1]["shows"] == "Blind edits."
    more = holdgate("experiment", "ablations", "base.yaml", "blind.yaml", "--out", "runs/two", "--seeds", "3", "--json")
    assert [each["runs"] for each in json.loads(more[1])["campaigns"]] == [3, 3]


def test_registered_ablations_take_comparisons_and_confirm(holdgate: Holdgate, place: Path) -> None:
    status, out, _ = holdgate("experiment", "ablations", "base.yaml", "--register", "--json")
    assert status == 0
    assert json.loads(out)["campaigns"][0]["exploratory"] is None
    status, _, err = holdgate(
        "experiment", "ablations", "base.yaml", "--register", "--seeds", "4", "--out", "runs/four"
    )
    assert status == 2
    assert "4 campaigns would be registered on a split lock that has 3 comparisons" in err


def test_a_curve_prints_optimism_against_the_size_of_accept(holdgate: Holdgate, place: Path) -> None:
    status, out, _ = holdgate("experiment", "curve", "base.yaml", "--sizes", "1,3", "--json")
    assert status == 0
    row = json.loads(out)
    assert [each["name"] for each in row["campaigns"]] == ["accept-1", "accept-3"]
    assert all(each["optimism"] is not None for each in row["campaigns"])
    status, _, err = holdgate("experiment", "curve", "base.yaml", "--sizes", "1,x")
    assert status == 2
    assert "--sizes must be whole numbers" in err


def test_optimisers_need_a_model_that_writes_and_a_budget(holdgate: Holdgate, place: Path) -> None:
    status, _, err = holdgate("experiment", "optimisers", "base.yaml")
    assert status == 2
    assert "search.budget" in err


@pytest.mark.integration
def test_three_optimisers_are_compared_by_held_out_result_and_cost(
    holdgate: Holdgate, place: Path, judge_endpoint: JudgeEndpoint
) -> None:
    model = {"endpoint": judge_endpoint.url, "name": "writer", "price": PRICE}
    text = "Answer Yes only if the note states the whole fact. A fragment does not count."
    judge_endpoint.written = [
        "<instruction>Look for the fact. Answer Yes only if it is all there.</instruction>",
        for_gepa(text),
        *[for_mipro(text)] * 40,
    ]
    plan = BASE | {
        "reflector": {"kind": "llm", "model": model},
        "search": {"iterations": 1, "minibatch_groups": 1, "seed": 1, "budget": {"calls": 300}},
    }
    (place / "asks.yaml").write_text(yaml.safe_dump(plan))
    status, out, err = holdgate("experiment", "optimisers", "asks.yaml", "--json")
    assert status == 0, err
    row = json.loads(out)
    assert [each["name"] for each in row["campaigns"]] == ["gepa", "dspy-gepa", "mipro"]
    assert all(each["reflected"]["calls"] >= 1 for each in row["campaigns"])
    assert all(each["cost_usd"] > 0 for each in row["campaigns"])
    for engine in ("gepa", "dspy-gepa", "mipro"):
        assert holdgate("audit", place / "runs" / "base-optimisers" / engine / "seed-1")[0] == 0


@pytest.mark.integration
def test_a_changed_plan_runs_the_experiment_on_a_model_that_reasons_and_has_a_price(
    holdgate: Holdgate, place: Path, judge_endpoint: JudgeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    efforts: list[str] = []

    def reasoned(body: dict[str, Any]) -> dict[str, Any]:
        """Counts the words of the note where it reasons much and is told more than the seed says; guesses elsewhere."""
        system, user = (message["content"] for message in body["messages"])
        efforts.append(body["reasoning_effort"])
        told = system.count(".") > 5 and efforts[-1] == "high"
        score = len(user.partition("NOTE:")[2].split()) % 11 if told else int(digest([system, user])[:4], 16) % 11
        message = {"role": "assistant", "content": f"Score: {score}"}
        usage = {"prompt_tokens": 300, "completion_tokens": 100, "completion_tokens_details": {"reasoning_tokens": 90}}
        return {"model": "m-1", "choices": [{"finish_reason": "stop", "message": message}], "usage": usage}

    monkeypatch.setitem(type(judge_endpoint).__init__.__globals__, "answer_of", reasoned)
    judge_endpoint.listed = json.dumps({"data": [{"id": "gpt-5-mini"}]})
    student = {
        "shape": "whole-note",
        "model": {"endpoint": judge_endpoint.url, "name": "gpt-5-mini", "price": PRICE},
        "temperature": None,
    }
    base = BASE | {"student": student, "baseline": "complete-and-faithful", "reflector": {"kind": "operators"}}
    (place / "base.yaml").write_text(yaml.safe_dump(base | {"limits": {"usd": 1.0}}))
    settings = {"low": {"effort": "low", "answer_tokens": 400}, "high": {"effort": "high", "answer_tokens": 900}}
    (place / "small.yaml").write_text(yaml.safe_dump(EXPERIMENT | {"settings": settings, "budget": {"usd": 0.01}}))
    status, out, err = holdgate("experiment", "small.yaml")
    assert (status, err) == (0, "")
    assert "SIMULATED" not in out
    directory = place / "runs" / "small"
    result = json.loads((directory / "experiment.json").read_text())
    assert result["simulated"] is False
    assert result["confirmatory"] is True
    assert set(efforts) == {"low", "high"}
    events = read_events(directory / "ledger.jsonl")
    arms = {event.body["setting"]: event.body["settings"] for event in events if event.type == "setting"}
    assert {name: arm["budget"]["effort"] for name, arm in arms.items()} == {"low": "low", "high": "high"}
    confirmed = [event.body for event in events if event.type == "evaluation" and event.body["purpose"] == "confirm"]
    assert len(confirmed) == 2
    assert all(body["replicates"] == [1] for body in confirmed), "hosted answers drift, so every cell is judged anew"
    interaction = result["targets"][0]
    assert interaction["kind"] == "interaction"
    assert interaction["decision"] in ("shown", "not-shown")
    assert interaction["comparison"]["low"] < interaction["comparison"]["high"]
    assert {(cell["prompt"], cell["setting"]) for cell in result["cells"]} == {
        (prompt, setting) for prompt in ("seed", "low", "high") for setting in ("low", "high")
    }
    assert all(cell["usage"]["reasoning_tokens"] > 0 < cell["usage"]["cost_usd"] for cell in result["cells"])
    assert holdgate("experiment", "audit", directory)[0] == 0
    asked = len(judge_endpoint.prompts)
    assert holdgate("experiment", "small.yaml")[0] == 0
    assert len(judge_endpoint.prompts) == asked, "a finished experiment asks nothing"
