"""Dialogues: played again from their start, scratchpads first, and blind where they are about the source alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from lineage.records import Usage
from splits.blindness import BlindnessError
from splits.corpus import Example, Fact
from students import ReasoningBudget
from students.answers import Reading
from students.dialogue import Dialogue, Question, ask, of_the_source, taken, text_of
from students.parsing import parse_score
from students.prompt import Prompt
from students.prompted import PromptedStudent
from students.sending import Sending
from students.student import CallsAtMost, Draw
from students.transport import CallFailure, CallRequest, CallResult

EXAMPLE = Example("g-1", "g", "s", "It hurts.", "A note that says more of it.", "omission", "omit", twin="g-0")
TEXTS = {"instruction": "Judge."}
DRAW = Draw(7, 2, 1, group_seed=99)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSteps(PromptedStudent):
    """Asks about the source, perhaps with what it should not see, and then twice about the document."""

    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=8))
    peeks: bool = False

    name: ClassVar[str] = "two-steps"
    samples: ClassVar[int] = 1
    seed_instruction: ClassVar[str] = "complete-and-faithful"

    def __post_init__(self) -> None:
        sending = Sending.of(self.budget, self.capabilities, temperature=0)
        object.__setattr__(self, "prompt", Prompt.load("coverage-statements", sending))

    def own_settings(self) -> dict[str, Any]:
        return {}

    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        text = example.document if self.peeks else example.source
        (first,) = yield from of_the_source(ask(Question(self.prompt, {"text": text}, "the source")))
        if text_of(first, about="the source") == "enough":
            return Reading("scored", 1.0)
        about = ("one", "two")
        answers = yield from ask(*(Question(self.prompt, {"text": f"{example.document} {n}"}, n) for n in about))
        read = [taken(parse_score(text_of(each, about=n)), about=n) for each, n in zip(answers, about, strict=True)]
        return Reading("scored", float(sum(read)))


STUDENT = TwoSteps(model={})


def said(text: str, finish: str = "stop") -> CallResult:
    return CallResult(text, finish, Usage(calls=1))


def test_the_next_calls_follow_from_the_answers_so_far_and_the_last_give_the_reading() -> None:
    first = STUDENT.chain(EXAMPLE, (), TEXTS, DRAW)
    assert [request.inputs["text"] for request in first] == ["It hurts."]
    then = STUDENT.follow(EXAMPLE, (), TEXTS, DRAW, [said("more")])
    assert [request.inputs["text"] for request in then] == [f"{EXAMPLE.document} one", f"{EXAMPLE.document} two"]
    answers = [said("more"), said("3"), said("4")]
    assert STUDENT.follow(EXAMPLE, (), TEXTS, DRAW, answers) == ()
    assert STUDENT.read(EXAMPLE, (), answers) == Reading("scored", 7.0)


def test_a_dialogue_may_end_early() -> None:
    assert STUDENT.follow(EXAMPLE, (), TEXTS, DRAW, [said("enough")]) == ()
    assert STUDENT.read(EXAMPLE, (), [said("enough")]) == Reading("scored", 1.0)


@pytest.mark.parametrize(
    ("answers", "status", "reason"),
    [
        ([CallFailure("transport", "gone")], "failed", "transport: the source: gone"),
        ([said("more"), said("3", "length"), said("4")], "failed", "truncated: one: after 0 reasoning tokens"),
        ([said("more"), said("3"), said("4 or 5")], "failed", "unparseable: two: 4 or 5"),
        ([said("more"), said("3"), said("ABSTAIN")], "abstained", "abstained: two: ABSTAIN"),
    ],
)
def test_what_is_not_read_ends_the_dialogue_and_says_what_it_was_about(
    answers: list[CallResult | CallFailure], status: Any, reason: str
) -> None:
    assert STUDENT.follow(EXAMPLE, (), TEXTS, DRAW, answers) == ()
    assert STUDENT.read(EXAMPLE, (), answers) == Reading(status, None, reason)


def test_a_judgement_that_has_not_ended_is_not_read() -> None:
    with pytest.raises(AssertionError, match="after its last answer"):
        STUDENT.read(EXAMPLE, (), [said("more")])


def test_calls_about_the_source_alone_are_the_same_for_every_document_and_sample_of_a_group() -> None:
    other = Example("g-0", "g", "s", "It hurts.", "Another note.", "clean", "clean")
    (one,) = STUDENT.chain(EXAMPLE, (), TEXTS, DRAW)
    (two,) = STUDENT.chain(other, (), TEXTS, Draw(8, 5, 1, group_seed=99))
    assert one.shared
    assert (one.seed, one.sample, one.replicate) == (99, 0, 1)
    assert one.key({}) == two.key({})
    (replicate,) = STUDENT.chain(other, (), TEXTS, Draw(8, 5, 2, group_seed=99))
    assert replicate.key({}) != one.key({})
    then = STUDENT.follow(EXAMPLE, (), TEXTS, DRAW, [said("more")])
    assert {(request.shared, request.seed, request.sample) for request in then} == {(False, 7, 2)}


def test_a_call_about_the_source_alone_that_holds_the_document_is_refused() -> None:
    with pytest.raises(BlindnessError):
        TwoSteps(model={}, peeks=True).chain(EXAMPLE, (), TEXTS, DRAW)


def test_every_question_has_its_scratchpad_and_all_of_one_step_are_written_first() -> None:
    student = TwoSteps(model={}, budget=ReasoningBudget(thinking_tokens=5, answer_tokens=8))
    answers: list[CallResult] = []
    asked: list[CallRequest] = []
    stage = student.chain(EXAMPLE, (), TEXTS, DRAW)
    while stage:
        asked += stage
        answers += [said("thought", "length") if request.thinks else said("3") for request in stage]
        stage = student.follow(EXAMPLE, (), TEXTS, DRAW, answers)
    assert [request.thinks for request in asked] == [True, False, True, True, False, False]
    assert [request.shared for request in asked] == [True, True, False, False, False, False]
    assert [len(request.messages) for request in asked] == [2, 4, 2, 2, 4, 4]
    assert student.read(EXAMPLE, (), answers).score == 6.0
    bad = [said("thought", "length"), said("3"), said("thought"), said("")]
    assert student.read(EXAMPLE, (), bad).reason == "empty: scratchpad of two: no text"


def test_other_students_share_what_a_prompted_one_has_by_itself() -> None:
    assert STUDENT.flag_rule is None
    assert STUDENT.calls_at_most(9) == CallsAtMost(1)
    assert list(STUDENT.seed_texts) == ["instruction"]
