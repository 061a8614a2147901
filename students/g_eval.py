"""G-Eval style criteria: a grade from 1 to 5 for each, as its expectation where the model gives log-probabilities.

References:
    Liu et al. (2023), G-Eval: NLG evaluation using GPT-4 with better human alignment, section 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar, Final

from lineage.errors import PlanError
from splits.corpus import Example, Fact
from students.answers import Reading, unusable
from students.blocks import block_texts
from students.budget import ReasoningBudget
from students.dialogue import Dialogue, Question, ask, taken, text_of
from students.parsing import Unread, parse_score
from students.prompt import Prompt
from students.prompted import PromptedStudent
from students.sending import Sending
from students.student import CallsAtMost
from students.transport.base import CallFailure, CallResult
from students.weighted import parse_expected

LOWEST: Final = 1
HIGHEST: Final = 5
ROUNDED: Final = 3
"""Decimals to which scores and parts are stored; comparisons use the stored score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GEvalJudge(PromptedStudent):
    """A student that grades a document from 1 to 5 on three criteria and scores their mean, brought to 0 to 1.

    Where the model states log-probabilities, a grade is its expectation under those of the first token, in one sample;
    elsewhere it is read from the text, and ``draws`` samples are averaged.

    Args:
        block: the criterion that evolves: ``completeness``, ``faithfulness`` or ``precision``.
        draws: samples where there are no log-probabilities.
        model: identity of the model, part of the hash.
        budget: reasoning budget and answer cap.
        temperature: of the samples, above 0 for several; None sends none. Log-probabilities are read at 0.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts.

    Raises:
        PlanError: a setting is out of range, or the model does not take it.
    """

    block: str = "completeness"
    draws: int = 8
    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=4))
    temperature: float | None = 1.0
    prompts: Mapping[str, Prompt] = field(init=False)

    name: ClassVar[str] = "g-eval"
    scale: ClassVar[float] = 1.0
    blocks: ClassVar[tuple[str, ...]] = ("completeness", "faithfulness", "precision")

    def __post_init__(self) -> None:
        if self.draws < 1:
            raise PlanError(f"samples must be at least 1, got {self.draws}")
        if self.samples > 1 and self.temperature == 0:
            raise PlanError(f"temperature must be above 0 for {self.samples} samples, which would be the same")
        able = self.capabilities
        temperature = able.unsampled(reasoning=self.budget.reasons(able)) if self.weighted else self.temperature
        sending = Sending.of(self.budget, able, temperature=temperature, logprobs=self.weighted)
        texts = block_texts(self.name, self.blocks, self.block)
        prompts = {block: Prompt.load(self.name, sending, fixed=text) for block, text in texts.items()}
        object.__setattr__(self, "prompts", prompts)
        object.__setattr__(self, "prompt", prompts[self.block])

    @property
    def weighted(self) -> bool:
        """Whether grades are expectations under log-probabilities."""
        able = self.capabilities
        stated = able.reasoning_logprobs or not self.budget.reasons(able)
        return able.top_logprobs > HIGHEST and stated

    @property
    def samples(self) -> int:
        """One where log-probabilities are read."""
        return 1 if self.weighted else self.draws

    @property
    def seed_instruction(self) -> str:
        """The bundled text of the criterion that evolves."""
        return f"{self.name}-{self.block}"

    def own_settings(self) -> dict[str, Any]:
        """How grades are read, and the criteria."""
        return {
            "samples": self.samples,
            "weighted": self.weighted,
            "block": self.block,
            "prompts": {name: prompt.row() for name, prompt in self.prompts.items()},
        }

    def calls_at_most(self, facts: int) -> CallsAtMost:
        """One answer a criterion and sample."""
        del facts
        return CallsAtMost(len(self.prompts) * self.samples * self.calls_an_answer)

    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        """One question a criterion."""
        del facts  # the criteria see no fact list
        values = {"source": example.source, "document": example.document}
        answers = yield from ask(*(Question(prompt, values, about=name) for name, prompt in self.prompts.items()))
        parts = {}
        for name, answer in zip(self.prompts, answers, strict=True):
            grade = self._grade(answer, name)
            parts[name] = round((grade - LOWEST) / (HIGHEST - LOWEST), ROUNDED)
        return Reading("scored", round(fmean(parts.values()), ROUNDED), parts=parts)

    def _grade(self, answer: CallResult | CallFailure, about: str) -> float:
        if self.weighted:
            top = answer.top if isinstance(answer, CallResult) else ()
            found = unusable(answer, one_token=True) or parse_expected(top, lowest=LOWEST, highest=HIGHEST)
            return taken(found, about=about)
        grade = float(taken(parse_score(text_of(answer, about=about), scale=HIGHEST), about=about))
        return taken(Unread("unparseable", f"{grade:g} is below {LOWEST}") if grade < LOWEST else grade, about=about)
