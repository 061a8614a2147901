"""The prompt registry: passing verdicts alone, each once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lineage.mirror.registry import emitted
from lineage.records import Candidate

pytestmark = pytest.mark.integration

SEED = Candidate({"instruction": "Is it there?"}, "seed")
WINNER = Candidate({"instruction": "Is all of it {there}?"}, "mutation", (SEED.id,), 1)


def decided(begin: Callable[..., Any], decision: str, **more: Any) -> tuple[Any, dict[str, Any]]:
    made = begin()
    made.propose(SEED)
    made.propose(WINNER)
    made.settle(WINNER, "accepted")
    body = made.decide(WINNER, decision, **more)
    made.finish(decision)
    return made, body


def test_an_emitted_prompt_is_registered_with_its_verdict(recorded: Callable[..., Any], mlflow_store: Any) -> None:
    made, body = decided(recorded, "emit")
    mlflow_store.sync(made)
    (version,) = mlflow_store.client.search_prompt_versions("made")
    assert version.template == WINNER.texts["instruction"]
    tags = {name.removeprefix("holdgate."): value for name, value in version.tags.items()}
    wanted = {"verdict_hash": body["verdict_hash"], "prompt_file": body["prompt"], "candidate": WINNER.id}
    wanted |= {"difference": "0.2", "low": "0.1", "high": "0.3", "level": "0.95", "threshold": "0.625"}
    wanted |= {"student_hash": "4" * 64, "simulated": "false", "campaign": made.events[0].hash}
    assert tags.items() >= wanted.items()
    for name in ("campaign", "c01"):
        found = mlflow_store.runs()[name].data.tags
        assert found["holdgate.prompt"] == "made/1"
        assert json.loads(found["mlflow.linkedPrompts"]) == [{"name": "made", "version": "1"}]
    assert tags["run_id"] == mlflow_store.runs()["campaign"].info.run_id


def test_a_verdict_is_registered_once(recorded: Callable[..., Any], mlflow_store: Any) -> None:
    made, _ = decided(recorded, "emit")
    mlflow_store.sync(made)
    (made.directory / "mlflow.json").unlink()
    mlflow_store.sync(made)
    assert [version.version for version in mlflow_store.client.search_prompt_versions("made")] == [1]


@pytest.mark.parametrize("decision", ["refuse", "undecided", "nothing-found", "not-confirmed"])
def test_a_refused_prompt_is_never_registered(decision: str, recorded: Callable[..., Any], mlflow_store: Any) -> None:
    made, _ = decided(recorded, decision)
    mlflow_store.sync(made)
    assert list(mlflow_store.client.search_prompts()) == []
    assert "holdgate.prompt" not in mlflow_store.runs()["campaign"].data.tags


@pytest.mark.parametrize(
    ("decision", "confirmatory", "prompt", "passes"),
    [
        ("emit", True, "5" * 64, True),
        ("emit", False, "5" * 64, False),
        ("emit", True, None, False),
        ("refuse", True, "5" * 64, False),
    ],
)
def test_only_a_confirmatory_pass_with_a_prompt_file_is_registered(
    decision: str, confirmatory: bool, prompt: str | None, passes: bool
) -> None:
    body = {"verdict": {"decision": decision, "confirmatory": confirmatory}, "prompt": prompt}
    assert emitted(body) is passes
