"""G-Eval style criteria: expectations where there are log-probabilities, samples where there are none."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from lineage.errors import PlanError
from lineage.records import Usage
from students import Capabilities, ReasoningBudget, student_hash
from students.g_eval import GEvalJudge
from students.student import CallsAtMost
from students.transport import CallRequest, CallResult

STUDENT = GEvalJudge(model={"name": "m"})
BLIND = GEvalJudge(model={"name": "m"}, capabilities=Capabilities(top_logprobs=0))


@pytest.fixture
def one(groups: Any) -> Any:
    """One document."""
    group = groups(1)
    return group.part(group.examples[:1])


def graded(**weights: float) -> CallResult:
    top = tuple((digit.removeprefix("_"), math.log(weight)) for digit, weight in weights.items())
    return CallResult(top[0][0], "length", Usage(1, 50, 1), top=top)


def test_each_criterion_is_asked_and_its_expectation_brought_to_the_scale(sit: Any, one: Any) -> None:
    grades = {"completeness": graded(_1=0.5, _5=0.5), "faithfulness": graded(_5=1.0), "precision": graded(_2=1.0)}

    def answer(request: CallRequest) -> CallResult:
        text = request.inputs["instruction"]
        return next((result for name, result in grades.items() if name in text), grades["completeness"])

    found = sit(STUDENT, one, answer)
    (judgement,) = found.judgements
    assert judgement.parts == {"completeness": 0.5, "faithfulness": 1.0, "precision": 0.25}
    assert judgement.score == 0.583
    assert [request.sent["top_logprobs"] for request in found.asked] == [20] * 3
    assert [request.sent["temperature"] for request in found.asked] == [0] * 3
    assert found.asked[0].inputs["instruction"] == "Judge."  # completeness is the criterion that evolves
    assert STUDENT.calls_at_most(9) == CallsAtMost(3)


def test_without_log_probabilities_grades_are_sampled_and_averaged(sit: Any, one: Any) -> None:
    assert (STUDENT.samples, BLIND.samples) == (1, 8)
    found = sit(BLIND, one, lambda request: CallResult(f"{1 + request.sample % 5}", "stop", Usage(1, 50, 1)))
    (judgement,) = found.judgements
    assert len(found.asked) == 24
    assert {request.sent["temperature"] for request in found.asked} == {1.0}
    assert judgement.score == pytest.approx((0 + 1 + 2 + 3 + 4 + 0 + 1 + 2) / 8 / 4)
    assert set(judgement.parts.values()) == {judgement.score}
    assert BLIND.calls_at_most(9) == CallsAtMost(24)


@pytest.mark.parametrize(
    ("student", "answer", "reason"),
    [
        (STUDENT, graded(Score=0.9, _4=0.1), "unparseable: completeness: 1 to 5 have 0.10 of the probability"),
        (STUDENT, CallResult("4", "stop", Usage()), "empty: completeness: no log-probabilities"),
        (BLIND, CallResult("0", "stop", Usage()), "unparseable: completeness: 0 is below 1"),
        (BLIND, CallResult("6", "stop", Usage()), "unparseable: completeness: 6"),
        (BLIND, CallResult("4 or 5", "stop", Usage()), "unparseable: completeness: 4 or 5"),
        (BLIND, CallResult("4", "length", Usage()), "truncated: completeness: after 0 reasoning tokens"),
    ],
)
def test_a_grade_that_is_not_read_leaves_no_score(
    student: GEvalJudge, answer: CallResult, reason: str, sit: Any, one: Any
) -> None:
    (judgement,) = sit(student, one, lambda request: answer).judgements
    assert (judgement.status, judgement.score) == ("failed", None)
    assert judgement.reason.startswith(reason)


def test_how_grades_are_read_is_part_of_the_hash() -> None:
    others = [BLIND, replace(STUDENT, block="precision"), replace(BLIND, draws=4), replace(BLIND, temperature=0.5)]
    assert len({student_hash(student) for student in (STUDENT, *others)}) == 5


def test_a_model_that_reasons_without_log_probabilities_is_sampled() -> None:
    able = Capabilities(reasoning_logprobs=False, reasoning_temperature=1.0)
    student = GEvalJudge(model={}, budget=ReasoningBudget(effort="low", answer_tokens=99), capabilities=able)
    assert not student.weighted
    assert "logprobs" not in student.sending.answer


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"draws": 0}, "samples must be at least 1, got 0"),
        ({"temperature": 0}, "temperature must be above 0 for 8 samples"),
        ({"block": "precison"}, "g-eval has no block 'precison'; did you mean 'precision'"),
    ],
)
def test_settings_out_of_range_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        replace(BLIND, **change)
