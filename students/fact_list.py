"""The control of the per-fact designs: one score for the whole document, with the fact list in its prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from lineage.errors import PlanError
from splits.corpus import Example, Fact
from students.answers import Reading
from students.budget import ReasoningBudget
from students.dialogue import Dialogue, Question, ask, taken, text_of
from students.facts import checked_facts
from students.flag_rules import SINGLE_SCORE, FlagRule
from students.parsing import parse_score
from students.prompt import Prompt
from students.prompted import PromptedStudent
from students.sending import Sending


@dataclass(frozen=True, slots=True, kw_only=True)
class FactListScorer(PromptedStudent):
    """A student that reads source, facts and document, and answers with one score from 0 to 10.

    It is the design ``complete-and-faithful-score-1`` with the facts listed in the prompt, without their severity. What
    a per-fact design has over it is owed to the checks, and what it has over that design to the list.

    Args:
        max_facts: most facts listed: core facts first, then in file order, whatever the document says.
        model: identity of the model, part of the hash.
        budget: reasoning budget and answer cap.
        temperature: sampling temperature; None sends none.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts.

    Raises:
        PlanError: a setting is out of range, or the model does not take it.
    """

    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=16))
    temperature: float | None = 0.0
    max_facts: int | None = None

    name: ClassVar[str] = "fact-list"
    scale: ClassVar[float] = 10.0
    samples: ClassVar[int] = 1
    seed_instruction: ClassVar[str] = "criterion-complete-and-faithful"

    def __post_init__(self) -> None:
        if self.max_facts is not None and self.max_facts < 1:
            raise PlanError(f"max_facts must be at least 1, got {self.max_facts}")
        sending = Sending.of(self.budget, self.capabilities, temperature=self.temperature)
        object.__setattr__(self, "prompt", Prompt.load(self.name, sending))

    @property
    def flag_rule(self) -> FlagRule:
        """The rule of a single score."""
        return SINGLE_SCORE

    def own_settings(self) -> dict[str, Any]:
        """Temperature, facts and flag rule."""
        return {"temperature": self.temperature, "max_facts": self.max_facts, "flag_rule": self.flag_rule.row()}

    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        """One question on source, facts and document."""
        listed = "\n".join(f"- {fact.fact}" for fact in checked_facts(facts, self.max_facts))
        values = {"source": example.source, "facts": listed, "document": example.document}
        (answer,) = yield from ask(Question(self.prompt, values))
        return Reading("scored", float(taken(parse_score(text_of(answer), scale=int(self.scale)))))
