"""The coverage recipe: statements of source and document, each checked against the other text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Final

from splits.corpus import Example, Fact
from students.answers import Reading
from students.blocks import block_texts
from students.budget import ReasoningBudget
from students.dialogue import Dialogue, Question, ask, of_the_source, taken, text_of
from students.keyed_questions import ask_keyed, keys_of
from students.lists import parse_list
from students.parsing import Unread
from students.prompt import Prompt
from students.prompted import PromptedStudent
from students.sending import Sending
from students.student import CallsAtMost

MOST_STATEMENTS: Final = 60
"""Statements of one text that are checked, from the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageJudge(PromptedStudent):
    """A student that takes source and document apart into statements and checks each against the other text.

    Coverage is the share of the source's statements that the document states, faithfulness the share of the document's
    statements that the source states; the score is their harmonic mean, 0 where either is. A text without a statement
    leaves its component undefined and fails the judgement. The statements of the source are the same for its group.

    Args:
        block: which prompt's instruction evolves: ``stated``, which checks, or ``statements``, which takes apart.
        list_tokens: cap of a list of statements in tokens.
        model: identity of the model, part of the hash.
        budget: reasoning budget, and the cap of the verdicts on one text.
        temperature: sampling temperature; None sends none.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts.

    Raises:
        PlanError: a setting is out of range, or the model does not take it.
    """

    block: str = "stated"
    list_tokens: int = 1024
    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=512))
    temperature: float | None = 0.0
    statements_prompt: Prompt = field(init=False)

    name: ClassVar[str] = "coverage"
    scale: ClassVar[float] = 1.0
    samples: ClassVar[int] = 1
    blocks: ClassVar[tuple[str, ...]] = ("stated", "statements")

    def __post_init__(self) -> None:
        texts = block_texts(self.name, self.blocks, self.block)
        sending = Sending.of(self.budget, self.capabilities, temperature=self.temperature)
        listing = Sending.of(
            replace(self.budget, answer_tokens=self.list_tokens), self.capabilities, temperature=self.temperature
        )
        checks = replace(sending, others={"coverage-statements": listing.answer})
        object.__setattr__(self, "prompt", Prompt.load("coverage-stated", checks, fixed=texts["stated"]))
        taking = Prompt.load("coverage-statements", listing, fixed=texts["statements"])
        object.__setattr__(self, "statements_prompt", taking)

    @property
    def seed_instruction(self) -> str:
        """The bundled text of the block that evolves."""
        return f"{self.name}-{self.block}"

    def own_settings(self) -> dict[str, Any]:
        """Temperature and prompts."""
        return {
            "temperature": self.temperature,
            "block": self.block,
            "prompts": {"stated": self.prompt.row(), "statements": self.statements_prompt.row()},
        }

    def calls_at_most(self, facts: int) -> CallsAtMost:
        """The document's statements and both checks, each with a request for what it leaves out; the source's."""
        del facts
        return CallsAtMost(3 * self.calls_an_answer + 2, group=self.calls_an_answer)

    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        """The statements of both texts, and the verdicts on them."""
        del facts  # the statements are its own
        told = yield from of_the_source(self.statements(example.source, "source"))
        said = yield from self.statements(example.document, "document")
        coverage = yield from self._share(told, example.document, "source")
        faithfulness = yield from self._share(said, example.source, "document")
        total = coverage + faithfulness
        score = 2 * coverage * faithfulness / total if total else Fraction(0)
        parts = {"coverage": float(coverage), "faithfulness": float(faithfulness)}
        return Reading("scored", float(score), parts=parts)

    def statements(self, text: str, of: str) -> Dialogue[tuple[str, ...]]:
        """The statements that a text makes."""
        about = f"statements of the {of}"
        (answer,) = yield from ask(Question(self.statements_prompt, {"text": text}, about))
        found = taken(parse_list(text_of(answer, about=about), most=MOST_STATEMENTS), about=about)
        return found or taken(Unread("empty", "none, so that their share is undefined"), about=about)

    def _share(self, statements: Sequence[str], text: str, of: str) -> Dialogue[Fraction]:
        """Share of statements that a text states."""
        keyed = dict(zip(keys_of("s", len(statements)), statements, strict=True))
        question = Question(self.prompt, {"text": text}, f"verdicts on the {of}'s statements")
        stated = yield from ask_keyed(question, keyed, slot="statements")
        return Fraction(sum(stated.values()), len(stated))
