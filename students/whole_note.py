"""The whole-note scorer: one score from 0 to 10 for a document against its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from lineage.errors import PlanError
from splits.corpus import Example, Fact
from students.budget import ReasoningBudget
from students.parsing import Unread, parse_score
from students.shape import PromptShape
from students.student import Draw, PromptCache, Reading, common_settings, instruction_of, unusable
from students.transport.base import CallFailure, CallRequest, CallResult


@dataclass(frozen=True, slots=True)
class WholeNoteScorer:
    """A student that reads source and document and answers with one score.

    Args:
        model: identity of the model, part of the hash.
        budget: reasoning budget and answer cap.
        temperature: sampling temperature; None sends none, for models that refuse one.
        samples: answers a judgement; their mean is its score, and one unread answer fails it.
        prompt_cache: how the server's prompt cache is used.
    """

    model: Mapping[str, Any]
    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=16))
    temperature: float | None = 0.0
    samples: int = 1
    prompt_cache: PromptCache = "unset"
    shape: PromptShape = field(default_factory=lambda: PromptShape.load("whole-note"))

    name: ClassVar[str] = "whole-note"
    scale: ClassVar[float] = 10.0

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise PlanError(f"samples must be at least 1, got {self.samples}")

    def settings(self) -> dict[str, Any]:
        """Everything but the instruction that can change a judgement."""
        return {
            **common_settings(self.name, self.shape.hash, self.model, self.budget),
            "temperature": self.temperature,
            "samples": self.samples,
            "prompt_cache": self.prompt_cache,
        }

    def chain(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw
    ) -> tuple[CallRequest, ...]:
        """One call: the source comes before the document, so that the notes of a group share their beginning."""
        del facts  # the whole-note design sees no fact list
        inputs = {"instruction": instruction_of(texts), "source": example.source, "document": example.document}
        parameters = {
            **({} if self.temperature is None else {"temperature": self.temperature}),
            **self.budget.parameters(),
        }
        return (
            CallRequest(self.shape.messages(inputs), parameters, draw.seed, draw.sample, draw.replicate, inputs=inputs),
        )

    def read(self, example: Example, facts: Sequence[Fact], answers: Sequence[CallResult | CallFailure]) -> Reading:
        """The score of the one answer, or why there is none."""
        del example, facts
        (answer,) = answers
        found = unusable(answer) or parse_score(
            answer.text if isinstance(answer, CallResult) else None, scale=int(self.scale)
        )
        if isinstance(found, Unread):
            return Reading("failed", None, f"{found.reason}: {found.seen}"[:300])
        return Reading("scored", float(found))
