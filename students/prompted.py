"""Students made of prompts: what every one of them shares, so that a design is its dialogue."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from splits.corpus import Example, Fact
from students.answers import Answers, Reading
from students.budget import ReasoningBudget
from students.capabilities import Capabilities
from students.combining import Combination, combined_reading, mean
from students.dialogue import Dialogue, Question, UnreadError
from students.flag_rules import FlagRule
from students.prompt import Prompt
from students.sending import Sending
from students.shape import INSTRUCTION, load_instruction
from students.student import CallsAtMost, Draw, PromptCache
from students.transport.base import CallRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptedStudent(ABC):
    """A student whose judgement is one dialogue; it is played again from its start with the answers there are so far.

    A design gives its name, its scale, its prompts and :meth:`dialogue`. The dialogue depends on the example, the facts
    and the answers alone: not on the candidate, the draw or anything it remembers.

    Args:
        model: identity of the model, part of the hash.
        budget: reasoning budget and answer cap.
        prompt_cache: how the server's prompt cache is used.
        capabilities: what the model accepts.

    Raises:
        PlanError: a setting is out of range, or the model does not take it.
    """

    model: Mapping[str, Any]
    budget: ReasoningBudget
    prompt_cache: PromptCache = "unset"
    capabilities: Capabilities = field(default_factory=Capabilities)
    prompt: Prompt = field(init=False)

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the design."""

    @property
    @abstractmethod
    def samples(self) -> int:
        """Answers a judgement."""

    @property
    @abstractmethod
    def seed_instruction(self) -> str:
        """Name of the bundled instruction that the evolving block begins at."""

    @property
    def flag_rule(self) -> FlagRule | None:
        """The rule, fixed in the design, by which a document is flagged; most have none."""
        return None

    @property
    def combination(self) -> Combination:
        """How the scores of several samples become one: their mean."""
        return mean

    @abstractmethod
    def dialogue(self, example: Example, facts: Sequence[Fact]) -> Dialogue[Reading]:
        """All that is asked about one example, and the reading of one sample."""

    @property
    def sending(self) -> Sending:
        """What is sent with the prompt whose answer is the judgement."""
        return self.prompt.sending

    @property
    def seed_texts(self) -> Mapping[str, str]:
        """The evolving block, with the bundled text that it begins at."""
        return {INSTRUCTION: load_instruction(self.seed_instruction)}

    def calls_at_most(self, facts: int) -> CallsAtMost:
        """Most calls of one judgement; here one answer a sample."""
        del facts
        return CallsAtMost(self.samples * self.calls_an_answer)

    @property
    def calls_an_answer(self) -> int:
        """Two where there is a scratchpad before it."""
        return 1 if self.sending.scratchpad is None else 2

    def settings(self) -> dict[str, Any]:
        """Everything but the instruction that can change a judgement."""
        return {
            "student": self.name,
            "shape": self.prompt.shape.hash,
            "model": dict(self.model),
            "budget": self.budget.row(),
            "sent": self.sending.row(),
            "prompt_cache": self.prompt_cache,
            **self.own_settings(),
        }

    @abstractmethod
    def own_settings(self) -> dict[str, Any]:
        """Settings that not every student has."""

    def chain(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw
    ) -> tuple[CallRequest, ...]:
        """The first calls about one example (see :class:`~students.student.Student`)."""
        return self.follow(example, facts, texts, draw, ())

    def follow(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw, answers: Answers
    ) -> tuple[CallRequest, ...]:
        """The next calls after these answers."""
        found = self._played(example, facts, answers)
        if isinstance(found, Reading):
            return ()
        return tuple(question.request(example, texts, draw) for question in found)

    def read(self, example: Example, facts: Sequence[Fact], answers: Answers) -> Reading:
        """What all answers of one sample amount to."""
        found = self._played(example, facts, answers)
        assert isinstance(found, Reading), "a judgement is read after its last answer"
        return found

    def combined(self, readings: Sequence[Reading]) -> Reading:
        """The judgement that the readings of all samples amount to, with what the flag rule found."""
        reading = combined_reading(readings, self.combination)
        return reading if self.flag_rule is None else replace(reading, flags=self.flag_rule.flags(reading))

    def _played(self, example: Example, facts: Sequence[Fact], answers: Answers) -> tuple[Question, ...] | Reading:
        """The questions that these answers lead to, or the reading that ends the dialogue."""
        dialogue, place = self.dialogue(example, facts), 0
        try:
            asked = next(dialogue)
            while place < len(answers):
                came = answers[place : place + len(asked)]
                place += len(came)
                asked = dialogue.send(came)
        except StopIteration as ended:
            reading: Reading = ended.value
            assert place == len(answers), "no answer is left over"
            return reading
        except UnreadError as error:
            return error.reading
        return asked
