"""The keyed fact checker: all facts of a document in one prompt, a keyed verdict each, one retry for missing ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from lineage.errors import PlanError
from lineage.records import FactVerdict
from splits.corpus import Example, Fact
from students.answers import Reading
from students.budget import ReasoningBudget
from students.dialogue import Dialogue, Question
from students.facts import checked_facts
from students.keyed_questions import ask_keyed, keys_of
from students.prompt import Prompt
from students.prompted import PromptedStudent
from students.sending import Sending
from students.student import CallsAtMost


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedFactChecker(PromptedStudent):
    """A student that asks for all facts of the group at once and answers with a verdict for each key, or abstains.

    For models without log-probabilities. Facts without a verdict are asked for once more, alone; if one still has none,
    the judgement fails. The score is the share of facts present, an exact fraction. Where the budget is a scratchpad
    there is one for each document.

    Args:
        model: identity of the model, part of the hash.
        budget: reasoning budget and answer cap; a verdict takes about six tokens.
        temperature: sampling temperature; None sends none, for models that refuse one.
        max_facts: most facts checked a document: core facts first, then in file order, whatever the document says.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts.

    Raises:
        PlanError: a setting is out of range, or the model does not take it.
    """

    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=256))
    temperature: float | None = 0.0
    max_facts: int | None = None

    name: ClassVar[str] = "per-fact-keyed"
    scale: ClassVar[float] = 1.0
    seed_instruction: ClassVar[str] = "stated-in-note"
    samples: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.max_facts is not None and self.max_facts < 1:
            raise PlanError(f"max_facts must be at least 1, got {self.max_facts}")
        sending = Sending.of(self.budget, self.capabilities, temperature=self.temperature)
        object.__setattr__(self, "prompt", Prompt.load(self.name, sending))

    def own_settings(self) -> dict[str, Any]:
        """Temperature and facts."""
        return {"temperature": self.temperature, "max_facts": self.max_facts}

    def keyed(self, facts: Sequence[Fact]) -> dict[str, Fact]:
        """The facts that are checked, by the keys that the prompt gives them."""
        checked = checked_facts(facts, self.max_facts)
        return dict(zip(keys_of("f", len(checked)), checked, strict=True))

    def calls_at_most(self, facts: int) -> CallsAtMost:
        """One answer, perhaps after a scratchpad, and one for the facts that it left out."""
        del facts
        return CallsAtMost(self.calls_an_answer + 1)

    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        """One question for all facts, and one for those that its answer left out."""
        keyed = self.keyed(facts)
        present = yield from ask_keyed(
            Question(self.prompt, {"document": example.document}),
            {key: fact.fact for key, fact in keyed.items()},
            slot="facts",
        )
        verdicts = tuple(
            FactVerdict(fact.id, 1.0 if present[key] else 0.0, None, present[key]) for key, fact in keyed.items()
        )
        return Reading("scored", float(Fraction(sum(present.values()), len(present))), facts=verdicts)
