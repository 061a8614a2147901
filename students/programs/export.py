"""Any student of ours as a ``dspy.Module``, so that dspy's optimisers and programs can use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import dspy
from dspy import lm15

from lineage.records import Usage
from splits.corpus import Example, Fact
from students.answers import Reading
from students.student import Draw, Student
from students.transport.base import CallFailure, CallRequest, CallResult

_NAME: Final = "exported"


class JudgeProgram(dspy.Module):  # type: ignore[misc]  # dspy has no types
    """A student as a dspy program: one predictor for each evolving block, whose instruction it is.

    It asks what the student asks, with the student's own prompts, through the model of ``dspy.settings`` (or its own,
    set with ``set_lm``), and reads the answers as the student does. Each answer is a step of dspy's trace, under the
    predictor of the first block. The prediction has ``score`` (None where there is none), ``status``, ``reason`` and
    ``flags``. Calls go through dspy, so neither Holdgate's cache nor its limits know of them.

    Args:
        student: the student.
        texts: instructions by block; by default those that the student begins at.
    """

    def __init__(self, student: Student, texts: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._student = student
        self._blocks = tuple(student.seed_texts)
        for block, text in (texts or student.seed_texts).items():
            signature = dspy.Signature("source, document, facts: list[str] -> answer", text)
            setattr(self, _attribute(block), dspy.Predict(signature))

    @property
    def texts(self) -> dict[str, str]:
        """The instructions as they stand, by block: the texts of a candidate."""
        return {block: getattr(self, _attribute(block)).signature.instructions for block in self._blocks}

    def forward(self, source: str, document: str, facts: Sequence[str] = ()) -> Any:
        """Judge a document against its source."""
        example = Example(_NAME, _NAME, "", source, document, "clean", "clean")
        listed = tuple(
            Fact(f"f{number}", _NAME, fact, (), "supporting", True) for number, fact in enumerate(facts, start=1)
        )
        given = {"source": source, "document": document, "facts": list(facts)}
        readings = [self._sample(example, listed, number, given) for number in range(self._student.samples)]
        reading = self._student.combined(readings)
        return dspy.Prediction(
            score=reading.score, status=reading.status, reason=reading.reason, flags=list(reading.flags)
        )

    def _sample(self, example: Example, facts: Sequence[Fact], number: int, given: Mapping[str, Any]) -> Reading:
        draw, answers = Draw(number if self._student.sending.seeded else None, number), list[CallResult | CallFailure]()
        stage = self._student.chain(example, facts, self.texts, draw)
        while stage:
            answers += [self._answer(request, given) for request in stage]
            stage = self._student.follow(example, facts, self.texts, draw, answers)
        return self._student.read(example, facts, answers)

    def _answer(self, request: CallRequest, given: Mapping[str, Any]) -> CallResult:
        predictor = getattr(self, _attribute(self._blocks[0]))
        lm = predictor.lm or dspy.settings.lm
        if lm is None:
            raise ValueError("no model: set one with dspy.configure(lm=dspy.LM(...)), or with set_lm")
        body = {"model": lm.model, "messages": [dict(message) for message in request.messages], **request.sent}
        result = _result(lm(lm15.request_from_openai_chat(body)))
        if dspy.settings.trace is not None:
            dspy.settings.trace.append((predictor, dict(given), dspy.Prediction(answer=result.text)))
        return result


def exported_program(student: Student, texts: Mapping[str, str] | None = None) -> JudgeProgram:
    """A student as a dspy program (see :class:`JudgeProgram`); ``save`` writes its instructions in dspy's format."""
    return JudgeProgram(student, texts)


def _result(answer: Any) -> CallResult:
    """A dspy response as a call's result; thinking is reasoning, and no answer."""
    parts = answer.message.parts
    said = [part.text for part in parts if isinstance(part, lm15.TextPart)]
    refused = any(isinstance(part, lm15.RefusalPart) for part in parts)
    thought = "".join(part.text or "" for part in parts if isinstance(part, lm15.ThinkingPart))
    used = answer.usage
    first = answer.logprobs[0].top if answer.logprobs else ()
    return CallResult(
        text="".join(said) if said else None,
        finish="refusal" if refused else str(answer.finish_reason),
        usage=Usage(1, used.input_tokens or 0, used.output_tokens or 0, used.reasoning_tokens or 0),
        top=tuple((token.token, token.logprob) for token in first),
        reasoning=thought or None,
    )


def _attribute(block: str) -> str:
    """A block's name as an attribute's; predictors in a program have dots in their names."""
    return block.replace(".", "__")
