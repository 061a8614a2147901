from __future__ import annotations

from typing import Any

import pytest

from lineage.errors import PlanError
from optimize.crossing import parse_crossed_plan
from optimize.plan import parse_plan

PLAN: dict[str, Any] = {
    "name": "crossed",
    "campaign": "base",
    "settings": {"none": {"answer_tokens": 1}, "low": {"effort": "low", "answer_tokens": 1}},
    "budget": {"tokens": 1000},
}
BASE: dict[str, Any] = {
    "name": "base",
    "corpus": {"bundled": "consults"},
    "splits": {"lock": "split.lock.json"},
    "student": {"shape": "per-fact", "model": {"simulated": {"planted": {}}}, "budget": {"answer_tokens": 7}},
    "baseline": "stated-in-note",
    "search": {"iterations": 3, "seed": 9},
}


def test_an_arm_is_the_base_campaign_but_for_its_reasoning_budget_and_what_it_may_use() -> None:
    plan, base = parse_crossed_plan(PLAN, where="test"), parse_plan(BASE, where="test")
    arms = [plan.arm(base, setting) for setting in plan.settings]
    assert [arm.student.budget.effort for arm in arms] == ["none", "low"]
    assert {arm.student.budget.answer_tokens for arm in arms} == {1}
    assert {arm.search.budget.tokens for arm in arms} == {1000}
    assert {arm.search.seed for arm in arms} == {9}
    assert [arm.name for arm in arms] == ["crossed-none", "crossed-low"]
    for arm in arms:
        kept = arm.row() | {"name": "base", "student": base.row()["student"], "search": base.row()["search"]}
        assert kept == base.row()


def test_the_hash_knows_the_base_campaign_and_not_its_name_alone() -> None:
    plan = parse_crossed_plan(PLAN, where="test")
    one, other = (parse_plan(BASE | {"search": {"iterations": n, "seed": 9}}, where="test") for n in (3, 4))
    assert plan.hash(one) != plan.hash(other)
    assert plan.row(one)["order"] == ["none", "low"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"settings": {"none": {}}}, "at least 2"),
        ({"settings": {"a": {"answer_tokens": 1}, "b": {"answer_tokens": 1}}}, "the same budget"),
        ({"settings": {"a b": {}, "c": {"effort": "low"}}}, "pattern"),
        ({"budget": {}}, "equal arms are the point"),
        ({"compared": ["own", "own"]}, "name each once"),
        ({"compared": ["owns"]}, "interaction"),
        ({"setings": {}}, "unknown key 'setings'; did you mean 'settings'"),
        ({"budget": {"token": 3}}, "unknown key 'budget.token'; did you mean 'tokens'"),
    ],
)
def test_a_defect_is_named_with_its_place_and_its_rule(change: dict[str, Any], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        parse_crossed_plan(PLAN | change, where="test")


def test_a_plan_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(PlanError, match="one mapping"):
        parse_crossed_plan(["a"], where="test")
