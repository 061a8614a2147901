"""What judging one document costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lineage.records import Judgement, Usage
from optimize.evaluation import Evaluation
from optimize.judging.costs import JudgePrices, judging_cost, latency_row, parts_row
from splits.corpus import Example
from students.transport import Price

PRICES = JudgePrices(Price(0.001, 0.01, 0.0001), Price(0.002, 0.02), known=True)
LIST = Usage(calls=1, prompt_tokens=100, completion_tokens=50, cost_usd=1.2)
CHECK = Usage(calls=1, prompt_tokens=40, completion_tokens=10, cached_tokens=20, cost_usd=0.122)


def example(name: str, group: str) -> Example:
    return Example(name, group, "s", "", "", "clean", "clean")


def judgement(name: str, **changes: Any) -> Judgement:
    made = Judgement(name, "c", "s", "scored", 1.0, usage=LIST + CHECK, shared=LIST)
    return replace(made, **changes)


def evaluation(*judgements: Judgement) -> Evaluation:
    names = sorted({one.example for one in judgements})
    return Evaluation("c", tuple(example(name, name[0]) for name in names), judgements)


def test_what_is_about_the_source_is_paid_once_a_group_and_in_full_by_a_document_alone() -> None:
    cost = judging_cost(evaluation(judgement("a1"), judgement("a2"), judgement("b1")), PRICES)
    row = cost.row()
    assert (row["documents"], row["groups"]) == (3, 2)
    assert row["group"]["tokens"] == 150
    assert row["alone"]["tokens"] == 200
    assert row["amortised"]["tokens"] == (3 * 50 + 2 * 150) / 3
    assert row["amortised"]["usd"] == pytest.approx((3 * 0.122 + 2 * 1.2) / 3)
    assert row["alone"]["usd"] == pytest.approx(40 * 0.001 + 10 * 0.01 + 100 * 0.002 + 50 * 0.02), "no cached token"
    assert row["alone"]["cached_tokens"] == 0
    assert row["amortised"]["cached_tokens"] == 20


def test_replicates_pay_for_their_own_lists() -> None:
    cost = judging_cost(evaluation(judgement("a1"), judgement("a1", replicate=1)), PRICES)
    assert (cost.documents, cost.groups) == (2, 2)


def test_a_judgement_that_failed_before_its_check_leaves_the_list_of_its_group_whole() -> None:
    failed = judgement("a1", status="failed", score=None, reason="transport: gone", usage=Usage(), shared=Usage())
    cost = judging_cost(evaluation(failed, judgement("a2")), PRICES)
    assert cost.row()["group"]["tokens"] == 150
    assert cost.row()["amortised"]["tokens"] == (150 + 50) / 2, "it counts with what it used"


def test_without_a_price_there_are_tokens_and_no_dollars() -> None:
    unpriced = JudgePrices(None, None, known=False)
    free = replace(LIST + CHECK, cost_usd=None)
    row = judging_cost(evaluation(judgement("a1", usage=free, shared=replace(LIST, cost_usd=None))), unpriced).row()
    assert (row["amortised"]["usd"], row["alone"]["usd"], row["group"]["usd"]) == (None, None, None)
    assert row["amortised"]["tokens"] == 200


def test_prices_are_read_back_as_they_were_written() -> None:
    assert JudgePrices.from_row(PRICES.row()).row() == PRICES.row()
    assert JudgePrices.from_row(JudgePrices(None, None, known=False).row()).model is None


def test_latency_is_of_judgements_whose_calls_were_made_now() -> None:
    first = judgement("a1", latency_s=9.0, paid=2)
    later = judgement("a2", latency_s=2.0, paid=1)
    found = judgement("b1", latency_s=0.0, paid=0)
    assert latency_row([first, later, found]) == {"median_s": 5.5, "of": 2}
    assert latency_row([found]) == {"median_s": None, "of": 0}
    without_calls = judgement("a1", usage=Usage(), shared=Usage(), paid=0)
    assert latency_row([without_calls])["of"] == 0


def test_numbers_beside_the_score_are_averaged_over_the_judgements_that_have_them() -> None:
    found = parts_row([judgement("a1", parts={"met": 1.0}), judgement("a2", parts={"met": 2.0, "items": 4.0})])
    assert found == {"items": 4.0, "met": 1.5}
