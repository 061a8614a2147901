"""The per-fact checker: one closed check a fact, read as the yes/no log-probability margin of the first token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from statistics import fmean
from typing import Any, ClassVar, Final, Literal, get_args

from lineage.errors import PlanError
from lineage.records import FactVerdict
from splits.corpus import Example, Fact
from students.answers import Reading, unusable
from students.budget import ReasoningBudget
from students.dialogue import Dialogue, Question, ask, taken
from students.facts import checked_facts
from students.parsing import logistic, parse_yes_no
from students.prompt import Prompt
from students.prompted import PromptedStudent
from students.sending import Sending
from students.student import CallsAtMost
from students.transport.base import CallResult

Aggregator = Literal["soft", "margin", "minimum", "share"]
AGGREGATORS: Final[tuple[str, ...]] = get_args(Aggregator)
ROUNDED: Final = 3
"""Decimals to which soft scores are stored; comparisons use the stored score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PerFactChecker(PromptedStudent):
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

    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=1))
    aggregator: Aggregator = "soft"
    threshold: float = 0.5
    max_facts: int | None = None
    samples: int = 1

    name: ClassVar[str] = "per-fact"
    scale: ClassVar[float] = 1.0
    seed_instruction: ClassVar[str] = "stated-in-note"

    def __post_init__(self) -> None:
        if self.aggregator not in AGGREGATORS:
            raise PlanError(f"aggregator must be one of {', '.join(AGGREGATORS)}, got {self.aggregator!r}")
        if not 0 < self.threshold < 1:
            raise PlanError(f"threshold must be a probability in (0, 1), got {self.threshold}")
        if self.max_facts is not None and self.max_facts < 1:
            raise PlanError(f"max_facts must be at least 1, got {self.max_facts}")
        if self.samples < 1:
            raise PlanError(f"samples must be at least 1, got {self.samples}")
        temperature = self.capabilities.unsampled(reasoning=self.budget.reasons(self.capabilities))
        sending = Sending.of(self.budget, self.capabilities, temperature=temperature, logprobs=True)
        object.__setattr__(self, "prompt", Prompt.load(self.name, sending))

    def own_settings(self) -> dict[str, Any]:
        """Aggregator, threshold, facts and samples."""
        return {
            "aggregator": self.aggregator,
            "threshold": self.threshold,
            "max_facts": self.max_facts,
            "samples": self.samples,
        }

    def at_threshold(self, threshold: float) -> PerFactChecker:
        """The same student with another threshold."""
        return replace(self, threshold=threshold)

    def checked(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """The facts that are checked (see :func:`~students.facts.checked_facts`)."""
        return checked_facts(facts, self.max_facts)

    def calls_at_most(self, facts: int) -> CallsAtMost:
        """One answer a fact and sample."""
        checked = facts if self.max_facts is None else min(facts, self.max_facts)
        return CallsAtMost(checked * self.samples * self.calls_an_answer)

    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        """One question a fact; the instruction and the document come first, so that the checks share their beginning.

        One unread answer fails the whole judgement.
        """
        checked = self.checked(facts)
        answers = yield from ask(
            *(
                Question(self.prompt, {"document": example.document, "fact": fact.fact}, about=f"fact {fact.id}")
                for fact in checked
            )
        )
        verdicts: list[FactVerdict] = []
        for fact, answer in zip(checked, answers, strict=True):
            bad = unusable(answer, one_token=True)
            found = taken(
                bad or parse_yes_no(answer.top if isinstance(answer, CallResult) else ()), about=f"fact {fact.id}"
            )
            p_yes = round(found.p_yes, 6)  # the stored value is the one that a threshold is set on
            verdicts.append(FactVerdict(fact.id, p_yes, round(found.margin, 6), p_yes >= self.threshold))
        return Reading("scored", self._score(verdicts), facts=tuple(verdicts))

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
