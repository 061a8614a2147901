"""What repeats stands first: judgements of one document begin with the same bytes, whatever the shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from lineage.records import Usage
from splits.corpus import Example, Fact
from students import KeyedFactChecker, PerFactChecker, ReasoningBudget, Student, WholeNoteScorer
from students.answers import Answers
from students.criterion import CriterionJudge
from students.reporting import DeployedJudge, EngineeredJudge
from students.student import Draw
from students.transport.base import CallRequest, CallResult

PLAIN, SCRATCHPAD = ReasoningBudget(answer_tokens=64), ReasoningBudget(thinking_tokens=50, answer_tokens=64)
CRITERION = partial(CriterionJudge, criterion="faithfulness", samples=1)
DESIGNS: tuple[Callable[..., Any], ...] = (
    PerFactChecker,
    KeyedFactChecker,
    WholeNoteScorer,
    partial(CRITERION, answer="score"),
    partial(CRITERION, answer="yes-no"),
    EngineeredJudge,
    partial(DeployedJudge, wording="omissions-excluded"),
)
STUDENTS = [design(model={"name": "m"}, budget=budget) for design in DESIGNS for budget in (PLAIN, SCRATCHPAD)]
TEXTS = {"instruction": "Judge it well."}
FACTS = tuple(Fact(f"g-f{n}", "g", f"fact number {n}", (), "critical", True) for n in range(4))
NOTES = ["The first note, with all of it.", "A second note, with less."]
GROUP = [Example(f"g-{n}", "g", "s", "WHAT WAS SAID", note, "clean", "clean") for n, note in enumerate(NOTES)]


def said(request: CallRequest) -> str:
    """The messages in the order in which a model reads them."""
    return "".join(f"<{message['role']}>{message['content']}" for message in request.messages)


def shared_beginning(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    return first[: next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]


def all_calls(student: Student, example: Example, draw: Draw) -> list[CallRequest]:
    """Every call about an example, where the keyed answer leaves a fact out."""
    asked: list[CallRequest] = []
    answers: list[CallResult] = []
    stage: Sequence[CallRequest] = student.chain(example, FACTS, TEXTS, draw)
    while stage:
        asked += stage
        so_far: Answers = [*answers]
        text = "Some thoughts." if student.sending.scratchpad is not None and not so_far else "f1: yes\nf3: no\nf4: no"
        answers += [CallResult(text, "stop", Usage(calls=1)) for _ in stage]
        stage = student.follow(example, FACTS, TEXTS, draw, answers)
    return asked


def name_of(student: Student) -> str:
    return student.name + ("" if student.sending.scratchpad is None else " with a scratchpad")


@pytest.mark.parametrize("student", STUDENTS, ids=name_of)
def test_every_call_about_one_document_begins_with_the_same_bytes_up_to_its_end(student: Student) -> None:
    calls = [
        said(request)
        for sample in range(2)
        for replicate in range(2)
        for request in all_calls(student, GROUP[0], Draw(sample, sample, replicate))
    ]
    shared = shared_beginning(calls)
    assert NOTES[0] in shared
    assert TEXTS["instruction"] in shared
    assert len(calls) > 1


def test_every_call_about_one_group_begins_with_the_instruction_and_the_source() -> None:
    for student in (student for student in STUDENTS if not isinstance(student, PerFactChecker | KeyedFactChecker)):
        calls = [said(request) for example in GROUP for request in all_calls(student, example, Draw(0))]
        shared = shared_beginning(calls)
        assert "WHAT WAS SAID" in shared
        assert TEXTS["instruction"] in shared


@pytest.mark.parametrize("student", STUDENTS, ids=name_of)
def test_what_follows_the_shared_beginning_is_never_what_a_model_generated(student: Student) -> None:
    calls = all_calls(student, GROUP[0], Draw(0))
    for earlier in calls:
        for later in calls:
            assert earlier is later or not said(later).startswith(said(earlier) + "<assistant>")


@pytest.mark.parametrize("student", STUDENTS, ids=name_of)
def test_the_document_and_the_instruction_stand_once_in_every_call(student: Student) -> None:
    for request in all_calls(student, GROUP[0], Draw(0)):
        assert said(request).count(NOTES[0]) == said(request).count(TEXTS["instruction"]) == 1
