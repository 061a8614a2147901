"""The judging plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lineage.errors import PlanError
from optimize.judging import JudgingPlan, parse_judging_plan
from optimize.judging.resolving import resolve_judging_models
from optimize.model_lock import ModelLock, Pin
from optimize.model_plan import ModelPlan

MakeJudging = Callable[..., JudgingPlan]
LOCAL = {"local": "qwen2.5-coder-0.5b-instruct"}


def test_a_student_without_a_model_takes_the_plans_and_one_with_a_model_keeps_it(judging: MakeJudging) -> None:
    other = {"name": "other", "shape": "whole-note", "model": LOCAL}
    plan = judging(students=[{"name": "a", "shape": "whole-note"}, other])
    assert [judge.model.local for judge in plan.students] == [None, LOCAL["local"]]
    assert plan.students[0].model.simulated is not None


def test_the_plans_model_may_be_left_out_where_every_student_names_one(judging: MakeJudging) -> None:
    student = {"name": "a", "shape": "whole-note", "model": LOCAL}
    assert judging(model=None, students=[student]).students[0].model.local
    with pytest.raises(PlanError, match=r"students\.0\.model: Field required"):
        judging(model=None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"studnts": []}, "unknown key 'studnts'; did you mean 'students'"),
        ({"students": [{"name": "a", "shap": "whole-note"}]}, r"unknown key 'students\.0\.shap'; did you mean 'shape'"),
        ({"students": [{"name": "a/b", "shape": "whole-note"}]}, r"students\.0\.name: String should match"),
        ({"students": []}, "students: List should have at least 1 item"),
        ({"split": "accept"}, "splits goes with split: reflect, accept or heldout"),
        ({"splits": {"lock": "x"}}, "splits goes with split: reflect, accept or heldout"),
        ({"splits": {"lock": "x"}, "split": "accept"}, "selection has no effect with a split lock"),
        ({"replicates": 2}, "replicates must be odd"),
        ({"students": [{"name": "a", "shape": "whole-note"}] * 2}, "two students are called 'a'"),
        ({"students": [{"name": "word-overlap", "shape": "whole-note"}]}, "'word-overlap' is a baseline"),
        ({"budgets": [{"effort": "low"}, {"effort": "low"}]}, "budgets has 'low' twice"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(judging: MakeJudging, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        judging(**changes)


def test_a_plan_that_is_no_mapping_names_the_schema() -> None:
    with pytest.raises(PlanError, match="test: a plan is one mapping; see holdgate judge --schema"):
        parse_judging_plan([], where="test")


def test_a_ladder_judges_every_student_at_every_budget_with_the_same_text(judging: MakeJudging) -> None:
    students = [
        {"name": "a", "shape": "whole-note", "instruction": "x", "budget": {"answer_tokens": 12, "thinking_tokens": 9}},
        {"name": "b", "shape": "whole-note"},
    ]
    plan = judging(students=students, budgets=[{"effort": "none"}, {"thinking_tokens": 32, "answer_tokens": 20}])
    assert [unit.name for unit in plan.units] == ["a@none", "a@thinking-32", "b@none", "b@thinking-32"]
    first, second = (unit.judge.budget for unit in plan.units[:2])
    assert (first.thinking_tokens, first.answer_tokens) == (None, 12), "the rung sets reasoning, the cap stays"
    assert (second.thinking_tokens, second.answer_tokens) == (32, 20)
    assert {unit.judge.instruction for unit in plan.units[:2]} == {"x"}


def test_rungs_that_differ_in_their_cap_alone_are_named_by_it(judging: MakeJudging) -> None:
    rungs = [{"effort": "high", "answer_tokens": 500}, {"effort": "high", "answer_tokens": 900}, {"effort": "low"}]
    assert judging(budgets=rungs).labels == ("high-500", "high-900", "low")


def test_limits_and_speed_are_no_part_of_the_hash_and_everything_else_is(judging: MakeJudging) -> None:
    plan = judging()
    assert judging(limits={"calls": 5}).hash == plan.hash
    assert judging(model={"simulated": {"noise": 2.0}, "concurrency": 3}).hash == plan.hash
    for changes in (
        {"seed": 2},
        {"replicates": 3},
        {"selection": {"groups": 5}},
        {"model": {"simulated": {"noise": 1}}},
    ):
        assert judging(**changes).hash != plan.hash
    assert judging(budgets=[{"effort": "none"}]).hash != plan.hash


def test_a_replay_has_the_hash_of_what_it_replays(judging: MakeJudging) -> None:
    inner = {"simulated": {"noise": 2.0}}
    assert judging(model={"replay": "x.sqlite", "of": inner}).hash == judging(model=inner).hash


def test_some_students_are_a_plan_of_their_own(judging: MakeJudging) -> None:
    plan = judging()
    assert [judge.name for judge in plan.only(["facts"]).students] == ["facts"]
    assert plan.only(["facts"]).hash != plan.hash
    with pytest.raises(PlanError, match="has no student 'fact'; it has whole, facts"):
        plan.only(["fact"])


def test_a_model_by_role_is_resolved_through_the_lock_and_refused_without_a_pin(judging: MakeJudging) -> None:
    plan = judging(model={"role": "judge"}, models="models.lock.json")
    pin = Pin("judge", ModelPlan.model_validate(LOCAL), None, {}, {}, None, None, "today")
    found = resolve_judging_models(plan, ModelLock({"judge": pin}), where="test")
    assert [judge.model.local for judge in found.students] == [LOCAL["local"]] * 2
    with pytest.raises(PlanError, match=r"students\.whole\.model is the model of role 'judge', but it is not pinned"):
        resolve_judging_models(plan, ModelLock({}), where="test")
    with pytest.raises(PlanError, match="models has no effect"):
        resolve_judging_models(judging(models="models.lock.json"), ModelLock({}), where="test")
