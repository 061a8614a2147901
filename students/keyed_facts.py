"""The keyed fact checker: all facts of a document in one prompt, a keyed verdict each, one retry for missing ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from lineage.errors import PlanError
from lineage.records import FactVerdict
from splits.corpus import Example, Fact
from students.budget import ReasoningBudget
from students.capabilities import Capabilities
from students.facts import checked_facts
from students.keyed import KeyedVerdicts, parse_verdicts
from students.parsing import Abstained, Unread
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
from students.transport.base import CallFailure, CallRequest, CallResult


@dataclass(frozen=True, slots=True)
class KeyedFactChecker:
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

    model: Mapping[str, Any]
    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=256))
    temperature: float | None = 0.0
    max_facts: int | None = None
    prompt_cache: PromptCache = "unset"
    capabilities: Capabilities = field(default_factory=Capabilities)
    sending: Sending = field(init=False)
    shape: PromptShape = field(init=False)

    name: ClassVar[str] = "per-fact-keyed"
    scale: ClassVar[float] = 1.0
    samples: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.max_facts is not None and self.max_facts < 1:
            raise PlanError(f"max_facts must be at least 1, got {self.max_facts}")
        sending = Sending.of(self.budget, self.capabilities, temperature=self.temperature)
        object.__setattr__(self, "sending", sending)
        name = self.name if sending.scratchpad is None else f"{self.name}-scratchpad"
        object.__setattr__(self, "shape", PromptShape.load(name))

    def settings(self) -> dict[str, Any]:
        """Everything but the instruction that can change a judgement."""
        return {
            **common_settings(self.name, self.shape.hash, self.model, self.budget, self.sending),
            "temperature": self.temperature,
            "max_facts": self.max_facts,
            "prompt_cache": self.prompt_cache,
        }

    def keyed(self, facts: Sequence[Fact]) -> dict[str, Fact]:
        """The facts that are checked, by the keys that the prompt gives them."""
        return {f"f{place}": fact for place, fact in enumerate(checked_facts(facts, self.max_facts), start=1)}

    def chain(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw
    ) -> tuple[CallRequest, ...]:
        """One call for all facts, or for the scratchpad on them."""
        inputs = _inputs(example, self.keyed(facts), texts)
        if self.sending.scratchpad is None or self.sending.scratchpad_tokens is None:
            return (self._asked(inputs, draw, None),)
        asked = self.shape.think(inputs, tokens=self.sending.scratchpad_tokens)
        return (draw.request(asked, self.sending.scratchpad, inputs),)

    def follow(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw, answers: Answers
    ) -> tuple[CallRequest, ...]:
        """The answer after a scratchpad; then, once, a request for just the facts without a verdict."""
        keyed = self.keyed(facts)
        thought, spoken = self._parts(answers)
        if isinstance(thought, Unread) or len(spoken) > 1:
            return ()
        if not spoken:
            return (self._asked(_inputs(example, keyed, texts), draw, thought),)
        found = _verdicts(spoken[0], list(keyed))
        if not isinstance(found, KeyedVerdicts) or not found.missing:
            return ()
        missing = {key: keyed[key] for key in found.missing}
        return (self._asked(_inputs(example, missing, texts), draw, thought),)

    def read(self, example: Example, facts: Sequence[Fact], answers: Answers) -> Reading:
        """The share of facts present, if each has a verdict after the retry."""
        del example  # nothing is read from it
        keyed = self.keyed(facts)
        thought, spoken = self._parts(answers)
        if isinstance(thought, Unread):
            return unread(thought, about="scratchpad")
        wanted, present = list(keyed), dict[str, bool]()
        for number, answer in enumerate(spoken):
            found = _verdicts(answer, wanted)
            if not isinstance(found, KeyedVerdicts):
                return unread(found, about="retry" if number else "")
            present |= found.present
            wanted = list(found.missing)
        if wanted:
            return unread(Unread("unparseable", f"no verdict for {', '.join(wanted)}, asked twice"))
        verdicts = tuple(
            FactVerdict(fact.id, 1.0 if present[key] else 0.0, None, present[key]) for key, fact in keyed.items()
        )
        return Reading("scored", float(Fraction(sum(present.values()), len(present))), facts=verdicts)

    def _parts(self, answers: Answers) -> tuple[str | Unread | None, Answers]:
        """The scratchpad, where there is one, and the answers after it."""
        if self.sending.scratchpad is None:
            return None, answers
        return scratchpad_text(answers[0]), answers[1:]

    def _asked(self, inputs: Mapping[str, str], draw: Draw, thought: str | None) -> CallRequest:
        shape = self.shape
        messages = shape.messages(inputs) if thought is None else shape.answer(inputs, scratchpad=thought)
        return draw.request(messages, self.sending.answer, inputs)


def _verdicts(answer: CallResult | CallFailure, keys: Sequence[str]) -> KeyedVerdicts | Unread | Abstained:
    return unusable(answer) or parse_verdicts(answer.text if isinstance(answer, CallResult) else None, keys)


def _inputs(example: Example, keyed: Mapping[str, Fact], texts: Mapping[str, str]) -> dict[str, str]:
    listed = "\n".join(f"{key}: {fact.fact}" for key, fact in keyed.items())
    return {"instruction": instruction_of(texts), "document": example.document, "facts": listed}
