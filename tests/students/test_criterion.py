"""The eight designs: criterion, answer form, samples, and the flag rule that goes with them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from lineage.errors import PlanError
from lineage.records import Usage
from students import ReasoningBudget, student_hash
from students.criterion import ANSWER_FORMS, CRITERIA, SAMPLES, CriterionJudge
from students.shape import load_instruction
from students.student import CallsAtMost
from students.transport import CallRequest, CallResult

MODEL = {"name": "m"}


def judge(answer: Any, samples: int, criterion: Any = "faithfulness", **more: Any) -> CriterionJudge:
    given = {"model": MODEL, "temperature": 0.0 if samples == 1 else 1.0} | more
    return CriterionJudge(criterion=criterion, answer=answer, samples=samples, **given)


EIGHT = [judge(answer, n, criterion) for criterion, answer, n in itertools.product(CRITERIA, ANSWER_FORMS, SAMPLES)]


def saying(*texts: str) -> Callable[[CallRequest], CallResult]:
    """Answers by the number of the sample."""
    return lambda request: CallResult(texts[request.sample], "stop", Usage(1, 10, 2))


@pytest.fixture
def one(groups: Any) -> Any:
    """One document."""
    group = groups(1)
    return group.part(group.examples[:1])


def test_there_are_eight_with_names_and_hashes_of_their_own() -> None:
    assert [student.name for student in EIGHT][:4] == [
        "faithfulness-yes-no-1",
        "faithfulness-yes-no-8",
        "faithfulness-score-1",
        "faithfulness-score-8",
    ]
    assert EIGHT[-1].name == "complete-and-faithful-score-8"
    assert len({student_hash(student) for student in EIGHT}) == 8


@pytest.mark.parametrize(
    ("answer", "samples", "rule", "swept"),
    [
        ("yes-no", 1, "FAIL", False),
        ("yes-no", 8, "winsorised mean <= 5", False),
        ("score", 1, "score <= 7", True),
        ("score", 8, "winsorised mean < 8", True),
    ],
)
def test_the_flag_rule_is_fixed_in_the_design_and_part_of_its_hash(
    answer: Any, samples: int, rule: str, swept: bool
) -> None:
    for criterion in CRITERIA:
        student = judge(answer, samples, criterion)
        assert (str(student.flag_rule), student.flag_rule.swept) == (rule, swept)
        assert student.settings()["flag_rule"] == {"rule": rule, "swept": swept}


@pytest.mark.parametrize(
    ("student", "texts", "score", "flags"),
    [
        (judge("yes-no", 1), ["Verdict: PASS"], 10.0, ()),
        (judge("yes-no", 1), ["FAIL - the dose"], 0.0, ("FAIL",)),
        (judge("score", 1), ["Score: 8"], 8.0, ()),
        (judge("score", 1), ["7"], 7.0, ("score <= 7",)),
        (judge("yes-no", 8), ["PASS"] * 7 + ["FAIL"], 10.0, ()),
        (judge("yes-no", 8), ["PASS", "FAIL"] * 4, 5.0, ("winsorised mean <= 5",)),
        (judge("yes-no", 8), ["FAIL"] * 3 + ["PASS"] * 5, 6.25, ()),
        (judge("score", 8), [f"Score: {n}" for n in (0, 7, 7, 8, 8, 8, 9, 10)], 7.875, ("winsorised mean < 8",)),
        (judge("score", 8), [f"Score: {n}" for n in (0, 8, 8, 8, 8, 8, 8, 10)], 8.0, ()),
        (judge("score", 8), ["8/10", "4/5", "8 - good", "Score: 8", "8", '{"score": 8}', "8.0", "**8**"], 8.0, ()),
    ],
)
def test_samples_are_combined_and_flagged(
    student: CriterionJudge, texts: Sequence[str], score: float, flags: tuple[str, ...], sit: Any, one: Any
) -> None:
    found = sit(student, one, saying(*texts))
    (judgement,) = found.judgements
    assert (judgement.status, judgement.score, judgement.flags) == ("scored", score, flags)
    assert judgement.raw == tuple(texts)
    assert len({request.seed for request in found.asked}) == len(texts) == student.samples


@pytest.mark.parametrize(
    ("student", "bad", "status", "reason"),
    [
        (judge("yes-no", 8), "Yes", "failed", "unparseable: Yes"),
        (judge("score", 8), "Score: 4 or 5", "failed", "unparseable: Score: 4 or 5"),
        (judge("score", 8), "ABSTAIN", "abstained", "abstained: ABSTAIN"),
        (judge("yes-no", 1), "Score: 8", "failed", "unparseable: Score: 8"),
        (judge("score", 1), "Verdict: PASS", "failed", "unparseable: Verdict: PASS"),
    ],
)
def test_one_sample_that_is_not_read_leaves_no_score_and_no_flag(
    student: CriterionJudge, bad: str, status: str, reason: str, sit: Any, one: Any
) -> None:
    good = "Verdict: PASS" if student.answer == "yes-no" else "Score: 8"
    (judgement,) = sit(student, one, saying(*[good] * (student.samples - 1), bad)).judgements
    assert (judgement.status, judgement.score, judgement.reason, judgement.flags) == (status, None, reason, ())


@pytest.mark.parametrize("student", EIGHT, ids=lambda student: student.name)
def test_the_evolving_block_begins_at_the_criterion_and_nothing_else_says_which_it_is(student: Any) -> None:
    (text,) = student.seed_texts.values()
    assert text == load_instruction(f"criterion-{student.criterion}")
    other = judge(student.answer, student.samples, next(each for each in CRITERIA if each != student.criterion))
    assert student.prompt.shape == other.prompt.shape


def test_calls_at_most_are_the_samples_and_their_scratchpads() -> None:
    assert judge("score", 8).calls_at_most(12) == CallsAtMost(8)
    thinking = judge("score", 8, budget=ReasoningBudget(thinking_tokens=50, answer_tokens=16))
    assert thinking.calls_at_most(12) == CallsAtMost(16)


@pytest.mark.parametrize("temperature", [0, 0.0])
def test_eight_samples_at_temperature_zero_are_refused(temperature: float) -> None:
    with pytest.raises(PlanError, match=r"must be above 0 for faithfulness-score-8, got 0: .*give 1, or null"):
        judge("score", 8, temperature=temperature)
    assert judge("score", 8, temperature=None).sending.answer == {"max_tokens": 16}


@pytest.mark.parametrize("change", [{"samples": 3}, {"answer": "grade"}, {"criterion": "brevity"}])
def test_another_design_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(PlanError, match=r"there is no design .*: criterion is faithfulness or complete-and-faithful"):
        replace(judge("score", 1), **change)
