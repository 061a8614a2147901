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
from students.parsing import Unread, logistic, parse_yes_no
from students.shape import PromptShape
from students.student import Draw, PromptCache, Reading, common_settings, instruction_of, unusable
from students.transport.base import CallFailure, CallRequest, CallResult

Aggregator = Literal["soft", "margin", "minimum", "share"]
AGGREGATORS: Final[tuple[str, ...]] = get_args(Aggregator)
ROUNDED: Final = 3
"""Decimals to which soft scores are stored; comparisons use the stored score."""


@dataclass(frozen=True, slots=True)
class PerFactChecker:
    """A student that asks, for each fact of the group, whether the document states it.

    Args:
        model: identity of the model, part of the hash.
        aggregator: ``soft``, the mean probability of *yes*; ``margin``, the logistic of the mean margin; ``minimum``,
            the least probability; ``share``, the share of facts at or above the threshold, an exact fraction.
        threshold: least probability of *yes* that counts as present; set on the accept split, then fixed.
        max_facts: most facts checked a document: core facts first, then in file order, whatever the document says.
        budget: reasoning budget; the answer is one token.
        prompt_cache: how the server's prompt cache is used.
    """

    model: Mapping[str, Any]
    aggregator: Aggregator = "soft"
    threshold: float = 0.5
    max_facts: int | None = None
    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=1))
    prompt_cache: PromptCache = "unset"
    shape: PromptShape = field(default_factory=lambda: PromptShape.load("per-fact"))
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

    def settings(self) -> dict[str, Any]:
        """Everything but the instruction that can change a judgement."""
        return {
            **common_settings(self.name, self.shape.hash, self.model, self.budget),
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
        """The facts that are checked (see :func:`checked_facts`).

        Raises:
            PlanError: there are none.
        """
        if not facts:
            raise PlanError("a per-fact student needs facts for every group: give the corpus a facts file")
        return checked_facts(facts, self.max_facts)

    def chain(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw
    ) -> tuple[CallRequest, ...]:
        """One call a fact; the instruction and the document come first, so that the checks share their beginning."""
        requests = []
        for fact in self.checked(facts):
            inputs = {"instruction": instruction_of(texts), "document": example.document, "fact": fact.fact}
            parameters = {
                "temperature": 0,
                "logprobs": True,
                "top_logprobs": 20,
                **self.budget.parameters(),
            }
            requests.append(
                CallRequest(
                    self.shape.messages(inputs), parameters, draw.seed, draw.sample, draw.replicate, inputs=inputs
                )
            )
        return tuple(requests)

    def read(self, example: Example, facts: Sequence[Fact], answers: Sequence[CallResult | CallFailure]) -> Reading:
        """Verdicts a fact and the document's score; one unread answer fails the whole judgement."""
        del example  # nothing is read from it
        verdicts: list[FactVerdict] = []
        for fact, answer in zip(self.checked(facts), answers, strict=True):
            bad = unusable(answer, one_token=True)
            found = bad or parse_yes_no(answer.top if isinstance(answer, CallResult) else ())
            if isinstance(found, Unread):
                return Reading("failed", None, f"{found.reason}: fact {fact.id}: {found.seen}"[:300])
            p_yes = round(found.p_yes, 6)  # the stored value is the one that a threshold is set on
            verdicts.append(FactVerdict(fact.id, p_yes, round(found.margin, 6), p_yes >= self.threshold))
        return Reading("scored", self._score(verdicts), facts=tuple(verdicts))

    def _score(self, verdicts: Sequence[FactVerdict]) -> float:
        if self.aggregator == "share":
            return float(Fraction(sum(verdict.present for verdict in verdicts), len(verdicts)))
        if self.aggregator == "soft":
            score = fmean(verdict.p_yes for verdict in verdicts)
        elif self.aggregator == "margin":
            score = logistic(fmean(verdict.margin for verdict in verdicts))
        else:
            score = min(verdict.p_yes for verdict in verdicts)
        return round(score, ROUNDED)


def checked_facts(facts: Sequence[Fact], most: int | None) -> tuple[Fact, ...]:
    """Core facts first, then in file order, ``most`` at the most: the choice sees the fact list and no document."""
    return tuple(sorted(facts, key=lambda fact: not fact.core)[:most])
