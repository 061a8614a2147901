from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments import load_plan
from lineage import canonical_state, read_events
from lineage.audit import audit_ledger
from lineage.errors import BudgetError, CallError, PlanError
from optimize.recompute import audit_numbers
from tests.conftest import JudgeEndpoint
from tests.optimize.engines.conftest import PLAIN, SHORT, STRICT, Searched, bodies, for_gepa

pytestmark = pytest.mark.integration


def reader_of(endpoint: JudgeEndpoint) -> list[str]:
    """The prompts that the writer was sent."""
    return [prompt for prompt in endpoint.prompts if "current_instruction" in prompt]


def test_every_candidate_is_recorded_with_its_outcome_and_the_winner_is_ours(
    searched: Searched, judge_endpoint: JudgeEndpoint
) -> None:
    judge_endpoint.written = [for_gepa(STRICT), for_gepa(PLAIN), "no JSON at all", "still none"]
    result = searched("dspy-gepa", iterations=3)
    texts = [body["texts"]["instruction"] for body in bodies(result.directory, "candidate")]
    assert texts[1:3] == [STRICT, PLAIN]
    outcomes = bodies(result.directory, "outcome")
    assert [body["outcome"] for body in outcomes][-1] == "invalid"
    assert "could not read" in outcomes[-1]["reason"]
    assert len(outcomes) == len(texts) - 1
    choice = bodies(result.directory, "choice")[0]
    accepted = {body["candidate"] for body in outcomes if body["outcome"] == "accepted"}
    assert {row["candidate"] for row in choice["ranking"]} == {*accepted, result.verdict["baseline"]}
    assert choice["winner"] == choice["ranking"][0]["candidate"]


def test_the_audit_finds_every_number_again(searched: Searched, judge_endpoint: JudgeEndpoint) -> None:
    judge_endpoint.written = [for_gepa(STRICT), for_gepa(SHORT)]
    out = searched("dspy-gepa", iterations=2).directory
    assert not [finding for finding in [*audit_ledger(out), *audit_numbers(out)] if finding.severity != "info"]


def test_the_writer_reads_reflect_examples_and_nothing_of_accept_or_held_out(
    searched: Searched, judge_endpoint: JudgeEndpoint, make_plan: Callable[..., Path]
) -> None:
    judge_endpoint.written = [for_gepa(STRICT), for_gepa(PLAIN), for_gepa(SHORT)]
    searched("dspy-gepa", iterations=3)
    loaded = load_plan(str(make_plan("again")))
    documents = {
        split: {e.document for e in loaded.corpus.examples if e.group in groups}
        for split, groups in loaded.lock.splits.items()
    }
    prompts = reader_of(judge_endpoint)
    assert len(prompts) == 3

    lines = {
        split: {line for document in found for line in document.split("\n") if len(line) > 40}
        for split, found in documents.items()
    }
    assert any(line in prompt for line in lines["reflect"] for prompt in prompts)
    for split in ("accept", "heldout"):
        assert not any(line in prompt for line in lines[split] - lines["reflect"] for prompt in prompts)


def test_a_resumed_search_pays_nothing_twice_and_ends_in_the_same_state(
    searched: Searched, judge_endpoint: JudgeEndpoint
) -> None:
    written = [for_gepa(STRICT), for_gepa(PLAIN), for_gepa(SHORT)]
    judge_endpoint.written = list(written)
    whole = searched("dspy-gepa", "whole").directory
    answered = sum(judge_endpoint.answered.values())

    judge_endpoint.written = list(written)
    (whole.parent / "calls.sqlite").rename(whole.parent / "first.sqlite")
    asked = len(judge_endpoint.prompts)
    judge_endpoint.before = lambda number: (401, "{}") if number - asked > 150 else None
    with pytest.raises(CallError):
        searched("dspy-gepa", "broken")
    judge_endpoint.before = lambda number: None
    again = searched("dspy-gepa", "broken").directory
    assert sum(judge_endpoint.answered.values()) == 2 * answered
    states = [canonical_state(read_events(out / "ledger.jsonl")) for out in (whole, again)]
    assert states[0] == states[1]


def test_a_limit_of_the_plan_stops_it_and_it_goes_on_with_a_higher_one(
    searched: Searched, judge_endpoint: JudgeEndpoint
) -> None:
    judge_endpoint.written = [for_gepa(STRICT), for_gepa(PLAIN)]
    with pytest.raises(BudgetError, match="calls"):
        searched("dspy-gepa", iterations=2, calls=130)
    out = searched("dspy-gepa", iterations=2, calls=5000).directory
    assert bodies(out, "finished")


def test_a_search_budget_ends_the_search_and_the_campaign_goes_on(
    searched: Searched, judge_endpoint: JudgeEndpoint
) -> None:
    judge_endpoint.written = [for_gepa(STRICT), for_gepa(PLAIN), for_gepa(SHORT)]
    out = searched("dspy-gepa", iterations=3, budget={"calls": 10}).directory
    assert len(bodies(out, "outcome")) == 1
    assert bodies(out, "finished")


def test_an_engine_that_writes_its_own_prompts_needs_a_model(make_plan: Callable[..., Path]) -> None:
    plan = make_plan(search={"engine": "dspy-gepa", "iterations": 1})
    with pytest.raises(PlanError, match="dspy-gepa asks a model for its prompts"):
        load_plan(str(plan))


def test_settings_of_our_own_search_are_refused_on_a_rival(make_plan: Callable[..., Path]) -> None:
    plan = make_plan(
        search={"engine": "mipro", "iterations": 1, "minibatch_groups": 2},
        reflector={"kind": "llm", "model": {"endpoint": "http://127.0.0.1:1/v1", "name": "writer"}},
    )
    with pytest.raises(PlanError, match=r"search\.minibatch_groups has no effect on engine mipro"):
        load_plan(str(plan))
