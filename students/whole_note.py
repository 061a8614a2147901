"""The whole-note scorer: one score from 0 to 10 for a document against its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from lineage.errors import PlanError
from splits.corpus import Example, Fact
from students.budget import ReasoningBudget
from students.capabilities import Capabilities
from students.parsing import parse_score
from students.shape import PromptShape
from students.student import (
    Answers,
    Draw,
    PromptCache,
    Reading,
    Sending,
    common_settings,
    instruction_of,
    scratchpad_text,
    unread,
    unusable,
)
from students.transport.base import CallRequest, CallResult


@dataclass(frozen=True, slots=True)
class WholeNoteScorer:
    """A student that reads source and document and answers with one score, or abstains.

    Where the budget is a scratchpad there is one for each document, written before its answer.

    Args:
        model: identity of the model, part of the hash.
        budget: reasoning budget and answer cap.
        temperature: sampling temperature; None sends none, for models that refuse one.
        samples: answers a judgement; their mean is its score, and one unread answer fails it.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts.

    Raises:
        PlanError: a setting is out of range, or the model does not take it.
    """

    model: Mapping[str, Any]
    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=16))
    temperature: float | None = 0.0
    samples: int = 1
    prompt_cache: PromptCache = "unset"
    capabilities: Capabilities = field(default_factory=Capabilities)
    sending: Sending = field(init=False)
    shape: PromptShape = field(init=False)

    name: ClassVar[str] = "whole-note"
    scale: ClassVar[float] = 10.0

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise PlanError(f"samples must be at least 1, got {self.samples}")
        sending = Sending.of(self.budget, self.capabilities, temperature=self.temperature)
        object.__setattr__(self, "sending", sending)
        name = self.name if sending.scratchpad is None else f"{self.name}-scratchpad"
        object.__setattr__(self, "shape", PromptShape.load(name))

    def settings(self) -> dict[str, Any]:
        """Everything but the instruction that can change a judgement."""
        return {
            **common_settings(self.name, self.shape.hash, self.model, self.budget, self.sending),
            "temperature": self.temperature,
            "samples": self.samples,
            "prompt_cache": self.prompt_cache,
        }

    def chain(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw
    ) -> tuple[CallRequest, ...]:
        """One call: the source comes before the document, so that the notes of a group share their beginning."""
        del facts  # the whole-note design sees no fact list
        inputs, shape, sending = _inputs(example, texts), self.shape, self.sending
        if sending.scratchpad is None or sending.scratchpad_tokens is None:
            return (draw.request(shape.messages(inputs), sending.answer, inputs),)
        return (draw.request(shape.think(inputs, tokens=sending.scratchpad_tokens), sending.scratchpad, inputs),)

    def follow(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw, answers: Answers
    ) -> tuple[CallRequest, ...]:
        """The answer after a scratchpad that was written."""
        del facts
        thought = scratchpad_text(answers[0]) if self.sending.scratchpad is not None and len(answers) == 1 else None
        if not isinstance(thought, str):
            return ()
        inputs = _inputs(example, texts)
        return (draw.request(self.shape.answer(inputs, scratchpad=thought), self.sending.answer, inputs),)

    def read(self, example: Example, facts: Sequence[Fact], answers: Answers) -> Reading:
        """The score of the answer, or why there is none."""
        del example, facts
        if self.sending.scratchpad is not None and len(answers) == 1:
            thought = scratchpad_text(answers[0])
            assert not isinstance(thought, str), "a scratchpad that was written is followed by its answer"
            return unread(thought, about="scratchpad")
        answer = answers[-1]
        found = unusable(answer) or parse_score(
            answer.text if isinstance(answer, CallResult) else None, scale=int(self.scale)
        )
        return Reading("scored", float(found)) if isinstance(found, Fraction) else unread(found)


def _inputs(example: Example, texts: Mapping[str, str]) -> dict[str, str]:
    return {"instruction": instruction_of(texts), "source": example.source, "document": example.document}
