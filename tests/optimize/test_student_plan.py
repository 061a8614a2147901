"""The student's part of a plan: designs by name, and what each sets where the plan is silent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from lineage.errors import PlanError
from optimize.models import student_of
from optimize.student_plan import StudentPlan
from students.designs import DESIGNS

MODEL = {"endpoint": "http://127.0.0.1:1/v1", "name": "m"}


def planned(shape: str, **settings: Any) -> StudentPlan:
    return StudentPlan.model_validate({"shape": shape, "model": MODEL, **settings})


@pytest.mark.parametrize("name", sorted(set(DESIGNS) - {"program"}))
def test_every_design_can_be_planned_by_its_name_alone(name: str) -> None:
    plan = planned(name)
    student = student_of(plan, {"name": "m"})
    assert (student.name, student.budget.answer_tokens) == (name, plan.budget.answer_tokens)


def test_what_a_design_sets_is_in_the_plan_s_own_row_and_gives_way_to_the_plan() -> None:
    assert planned("faithfulness-score-8").temperature == 1.0
    assert planned("faithfulness-score-8", temperature=0.5).temperature == 0.5
    assert (planned("g-eval").samples, planned("g-eval").budget.answer_tokens) == (8, 4)
    assert planned("engineered").budget.answer_tokens == 512
    assert planned("engineered", budget={"thinking_tokens": 9}).budget.answer_tokens == 512
    assert planned("engineered", budget={"answer_tokens": 99}).budget.answer_tokens == 99
    assert planned("checklist").block == "answers"
    assert (planned("per-fact").budget.answer_tokens, planned("per-fact").temperature) == (64, 0.0)


def test_a_plan_that_says_what_its_design_sets_anyway_is_the_same_plan() -> None:
    said = planned("g-eval", samples=8, temperature=1.0, block="completeness", budget={"answer_tokens": 4})
    assert said == planned("g-eval")


@pytest.mark.parametrize(
    ("shape", "settings", "said"),
    [
        ("faithfulnes-score-8", {}, "did you mean 'faithfulness-score-8'"),
        ("coverege", {}, "did you mean 'coverage'"),
        ("zzz", {}, "there are per-fact, per-fact-keyed, whole-note"),
        ("faithfulness-score-8", {"samples": 3}, "samples has no effect on shape faithfulness-score-8"),
        ("whole-note", {"block": "x"}, "block has no effect on shape whole-note"),
        ("engineered", {"list_tokens": 9}, "list_tokens has no effect on shape engineered"),
        ("deployed-omissions-counted", {"model": {"simulated": {}}}, "the simulated judge answers shapes"),
    ],
)
def test_what_no_design_takes_is_refused(shape: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        StudentPlan.model_validate({"shape": shape, "model": MODEL} | settings)


def test_the_schema_lists_the_designs() -> None:
    assert StudentPlan.model_json_schema()["properties"]["shape"]["enum"] == list(DESIGNS)


def test_a_dspy_program_is_a_student_by_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import dspy\n\n\ndef judge():\n    return dspy.Predict('transcript, note -> score: float')\n"
    (tmp_path / "planned_judges.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    inputs = {"transcript": "source", "note": "document"}
    plan = planned("program", program="planned_judges:judge", inputs=inputs, flag_below=5.0)
    student = student_of(plan, {"name": "m"})
    assert (student.name, student.scale, student.budget.answer_tokens) == ("program", 10.0, 512)
    assert str(student.flag_rule) == "score < 5"
    assert not plan.needs_facts
    assert planned("program", program="planned_judges:judge", inputs={"note": "facts"}).needs_facts


def test_a_program_without_its_place_and_a_place_without_a_program_are_refused() -> None:
    with pytest.raises(ValidationError, match="shape program needs program"):
        planned("program")
    with pytest.raises(ValidationError, match="program has no effect on shape per-fact"):
        planned("per-fact", program="a.b:c")
    with pytest.raises(PlanError, match="No module named"):
        student_of(planned("program", program="no.such:judge"), {"name": "m"})
