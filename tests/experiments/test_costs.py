"""What one document costs, and what a stopped campaign still needs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments import load_plan
from experiments.costs import read_costs, unit_costs
from experiments.stopping import read_stop, stop_words, write_stop
from lineage import read_events
from lineage.errors import BudgetError
from lineage.records import VOLATILE, Judgement, Usage
from optimize import Campaign, CampaignResult
from splits.corpus import Example
from students.transport import Price

MakePlan = Callable[..., Path]
PRICE = Price(0.001, 0.01, cached=0.0001)


def example(name: str, twin: str | None) -> Example:
    kind = "clean" if twin is None else "omission"
    return Example(name, "g", "s", "source", f"note {name}", kind, kind, twin=twin)


def judgement(name: str, prompt: int, cached: int, *, priced: bool = True) -> Judgement:
    cost = PRICE.cost(prompt, 10, cached) if priced else None
    return Judgement(name, "c", "s", "scored", 8.0, usage=Usage(2, prompt, 10, 4, cached, cost))


EXAMPLES = {found.id: found for found in (example("clean", None), example("a", "clean"), example("b", "clean"))}
JUDGED = [judgement("clean", 100, 0), judgement("a", 100, 90), judgement("b", 100, 90)]


def test_amortised_costs_are_those_that_were_paid_and_one_document_per_group_shares_nothing() -> None:
    document, alone, pair, pair_alone = unit_costs(JUDGED, EXAMPLES, PRICE)
    assert [cost.label for cost in (document, alone, pair, pair_alone)] == [
        "amortised, for a document",
        "one document per group, for a document",
        "amortised, for a flawed document and its twin",
        "one document per group, for a flawed document and its twin",
    ]
    assert (document.units, document.calls, document.prompt_tokens, document.cached_tokens) == (3, 2.0, 100.0, 60.0)
    assert document.cost_usd == pytest.approx((0.1 + 2 * (0.01 + 0.009) + 3 * 0.1) / 3)
    assert (alone.prompt_tokens, alone.cached_tokens, alone.completion_tokens, alone.reasoning_tokens) == (
        100,
        0,
        10,
        4,
    )
    assert alone.cost_usd == pytest.approx(0.2)
    assert (pair.units, pair.calls) == (2, 3.0), "two flawed documents share one clean twin"
    assert pair.cost_usd == pytest.approx((0.1 + 2 * (0.01 + 0.009) + 3 * 0.1) / 2)
    assert (pair_alone.calls, pair_alone.cached_tokens, pair_alone.cost_usd) == (4.0, 0.0, pytest.approx(0.4))


def test_calls_about_the_source_alone_count_once_for_a_group_and_in_full_for_a_document_alone() -> None:
    shared = Usage(1, 60, 4, 0, 0, PRICE.cost(60, 4, 0))
    judged = [replace(each, shared=shared) for each in JUDGED]
    document, alone, pair, pair_alone = unit_costs(judged, EXAMPLES, PRICE)
    used = (0.1 + 2 * (0.01 + 0.009) + 3 * 0.1) - 2 * (0.06 + 0.04)
    assert document.cost_usd == pytest.approx(used / 3)
    assert (document.calls, document.prompt_tokens) == (pytest.approx(4 / 3), pytest.approx(60))
    assert (alone.calls, alone.prompt_tokens, alone.cost_usd) == (2.0, 100.0, pytest.approx(0.2))
    assert (pair.calls, pair.cost_usd) == (2.0, pytest.approx(used / 2))
    assert (pair_alone.calls, pair_alone.prompt_tokens) == (3.0, 140.0), "a pair is one group, with one list"


def test_without_a_price_there_are_tokens_and_no_money() -> None:
    costs = unit_costs([judgement(name, 100, 50, priced=False) for name in EXAMPLES], EXAMPLES, None)
    assert [cost.cost_usd for cost in costs] == [None] * 4
    assert "USD" not in costs[0].words()


def test_a_judgement_without_its_twin_is_in_no_pair() -> None:
    assert [cost.unit for cost in unit_costs(JUDGED[1:2], EXAMPLES, PRICE)] == ["document", "document"]


def campaign(plan: Path, out: Path) -> CampaignResult:
    loaded = load_plan(str(plan))
    return Campaign(loaded.plan, loaded.corpus, loaded.lock, out, baseline=loaded.baseline).run()


def test_the_costs_of_a_run_derive_from_its_directory_alone(finished_run: Path) -> None:
    costs = read_costs(finished_run)
    assert costs == read_costs(finished_run)
    verdict = json.loads((finished_run / "verdict.json").read_text())
    (document, *_) = costs[verdict["winner"]]
    assert (document.units, document.calls, document.cost_usd) == (28, 5.0, None)


@pytest.mark.parametrize(
    "limit", [0, 140, 420, *(pytest.param(n, marks=pytest.mark.integration) for n in (30, 75, 230, 300))]
)
def test_what_a_stopped_campaign_is_said_to_need_is_enough_and_no_less_than_it_pays(
    make_plan: MakePlan, tmp_path: Path, limit: int
) -> None:
    out, plan = tmp_path / "runs" / "one", make_plan(limits={"calls": limit, "tokens": 10**7})
    with pytest.raises(BudgetError, match=rf"limits\.calls = {limit} would be passed"):
        campaign(plan, out)
    loaded = load_plan(str(plan))
    stop = read_stop(loaded, out)
    assert (stop.limit, stop.of_role(None).calls) == ("limits.calls", limit)
    assert f"limits.calls {limit + stop.calls_needed(None)} is enough" in stop_words(stop, out)
    text = write_stop(stop, loaded, out).read_text()
    assert "# Stopped: limits.calls" in text
    assert f"| {limit + stop.calls_needed(None)} |" in text

    raised = loaded.plan.model_copy(update={"limits": type(loaded.plan.limits)(calls=limit + stop.calls_needed(None))})
    result = Campaign(raised, loaded.corpus, loaded.lock, out, baseline=loaded.baseline).run()
    assert result.paid <= stop.calls_needed(None)
    assert not (out / "stopped.md").exists()
    spend: Any = next(event.body[VOLATILE] for event in read_events(out / "ledger.jsonl") if event.type == "spend")
    assert sum(row["calls"] for row in spend["paid"].values()) == limit + result.paid
    assert sum(row["usage"]["calls"] for row in spend["candidates"]) == limit + result.paid
