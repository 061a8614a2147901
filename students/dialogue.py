"""Dialogues: all that a student asks about one example and reads from the answers, written as one function."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from splits.blindness import check_blind
from splits.corpus import Example
from students.answers import Answers, Reading, scratchpad_text, unread, unusable
from students.parsing import Abstained, Unread
from students.prompt import Prompt
from students.student import Draw
from students.transport.base import CallFailure, CallRequest, CallResult

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Question:
    """One call that a student makes, before it is known for which candidate and draw.

    Args:
        prompt: its prompt.
        values: values of the prompt's slots, but for the instruction.
        about: what it is about, for the reason of a judgement that fails by it; nothing where there is no other.
        thought: the scratchpad that was written before it.
        thinks: whether it asks for that scratchpad.
        shared: whether it is about the source alone (see :func:`of_the_source`).
        derived: where it is, what earlier answers about the source said, which a document may say as well.
    """

    prompt: Prompt
    values: Mapping[str, str]
    about: str = ""
    thought: str | None = None
    thinks: bool = False
    shared: bool = False
    derived: str = ""

    def request(self, example: Example, texts: Mapping[str, str], draw: Draw) -> CallRequest:
        """The call, with the candidate's instruction.

        Raises:
            BlindnessError: it is about the source alone and holds a part of the document.
        """
        prompt, shape, sent = self.prompt, self.prompt.shape, self.prompt.sending
        inputs = {"instruction": prompt.instruction(texts), **self.values}
        parameters: Mapping[str, object] = sent.answer
        if self.thinks:
            assert sent.scratchpad is not None
            assert sent.scratchpad_tokens is not None
            parameters, messages = sent.scratchpad, shape.think(inputs, tokens=sent.scratchpad_tokens)
        elif self.thought is not None:
            messages = shape.answer(inputs, scratchpad=self.thought)
        else:
            messages = shape.plain(inputs)
        if self.shared:
            own = [inputs["instruction"], *(text for _, text in shape.sections), self.derived]
            asked = "\n".join(message["content"] for message in messages)
            check_blind(asked, {example.id: example.document}, source="\n".join([example.source, *own]))
        if not sent.seeded:
            draw = replace(draw, seed=None, group_seed=None)
        return draw.request(messages, parameters, inputs, prompt=shape.name, thinks=self.thinks, shared=self.shared)


Dialogue = Generator[tuple[Question, ...], Answers, Result]
"""Yields the questions that are asked at once, is sent their answers, and returns what they amount to."""


class UnreadError(Exception):
    """Ends a dialogue without a score; it never leaves the student."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading.reason)
        self.reading = reading


def taken(found: Result | Unread | Abstained, *, about: str = "") -> Result:
    """What was read.

    Raises:
        UnreadError: nothing was, or the judge abstained.
    """
    if isinstance(found, Unread | Abstained):
        raise UnreadError(unread(found, about=about))
    return found


def text_of(answer: CallResult | CallFailure, *, about: str = "") -> str:
    """The text of an answer.

    Raises:
        UnreadError: it is unusable (see :func:`~students.answers.unusable`).
    """
    if (bad := unusable(answer)) is not None:
        raise UnreadError(unread(bad, about=about))
    assert isinstance(answer, CallResult)
    return str(answer.text)


def think(*questions: Question) -> Dialogue[tuple[Question, ...]]:
    """The questions with their scratchpads, all of them written first; without one where the budget has none.

    Raises:
        UnreadError: a scratchpad was not written.
    """
    if all(question.prompt.sending.scratchpad is None for question in questions):
        return questions
    answers = yield tuple(replace(question, thinks=True) for question in questions)
    thought = []
    for question, answer in zip(questions, answers, strict=True):
        about = f"scratchpad of {question.about}" if question.about else "scratchpad"
        thought.append(replace(question, thought=taken(scratchpad_text(answer), about=about)))
    return tuple(thought)


def ask(*questions: Question) -> Dialogue[Answers]:
    """The answers, after the scratchpads where there are any."""
    thought = yield from think(*questions)
    return (yield thought)


def of_the_source(dialogue: Dialogue[Result]) -> Dialogue[Result]:
    """A dialogue about the source alone: the same calls for every document of the group, which pays for them once.

    Write it as a function that is given the source's text, and nothing else of the example: what is not in its scope
    cannot be asked.
    """
    try:
        asked = next(dialogue)
        while True:
            answers = yield tuple(replace(question, shared=True) for question in asked)
            asked = dialogue.send(answers)
    except StopIteration as ended:
        result: Result = ended.value
        return result
