"""Playing a dspy program from its start with the answers there are, up to the first question that has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy
from dspy import lm15
from dspy.utils.exceptions import AdapterParseError

from students.parsing import Unread

_MODEL = "holdgate/recorded-answers"


class _UnansweredError(BaseException):
    """Leaves a program at its next question; a BaseException, so that no program takes it for a failed call."""

    def __init__(self, messages: tuple[dict[str, str], ...]) -> None:
        super().__init__("the next question has no answer yet")
        self.messages = messages


@dataclass(frozen=True, slots=True)
class NextQuestion:
    """The messages that a program asks next."""

    messages: tuple[dict[str, str], ...]


class _Recorded:
    """A dspy engine that gives answers in turn, and none that were not given to it."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.used = 0

    def complete(self, request: Any) -> Any:
        """The next answer, whatever is asked."""
        if self.used == len(self._answers):
            raise _UnansweredError(_messages(request))
        text, self.used = self._answers[self.used], self.used + 1
        message = lm15.Message(role="assistant", parts=(lm15.TextPart(text),))
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=lm15.Usage())


def play(program: Any, values: Mapping[str, Any], answers: Sequence[str]) -> Any | NextQuestion | Unread:
    """Run a program on some answers.

    The program must ask the same questions whenever it is given the same answers; it may not ask several at once.

    Args:
        program: a ``dspy.Module``.
        values: its keyword arguments.
        answers: texts of the answers, in the order of its questions.

    Returns:
        Its prediction, the next question, or what of an answer could not be read in the format that dspy asks for.
    """
    engine = _Recorded(answers)
    lm = dspy.LM(_MODEL, engine=engine, cache=False, num_retries=0)
    adapter = dspy.ChatAdapter(use_json_adapter_fallback=False)  # an answer that is not read is a failure, not a retry
    try:
        with dspy.context(lm=lm, adapter=adapter, disable_history=True, trace=None):
            prediction = program(**values)
    except _UnansweredError as waiting:
        return NextQuestion(waiting.messages)
    except AdapterParseError as error:
        return Unread("unparseable", " ".join(str(error).split())[:200])
    assert engine.used == len(answers), "a program uses every answer that it asked for"
    return prediction


def _messages(request: Any) -> tuple[dict[str, str], ...]:
    """A dspy request as chat messages of plain text.

    Raises:
        TypeError: it holds a picture, a tool or another part that is no text.
    """
    system = request.system if isinstance(request.system, str) or request.system is None else _text(request.system)
    head = () if not system else ({"role": "system", "content": system},)
    if request.tools:
        raise TypeError("a program that is a student calls no tools")
    return (*head, *({"role": str(m.role), "content": _text(m.parts)} for m in request.messages))


def _text(parts: Sequence[Any]) -> str:
    if not all(isinstance(part, lm15.TextPart) for part in parts):
        raise TypeError("a program that is a student asks in text alone")
    return "".join(part.text for part in parts)
