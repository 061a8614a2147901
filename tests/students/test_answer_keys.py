"""No prompt of a student rests on what is known of the flaw: its label, its fact, its twin or its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from splits import Corpus, Example
from splits.answer_keys import AnswerKeys
from splits.corpus import Residual
from splits.shingles import words_of
from students import KeyedFactChecker, PerFactChecker, ReasoningBudget, Student, WholeNoteScorer
from students.student import Draw

PLAIN, SCRATCHPAD = ReasoningBudget(answer_tokens=64), ReasoningBudget(thinking_tokens=50, answer_tokens=64)
DESIGNS: tuple[Callable[..., Any], ...] = (PerFactChecker, KeyedFactChecker, WholeNoteScorer)
STUDENTS = [design(model={"name": "m"}, budget=budget) for design in DESIGNS for budget in (PLAIN, SCRATCHPAD)]
GROUPS = ("tel-01", "uk-07", "us-13")


def name_of(student: Student) -> str:
    return student.name + ("" if student.sending.scratchpad is None else " with a scratchpad")


def prompts(student: Student, example: Example, corpus: Corpus) -> list[str]:
    calls = student.chain(example, corpus.facts[example.group], {"instruction": "Judge it well."}, Draw(0))
    return ["\n".join(str(message["content"]) for message in call.messages) for call in calls]


@pytest.mark.parametrize("student", STUDENTS, ids=name_of)
def test_prompts_are_the_same_whatever_is_known_of_the_flaw(student: Student, consults: Corpus) -> None:
    for group in GROUPS:
        for example in consults.groups[group]:
            blank = {"label": "clean", "kind": "clean", "severity": None, "trace": None, "twin": None, "fact": None}
            told = replace(example, id="another", residual=(Residual(0, "PLAN", "explicit"),), cohort="c", **blank)
            told = replace(told, meta={"flaw": "a whole sentence on what is wrong"}, stratum="elsewhere")
            assert prompts(student, told, consults) == prompts(student, example, consults)


@pytest.mark.parametrize("student", STUDENTS, ids=name_of)
def test_prompts_name_no_example_and_hold_no_sentence_that_only_the_twin_has(
    student: Student, consults: Corpus
) -> None:
    for group in GROUPS:
        members = consults.groups[group]
        keys = AnswerKeys(Corpus(members, {}))
        for example in members:
            given = f"{example.document} {example.source} {' '.join(fact.fact for fact in consults.facts[group])}"
            inputs = f" {' '.join(words_of(given))} "
            for prompt in prompts(student, example, consults):
                assert keys.names_in(prompt) == []
                assert [key for key in keys.keys_in(prompt) if f" {key.words} " not in inputs] == []
