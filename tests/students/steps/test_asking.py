"""What a verifier is asked: the same for training data and when it judges, and nothing of what comes later."""

from __future__ import annotations

import pytest

from splits import Corpus
from splits.corpus import Example
from splits.steps import Granularity, cut
from students.steps import StepVerifier, prompt_hashes, step_messages, step_values
from students.steps.asking import NO_SOURCE, NOTHING_YET
from students.student import Draw

NOTE = "HISTORY\nCough for a week. No fever.\nPLAN\nRest."
EXAMPLE = Example("e", "g", "", "Doctor: Any cough?", NOTE, "clean", "clean")
ONE = StepVerifier(model={"name": "m"})


@pytest.mark.parametrize("granularity", ["fine", "sentence", "problem", "note"])
def test_a_trainer_is_shown_what_the_verifier_is_asked(granularity: str, consults: Corpus) -> None:
    student = StepVerifier(model={"name": "m"}, granularity=granularity)
    example = consults.examples[0]
    note = cut(example.document, Granularity.of(granularity))
    sent = student.chain(example, (), student.seed_texts, Draw(1))
    shown = [step_messages(example, note, step) for step in note.steps]
    assert sorted(map(str, shown)) == sorted(str(request.messages) for request in sent)


def test_a_step_is_asked_after_what_stands_before_it_and_nothing_of_what_comes_later() -> None:
    note = cut(NOTE)
    asked = {step.place: step_values(EXAMPLE, note, step) for step in note.steps}
    assert asked["problem 1"]["written"] == NOTHING_YET
    assert asked["sentence 2 of problem 1"]["written"] == "HISTORY\nCough for a week."
    assert asked["sentence 2 of problem 1"]["step"] == "No fever."
    assert asked["problem 2"] == {
        "source": EXAMPLE.source,
        "written": "HISTORY\nCough for a week. No fever.",
        "kind": "a heading",
        "step": "PLAN",
    }
    assert asked["completeness of problem 1"]["part"] == "the part that was written last"
    assert asked["completeness of the note"]["part"] == "the whole note"
    assert asked["end of the note"]["written"] == NOTE
    whole = cut(NOTE, Granularity.of("problem"))
    assert step_values(EXAMPLE, whole, whole.steps[0])["kind"] == "a part"


def test_a_note_without_a_source_is_said_to_have_none() -> None:
    blank = Example("e", "g", "", " ", NOTE, "clean", "clean")
    assert step_values(blank, cut(NOTE), cut(NOTE).steps[0])["source"] == NO_SOURCE


def test_questions_that_share_a_beginning_stand_in_a_row() -> None:
    requests = ONE.chain(EXAMPLE, (), ONE.seed_texts, Draw(1))
    prompts = [request.prompt for request in requests]
    assert prompts == ["step-content"] * 5 + ["step-complete"] * 3 + ["step-end"]


def test_the_prompts_are_named_for_the_record() -> None:
    assert set(prompt_hashes()) == {"content", "complete", "end"}
