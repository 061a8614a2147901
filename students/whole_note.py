"""The whole-note scorer: one score from 0 to 10 for a document against its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from lineage.errors import PlanError
from splits.corpus import Example, Fact
from students.answers import Reading
from students.budget import ReasoningBudget
from students.dialogue import Dialogue, Question, ask, taken, text_of
from students.parsing import parse_score
from students.prompt import Prompt
from students.prompted import PromptedStudent
from students.sending import Sending


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeNoteScorer(PromptedStudent):
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

    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=16))
    temperature: float | None = 0.0
    samples: int = 1

    name: ClassVar[str] = "whole-note"
    scale: ClassVar[float] = 10.0
    seed_instruction: ClassVar[str] = "complete-and-faithful"

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise PlanError(f"samples must be at least 1, got {self.samples}")
        sending = Sending.of(self.budget, self.capabilities, temperature=self.temperature)
        object.__setattr__(self, "prompt", Prompt.load(self.name, sending))

    def own_settings(self) -> dict[str, Any]:
        """Temperature and samples."""
        return {"temperature": self.temperature, "samples": self.samples}

    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        """One question: the source comes before the document, so that the notes of a group share their beginning."""
        del facts  # the whole-note design sees no fact list
        (answer,) = yield from ask(Question(self.prompt, {"source": example.source, "document": example.document}))
        return Reading("scored", float(taken(parse_score(text_of(answer), scale=int(self.scale)))))
