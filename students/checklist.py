"""The checklist judge: items made from the source alone, and each of them answered on the document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Final

from lineage.errors import PlanError
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistJudge(PromptedStudent):
    """A student that writes a checklist from the source, once for a group, and scores the share that a document meets.

    A checklist without items, or an item without an answer, fails the judgement. Of a longer list than asked for, twice
    as many items are kept.

    Args:
        block: which prompt's instruction evolves: ``answers``, or ``items``.
        items: items that are asked for.
        list_tokens: cap of the checklist in tokens.
        model: identity of the model, part of the hash.
        budget: reasoning budget, and the cap of the answers to all items.
        temperature: sampling temperature; None sends none.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts.

    Raises:
        PlanError: a setting is out of range, or the model does not take it.
    """

    block: str = "answers"
    items: int = 25
    list_tokens: int = 1024
    budget: ReasoningBudget = field(default_factory=lambda: ReasoningBudget(answer_tokens=512))
    temperature: float | None = 0.0
    items_prompt: Prompt = field(init=False)

    name: ClassVar[str] = "checklist"
    scale: ClassVar[float] = 1.0
    samples: ClassVar[int] = 1
    blocks: ClassVar[tuple[str, ...]] = ("answers", "items")

    def __post_init__(self) -> None:
        if self.items < 1:
            raise PlanError(f"items must be at least 1, got {self.items}")
        texts = block_texts(self.name, self.blocks, self.block)
        sending = Sending.of(self.budget, self.capabilities, temperature=self.temperature)
        listing = Sending.of(
            replace(self.budget, answer_tokens=self.list_tokens), self.capabilities, temperature=self.temperature
        )
        answers = replace(sending, others={"checklist-items": listing.answer})
        object.__setattr__(self, "prompt", Prompt.load("checklist-answers", answers, fixed=texts["answers"]))
        object.__setattr__(self, "items_prompt", Prompt.load("checklist-items", listing, fixed=texts["items"]))

    @property
    def seed_instruction(self) -> str:
        """The bundled text of the block that evolves."""
        return f"{self.name}-{self.block}"

    def own_settings(self) -> dict[str, Any]:
        """Temperature, items and prompts."""
        return {
            "temperature": self.temperature,
            "block": self.block,
            "items": self.items,
            "prompts": {"answers": self.prompt.row(), "items": self.items_prompt.row()},
        }

    def calls_at_most(self, facts: int) -> CallsAtMost:
        """The answers and one request for what they leave out; the checklist, for the group."""
        del facts
        return CallsAtMost(self.calls_an_answer + 1, group=self.calls_an_answer)

    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        """The checklist, and its answers on the document."""
        del facts  # the checklist is its own
        items = yield from of_the_source(self.listed(example.source))
        keyed = dict(zip(keys_of("q", len(items)), items, strict=True))
        met = yield from ask_keyed(Question(self.prompt, {"document": example.document}), keyed, slot="items")
        score = Fraction(sum(met.values()), len(met))
        return Reading("scored", float(score), parts={"items": float(len(met)), "met": float(sum(met.values()))})

    def listed(self, source: str) -> Dialogue[tuple[str, ...]]:
        """The items that the source gives."""
        (answer,) = yield from ask(Question(self.items_prompt, {"source": source, "count": str(self.items)}, _LIST))
        items = taken(parse_list(text_of(answer, about=_LIST), most=2 * self.items), about=_LIST)
        return items or taken(Unread("empty", "no item, so that there is nothing to answer"), about=_LIST)


_LIST: Final = "checklist"
