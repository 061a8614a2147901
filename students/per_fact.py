"""The per-fact checker: one closed check a fact, read as the yes/no log-probability margin of the first token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from statistics import fmean
from typing import Any, ClassVar, Final, Literal, get_args

from lineage.errors import PlanError
from lineage.records import FactVerdict
from splits.corpus import Example, Fact
from students.budget import ReasoningBudget
from students.capabilities import Capabilities
from students.facts import checked_facts
from students.parsing import Unread, logistic, parse_yes_no
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

Aggregator = Literal["soft", "margin", "minimum", "share"]
AGGREGATORS: Final[tuple[str, ...]] = get_args(Aggregator)
ROUNDED: Final = 3
"""Decimals to which soft scores are stored; comparisons use the stored score."""


@dataclass(frozen=True, slots=True)
class PerFactChecker:
    """A student that asks, for each fact of the group, whether the document states it.

    Where the budget is a scratchpad there is one for each fact, as a model that reasons by itself would think anew in
    each call. All scratchpads of a document are written first and their answers are read after them.

    Args:
        model: identity of the model, part of the hash.
        aggregator: ``soft``, the mean probability of *yes*; ``margin``, the logistic of the mean margin; ``minimum``,
            the least probability; ``share``, the share of facts at or above the threshold, an exact fraction.
        threshold: least probability of *yes* that counts as present; set on the accept split, then fixed.
        max_facts: most facts checked a document: core facts first, then in file order, whatever the document says.
        budget: reasoning budget; the answer is one token.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts; it must state log-probabilities.

    Raises:
        PlanError: a setting is out of range, or the model does not take it.
    """

    model: Mapping[str, Any]
    aggregator: Aggregator = "soft"
    threshold: float = 0.5
    max_facts: int | None = None
    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=1))
    prompt_cache: PromptCache = "unset"
    capabilities: Capabilities = field(default_factory=Capabilities)
    sending: Sending = field(init=False)
    shape: PromptShape = field(init=False)
    samples: int = 1

    name: ClassVar[str] = "per-fact"
    scale: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        if self.aggregator not in AGGREGATORS:
            raise PlanError(f"aggregator must be one of {', '.join(AGGREGATORS)}, got {self.aggregator!r}")
        if not 0 < self.threshold < 1:
            raise PlanError(f"threshold must be a probability in (0, 1), got {self.threshold}")
        if self.max_facts is not None and self.max_facts < 1:
            raise PlanError(f"max_facts must be at least 1, got {self.max_facts}")
        if self.samples < 1:
            raise PlanError(f"samples must be at least 1, got {self.samples}")
        object.__setattr__(self, "sending", self._sending())
        name = self.name if self.sending.scratchpad is None else f"{self.name}-scratchpad"
        object.__setattr__(self, "shape", PromptShape.load(name))

    def settings(self) -> dict[str, Any]:
        """Everything but the instruction that can change a judgement."""
        return {
            **common_settings(self.name, self.shape.hash, self.model, self.budget, self.sending),
            "aggregator": self.aggregator,
            "threshold": self.threshold,
            "max_facts": self.max_facts,
            "prompt_cache": self.prompt_cache,
            "samples": self.samples,
        }

    def at_threshold(self, threshold: float) -> PerFactChecker:
        """The same student with another threshold."""
        return replace(self, threshold=threshold)

    def checked(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """The facts that are checked (see :func:`~students.facts.checked_facts`)."""
        return checked_facts(facts, self.max_facts)

    def chain(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw
    ) -> tuple[CallRequest, ...]:
        """One call a fact; the instruction and the document come first, so that the checks share their beginning."""
        shape, sending = self.shape, self.sending
        requests = []
        for fact in self.checked(facts):
            inputs = _inputs(example, fact, texts)
            if sending.scratchpad is None or sending.scratchpad_tokens is None:
                requests.append(draw.request(shape.messages(inputs), sending.answer, inputs))
            else:
                asked = shape.think(inputs, tokens=sending.scratchpad_tokens)
                requests.append(draw.request(asked, sending.scratchpad, inputs))
        return tuple(requests)

    def follow(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw, answers: Answers
    ) -> tuple[CallRequest, ...]:
        """The answers after the scratchpads, if all of them were written."""
        checked = self.checked(facts)
        if self.sending.scratchpad is None or len(answers) > len(checked):
            return ()
        shape, sent = self.shape, self.sending.answer
        requests = []
        for fact, answer in zip(checked, answers, strict=True):
            thought = scratchpad_text(answer)
            if isinstance(thought, Unread):
                return ()
            inputs = _inputs(example, fact, texts)
            requests.append(draw.request(shape.answer(inputs, scratchpad=thought), sent, inputs))
        return tuple(requests)

    def read(self, example: Example, facts: Sequence[Fact], answers: Answers) -> Reading:
        """Verdicts a fact and the document's score; one unread answer fails the whole judgement."""
        del example  # nothing is read from it
        checked = self.checked(facts)
        if self.sending.scratchpad is not None:
            for fact, answer in zip(checked, answers, strict=False):
                if isinstance(thought := scratchpad_text(answer), Unread):
                    return unread(thought, about=f"scratchpad of fact {fact.id}")
            answers = answers[len(checked) :]
        verdicts: list[FactVerdict] = []
        for fact, answer in zip(checked, answers, strict=True):
            bad = unusable(answer, one_token=True)
            found = bad or parse_yes_no(answer.top if isinstance(answer, CallResult) else ())
            if isinstance(found, Unread):
                return unread(found, about=f"fact {fact.id}")
            p_yes = round(found.p_yes, 6)  # the stored value is the one that a threshold is set on
            verdicts.append(FactVerdict(fact.id, p_yes, round(found.margin, 6), p_yes >= self.threshold))
        return Reading("scored", self._score(verdicts), facts=tuple(verdicts))

    def _sending(self) -> Sending:
        """No temperature where it is fixed: the alternatives are read, and nothing is sampled."""
        able, reasoning = self.capabilities, self.budget.reasons(self.capabilities)
        free = able.temperature == "any" and (not reasoning or able.reasoning_temperature == "any")
        return Sending.of(self.budget, able, temperature=0 if free else None, logprobs=True)

    def _score(self, verdicts: Sequence[FactVerdict]) -> float:
        if self.aggregator == "share":
            return float(Fraction(sum(verdict.present for verdict in verdicts), len(verdicts)))
        if self.aggregator == "soft":
            score = fmean(verdict.p_yes for verdict in verdicts)
        elif self.aggregator == "margin":
            score = logistic(fmean(verdict.margin for verdict in verdicts if verdict.margin is not None))
        else:
            score = min(verdict.p_yes for verdict in verdicts)
        return round(score, ROUNDED)


def _inputs(example: Example, fact: Fact, texts: Mapping[str, str]) -> dict[str, str]:
    return {"instruction": instruction_of(texts), "document": example.document, "fact": fact.fact}
