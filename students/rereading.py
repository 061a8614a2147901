"""Reading recorded answers again: the score of a judgement from its texts, without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from lineage.records import Judgement, Usage
from splits.corpus import Example, Fact
from students.answers import Answers, Reading
from students.budget import ReasoningBudget
from students.capabilities import MOST_TOP_LOGPROBS, Capabilities
from students.designs import DESIGNS
from students.g_eval import ROUNDED
from students.student import Draw, Student
from students.transport.base import CallResult


def score_again(judgement: Judgement, settings: Mapping[str, Any]) -> float | None:
    """The score that a scored judgement's answers amount to, or None where they amount to none.

    Log-probabilities are not in a judgement's record: what was read from them is recorded as its parts.

    Args:
        judgement: the judgement.
        settings: the student's part of the plan, as a row; it names a design that reads no facts of the corpus.
    """
    design = DESIGNS[settings["shape"]]
    answered = judgement.sent["answer"]
    if answered.get("logprobs"):
        return round(fmean(judgement.parts.values()), ROUNDED)
    thinks = judgement.sent["scratchpad"] is not None
    student = design.build(
        settings,
        model={},
        budget=ReasoningBudget(
            thinking_tokens=settings["budget"]["thinking_tokens"] if thinks else None,
            answer_tokens=settings["budget"]["answer_tokens"],
        ),
        capabilities=Capabilities(top_logprobs=MOST_TOP_LOGPROBS if answered.get("logprobs") else 0),
    )
    answers = [CallResult(text, finish, Usage()) for text, finish in zip(judgement.raw, judgement.finish, strict=True)]
    nothing = Example(judgement.example, "", "", "", "", "clean", "clean")
    facts = (Fact("", "", "", (), "supporting", True),) if "facts" in settings.get("inputs", {}).values() else ()
    return reread(student, nothing, facts, answers).score


def reread(student: Student, example: Example, facts: Sequence[Fact], answers: Answers) -> Reading:
    """The combined reading of all answers of one judgement, sample after sample."""
    place, readings = 0, []
    for sample in range(student.samples):
        some: list[Any] = []
        draw = Draw(None, sample)
        stage = student.chain(example, facts, student.seed_texts, draw)
        while stage and place < len(answers):
            came = answers[place : place + len(stage)]
            place += len(came)
            some += came
            stage = student.follow(example, facts, student.seed_texts, draw, some)
        readings.append(student.read(example, facts, some))
    return student.combined(readings)
