"""The step verifier as a student: scores, flags, votes, and what leaves a note without a score."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from lineage.errors import PlanError
from lineage.records import Usage
from splits import Corpus
from splits.corpus import Example
from students import Capabilities, ReasoningBudget, student_hash
from students.steps import StepVerifier, aggregated, stored_read
from students.student import CallsAtMost
from students.testing import USAGE, StudentContract, said
from students.transport import CallRequest, CallResult

MODEL = {"name": "m"}
STUDENT = StepVerifier(model=MODEL)
BLIND = StepVerifier(model=MODEL, votes=4, capabilities=Capabilities(top_logprobs=0))
NOTE = "HISTORY\nCough for a week. No fever.\nPLAN\nRest."


@pytest.fixture
def one() -> Corpus:
    """One short note of nine steps."""
    return Corpus((Example("e", "g", "", "Doctor: Any cough?", NOTE, "clean", "clean"),), {})


def sign(p: float) -> CallResult:
    top = (("+", math.log(p)), ("-", math.log1p(-p)))
    return CallResult("+" if p >= 0.5 else "-", "length", Usage(1, 50, 1), top=top)


def about(request: CallRequest) -> str:
    return request.inputs.get("step", request.prompt)


class TestVerifierOfVotes(StudentContract):
    student = BLIND

    def good(self, request: CallRequest) -> CallResult:
        return said("+")

    def poor(self, request: CallRequest) -> CallResult:
        return said("-")


class TestVerifierOfProblems(StudentContract):
    student = StepVerifier(model=MODEL, granularity="problem", aggregation="minimum", block="end")

    def good(self, request: CallRequest) -> CallResult:
        return replace(sign(0.97), usage=USAGE)

    def poor(self, request: CallRequest) -> CallResult:
        return replace(sign(0.02), usage=USAGE)


def test_each_step_is_read_and_the_score_is_made_of_all(sit: Any, one: Corpus) -> None:
    found = sit(STUDENT, one, lambda request: sign(0.2 if about(request) == "No fever." else 0.9))
    (judgement,) = found.judgements
    assert len(found.asked) == 9
    assert [verdict.p_yes for verdict in judgement.facts] == pytest.approx([0.9, 0.9, 0.2, *[0.9] * 6])
    assert judgement.facts[2].text == "sentence 2 of problem 1"
    assert judgement.score == pytest.approx(1 / (1 - 8 * math.log(0.9) - math.log(0.2)), abs=1e-6)
    assert judgement.parts["sum_of_logs"] == pytest.approx(8 * math.log(0.9) + math.log(0.2), abs=1e-5)
    assert judgement.parts["minimum"] == pytest.approx(0.2)
    assert judgement.parts["length-normalised"] == pytest.approx(math.exp(judgement.parts["sum_of_logs"] / 9), abs=1e-5)
    assert judgement.score == aggregated([stored_read(verdict) for verdict in judgement.facts], "sum")


def test_the_flag_names_the_first_bad_step_by_its_place_and_no_word_of_the_note(sit: Any, one: Corpus) -> None:
    bad = ("No fever.", "Rest.")
    (judgement,) = sit(STUDENT, one, lambda request: sign(0.3 if about(request) in bad else 0.9)).judgements
    assert judgement.flags == ("s3: sentence 2 of problem 1, P(+) = 0.300",)
    (clean,) = sit(STUDENT, one, lambda request: sign(0.51), cache="clean").judgements
    assert clean.flags == ()


def test_without_log_probabilities_votes_are_counted_for_each_step_and_the_record_says_so(
    sit: Any, one: Corpus
) -> None:
    def answer(request: CallRequest) -> CallResult:
        plus = request.sample == 0 if about(request) == "No fever." else True
        return CallResult("+" if plus else "-", "stop", Usage(1, 50, 1))

    assert (STUDENT.samples, BLIND.samples) == (1, 4)
    found = sit(BLIND, one, answer)
    (judgement,) = found.judgements
    assert len(found.asked) == 4 * 9
    assert {request.sent["temperature"] for request in found.asked} == {1.0}
    assert [verdict.p_yes for verdict in judgement.facts] == pytest.approx([0.9, 0.9, 0.3, *[0.9] * 6])
    assert judgement.facts[0].margin is None
    assert judgement.parts["votes"] == 4
    assert judgement.sent["samples"] == 4
    assert (BLIND.settings()["read"], STUDENT.settings()["read"]) == ("votes", "log-probabilities")
    assert judgement.score == aggregated([stored_read(verdict) for verdict in judgement.facts], "sum")
    assert judgement.flags == ("s3: sentence 2 of problem 1, P(+) = 0.300",)


@pytest.mark.parametrize(
    ("student", "answer", "reason"),
    [
        (STUDENT, CallResult("The", "length", Usage(), top=(("The", -0.1),)), "unparseable: step s3"),
        (STUDENT, CallResult("+", "stop", Usage()), "empty: step s3, sentence 2 of problem 1: no log-probabilities"),
        (STUDENT, CallResult(None, "content_filter", Usage()), "refused: step s3"),
        (BLIND, CallResult("perhaps", "stop", Usage()), "unparseable: step s3, sentence 2 of problem 1: perhaps"),
        (BLIND, CallResult("+", "length", Usage()), "truncated: step s3"),
        (BLIND, CallResult("+ and -", "stop", Usage()), "unparseable: step s3"),
    ],
)
def test_one_step_that_is_not_read_leaves_the_note_without_a_score(
    student: StepVerifier, answer: CallResult, reason: str, sit: Any, one: Corpus
) -> None:
    good = sign(0.9) if student.weighted else CallResult("+", "stop", Usage())
    (judgement,) = sit(student, one, lambda request: answer if about(request) == "No fever." else good).judgements
    assert (judgement.status, judgement.score, judgement.facts, judgement.flags) == ("failed", None, (), ())
    assert judgement.reason.startswith(reason)


def test_steps_that_twins_share_are_one_call_and_equal(sit: Any, one: Corpus) -> None:
    (clean,) = one.examples
    flawed = replace(clean, id="f", document=NOTE.replace("Rest.", "Run."), label="commission", kind="change", twin="e")
    found = sit(STUDENT, Corpus((clean, flawed), {}), lambda request: sign(0.8))
    assert sum(judgement.paid for judgement in found.judgements) == len(found.asked) == 9 + 4
    assert {request.seed for request in found.asked} == {None}
    assert {judgement.seed for judgement in found.judgements} == {None}
    votes = sit(BLIND, one, lambda request: CallResult("+", "stop", Usage()), cache="votes")
    assert len({request.seed for request in votes.asked}) == 4, "votes are drawn, each with its own seed"


def test_a_note_of_too_many_steps_fails_before_anything_is_asked(sit: Any, one: Corpus) -> None:
    found = sit(replace(STUDENT, most_steps=8), one, lambda request: sign(0.9))
    assert found.asked == []
    assert found.judgements[0].reason == "unparseable: the document has 9 steps, most_steps is 8"


def test_calls_are_counted_by_the_steps_of_a_note() -> None:
    assert STUDENT.calls_of(NOTE) == 9
    assert BLIND.calls_of(NOTE) == 36
    assert STUDENT.calls_at_most(5) == CallsAtMost(200)
    assert replace(STUDENT, granularity="note").calls_at_most(5) == CallsAtMost(1)


def test_what_shapes_a_verdict_is_part_of_the_hash() -> None:
    changes: list[dict[str, Any]] = [
        *({name: value} for name, value in (("granularity", "problem"), ("aggregation", "mean"), ("block", "end"))),
        *({name: value} for name, value in (("threshold", 0.4), ("most_steps", 90))),
    ]
    others = [replace(STUDENT, **change) for change in changes]
    assert len({student_hash(student) for student in (STUDENT, BLIND, *others)}) == 7
    same = replace(STUDENT, granularity="problem+sentence+problem-complete+note-complete+end")
    assert student_hash(same) == student_hash(STUDENT), "the same kinds by another name"


def test_votes_are_had_on_demand_of_an_endpoint_that_is_not_known() -> None:
    student = replace(STUDENT, reading="votes")
    assert (student.weighted, student.samples, student.settings()["read"]) == (False, 8, "votes")
    assert student.sending.seeded


def test_a_model_that_reasons_without_log_probabilities_votes() -> None:
    able = Capabilities(reasoning_logprobs=False, reasoning_temperature=1.0)
    budget = ReasoningBudget(effort="low", answer_tokens=99)
    student = StepVerifier(model={}, budget=budget, capabilities=able)
    assert not student.weighted
    assert "logprobs" not in student.sending.answer


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"granularity": "fien"}, "did you mean 'fine'"),
        ({"aggregation": "median"}, "aggregation must be one of sum"),
        ({"threshold": 1.0}, "threshold must be a probability"),
        ({"reading": "logits"}, "reading must be one of auto, votes"),
        ({"votes": 0}, "must be at least 1, got 0"),
        ({"temperature": 0}, "temperature must be above 0 for 4 votes"),
        ({"block": "ends"}, "step has no block 'ends'; did you mean 'end'"),
    ],
)
def test_settings_out_of_range_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        replace(BLIND, **change)
