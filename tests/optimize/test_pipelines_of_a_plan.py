"""The pipelines and the control, as a plan names them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from lineage.errors import PlanError
from optimize.models import student_of
from optimize.student_plan import StudentPlan
from students import student_hash
from students.fact_list import FactListScorer
from students.pipeline import FactPipeline

MODEL = {"endpoint": "http://127.0.0.1:1/v1", "name": "m"}


def made(**settings: Any) -> Any:
    return student_of(StudentPlan.model_validate({"model": MODEL, **settings}), {"name": "m"})


def test_a_pipeline_begins_at_the_defaults_of_its_design() -> None:
    two, three = made(shape="two-stage"), made(shape="three-stage")
    assert isinstance(two, FactPipeline)
    assert (two.stages, two.max_facts, two.rule, two.budget.answer_tokens) == (2, 25, None, 512)
    assert (three.stages, three.max_facts, three.rule, three.block) == (3, 25, "critical-absent", "check")
    plain = FactPipeline(model={"name": "m"}, stages=3, rule="critical-absent")
    assert student_hash(three) == student_hash(plain)
    assert student_hash(made(shape="three-stage", weights={"critical": 4, "supporting": 2, "peripheral": 1})) == (
        student_hash(plain)
    ), "what is stated as it is by default changes nothing"


def test_every_option_of_a_plan_reaches_the_pipeline() -> None:
    weights = {"critical": 8.0, "supporting": 1.0, "peripheral": 0.0}
    student = made(
        shape="three-stage",
        facts_from="source",
        second_look=True,
        sections=True,
        rule="count-absent",
        rule_count=3,
        weights=weights,
        credits={"full": 1.0, "partial": 0.25, "absent": 0.0},
        max_facts=9,
        list_tokens=99,
        block="look",
        temperature=None,
        budget={"answer_tokens": 77},
    )
    assert (student.second_look, student.sections, student.rule, student.rule_count) == (True, True, "count-absent", 3)
    assert (student.capture.weights, student.capture.credits["partial"]) == (weights, 0.25)
    assert (student.max_facts, student.list_tokens, student.block, student.temperature) == (9, 99, "look", None)
    assert student.budget.answer_tokens == 77
    assert made(shape="two-stage", audit=True).audited
    assert made(shape="three-stage", rule=None).flag_rule is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"shape": "two-stage", "weights": {}}, "weights has no effect on shape two-stage"),
        ({"shape": "three-stage", "audit": True}, "audit has no effect on shape three-stage"),
        ({"shape": "two-stage", "samples": 2}, "samples has no effect on shape two-stage"),
        ({"shape": "whole-note", "second_look": True}, "second_look has no effect on shape whole-note"),
        ({"shape": "fact-list", "samples": 8}, "samples has no effect on shape fact-list"),
    ],
)
def test_a_setting_without_effect_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        made(**settings)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"shape": "two-stage", "rule": "critical-absent"}, "critical-absent needs facts with a severity"),
        ({"shape": "three-stage", "rule": "any-absent", "rule_count": 2}, "count-absent, and only it, takes a count"),
        ({"shape": "three-stage", "weights": {"critical": 1.0}}, "weights must name exactly"),
        ({"shape": "two-stage", "block": "look"}, "no block 'look'"),
    ],
)
def test_what_a_pipeline_refuses_is_an_error_of_the_plan(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        made(**settings)


def test_the_control_is_a_design_and_is_given_the_facts_of_the_corpus() -> None:
    assert isinstance(made(shape="fact-list", max_facts=4), FactListScorer)
    needs = {
        name: StudentPlan.model_validate({"model": MODEL, "shape": name}).needs_facts
        for name in ("fact-list", "per-fact", "two-stage", "three-stage", "whole-note", "coverage")
    }
    assert needs == {
        "fact-list": True,
        "per-fact": True,
        "two-stage": False,
        "three-stage": False,
        "whole-note": False,
        "coverage": False,
    }
    given = StudentPlan.model_validate({"model": MODEL, "shape": "two-stage", "facts_from": "corpus"})
    assert given.needs_facts
