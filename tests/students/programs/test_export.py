"""Our students as dspy programs: the same questions and readings, in dspy's traces and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy import lm15

from splits.corpus import Example, Fact
from students import KeyedFactChecker, PerFactChecker, WholeNoteScorer
from students.pipeline import FactPipeline
from students.programs import JudgeProgram, exported_program
from students.student import Draw, Student

MODEL = {"name": "m"}


class Engine:
    """A dspy engine that answers by a function and keeps what it was asked."""

    def __init__(self, *answers: str, finish: Any = "stop", logprobs: Any = None) -> None:
        self.answers, self.finish, self.logprobs = list(answers), finish, logprobs
        self.asked: list[Any] = []

    def complete(self, request: Any) -> Any:
        self.asked.append(request)
        text = self.answers.pop(0)
        message = lm15.Message(role="assistant", parts=(lm15.TextPart(text) if text else lm15.RefusalPart("no"),))
        usage = lm15.Usage(input_tokens=3, output_tokens=1)
        return lm15.Response(
            id=None,
            model=request.model,
            message=message,
            finish_reason=self.finish,
            usage=usage,
            logprobs=self.logprobs,
        )


def judged(student: Student, engine: Engine, **given: Any) -> tuple[Any, list[Any]]:
    """A prediction and its trace."""
    lm = dspy.LM("judge/one", engine=engine, cache=False, num_retries=0)
    trace: list[Any] = []
    with dspy.context(lm=lm, trace=trace, disable_history=True):
        return exported_program(student)(source="the source", document="the note", **given), trace


def test_a_program_asks_what_its_student_asks() -> None:
    student = WholeNoteScorer(model=MODEL)
    engine = Engine("Score: 8")
    prediction, trace = judged(student, engine)
    assert (prediction.score, prediction.status, prediction.reason) == (8.0, "scored", None)
    example = Example("e", "g", "s", "the source", "the note", "clean", "clean")
    (request,) = student.chain(example, (), student.seed_texts, Draw(0))
    (asked,) = engine.asked
    assert asked.system == request.messages[0]["content"]
    assert asked.messages[0].parts[0].text == request.messages[1]["content"]
    assert (asked.config.temperature, asked.config.max_tokens) == (0.0, 16)
    ((predictor, inputs, step),) = trace
    assert inputs == {"source": "the source", "document": "the note", "facts": []}
    assert step.answer == "Score: 8"
    assert predictor.signature.instructions == student.seed_texts["instruction"]


def test_log_probabilities_come_through() -> None:
    top = tuple(lm15.TopLogprob(token=token, logprob=value) for token, value in (("Yes", -0.1), ("No", -2.4)))
    engine = Engine("Yes", "Yes", finish="length", logprobs=(lm15.TokenLogprob(token="Yes", logprob=-0.1, top=top),))
    prediction, trace = judged(PerFactChecker(model=MODEL), engine, facts=["one fact", "another"])
    assert prediction.score == pytest.approx(0.909, abs=1e-3)
    assert len(trace) == 2
    assert engine.asked[0].config.logprobs == 20


@pytest.mark.parametrize(
    ("answer", "finish", "reason"),
    [("Score: 8", "length", "truncated"), ("", "content_filter", "refused"), ("good", "stop", "unparseable")],
)
def test_a_bad_answer_has_no_score(answer: str, finish: str, reason: str) -> None:
    prediction, _ = judged(WholeNoteScorer(model=MODEL), Engine(answer, finish=finish))
    assert prediction.score is None
    assert prediction.reason.startswith(reason)


def test_a_pipeline_with_several_calls_is_one_program() -> None:
    engine = Engine("1. A fact. || the source", "f1: absent", 'f1: "the note"')
    prediction, trace = judged(FactPipeline(model=MODEL, second_look=True, rule="any-absent"), engine)
    assert (prediction.score, prediction.flags) == (1.0, [])
    assert len(trace) == 3


def test_an_optimiser_changes_the_instruction_and_the_student_follows(tmp_path: Path) -> None:
    program = exported_program(KeyedFactChecker(model=MODEL))
    (name,) = (name for name, _ in program.named_predictors())
    predictor = getattr(program, name)
    predictor.signature = predictor.signature.with_instructions("Another rule.")
    assert program.texts == {"instruction": "Another rule."}
    engine = Engine("f1: present")
    with dspy.context(lm=dspy.LM("judge/one", engine=engine, cache=False), disable_history=True):
        program(source="s", document="d", facts=["f"])
    assert "Another rule." in engine.asked[0].system
    program.save(str(tmp_path / "judge.json"))
    fresh = JudgeProgram(KeyedFactChecker(model=MODEL))
    fresh.load(str(tmp_path / "judge.json"))
    assert fresh.texts == {"instruction": "Another rule."}


def test_without_a_model_the_error_names_the_remedy() -> None:
    with dspy.context(lm=None), pytest.raises(ValueError, match=r"dspy\.configure"):
        exported_program(WholeNoteScorer(model=MODEL))(source="s", document="d")


def test_a_program_given_facts_numbers_them_for_the_student() -> None:
    seen = Fact("f1", "exported", "a fact", (), "supporting", True)
    engine = Engine("f1: absent\nf2: present")
    prediction, _ = judged(KeyedFactChecker(model=MODEL), engine, facts=[seen.fact, "b fact"])
    assert prediction.score == 0.5
