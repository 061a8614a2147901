"""The student protocol: what a judge asks about an example, and how it reads the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from lineage.canonical import digest
from lineage.errors import PlanError
from splits.corpus import Example, Fact
from students.answers import Answers, Reading
from students.budget import ReasoningBudget
from students.flag_rules import FlagRule
from students.sending import Sending
from students.shape import INSTRUCTION
from students.transport.base import CallRequest

PromptCache = Literal["exact", "on", "off", "unset"]

SEEDED_ITEMS: Final = 10_000
SEEDED_SAMPLES: Final = 10


@dataclass(frozen=True, slots=True)
class Draw:
    """Which draw of an example's judgement a call belongs to.

    ``group_seed`` is that of calls about the source alone: they are the same for every document of a group, and for
    every sample.
    """

    seed: int | None
    sample: int = 0
    replicate: int = 0
    group_seed: int | None = None

    def request(
        self,
        messages: tuple[Mapping[str, str], ...],
        parameters: Mapping[str, Any],
        inputs: Mapping[str, str],
        *,
        prompt: str = "",
        thinks: bool = False,
        shared: bool = False,
    ) -> CallRequest:
        """One call of this draw (see :class:`~students.transport.base.CallRequest`)."""
        seed, sample = (self.group_seed, 0) if shared else (self.seed, self.sample)
        return CallRequest(
            messages,
            parameters,
            seed,
            sample,
            self.replicate,
            inputs=inputs,
            prompt=prompt,
            thinks=thinks,
            shared=shared,
        )


@dataclass(frozen=True, slots=True)
class CallsAtMost:
    """Most calls of one judgement: those about its document, and those about the source that a group shares."""

    document: int
    group: int = 0


class Student(Protocol):
    """A judge: a prompt shape, settings that are the same for every candidate, and an evolving instruction.

    Scores run from 0 to ``scale``, and higher means better.
    """

    @property
    def name(self) -> str:
        """Name of the design."""
        ...

    @property
    def scale(self) -> float:
        """Score of a flawless document."""
        ...

    @property
    def samples(self) -> int:
        """Answers a judgement."""
        ...

    @property
    def prompt_cache(self) -> PromptCache:
        """How the server's prompt cache is used."""
        ...

    @property
    def budget(self) -> ReasoningBudget:
        """The reasoning budget."""
        ...

    @property
    def sending(self) -> Sending:
        """What is sent besides messages and seed."""
        ...

    @property
    def flag_rule(self) -> FlagRule | None:
        """The rule, fixed in the design, by which a document is flagged; None where it has none."""
        ...

    @property
    def seed_texts(self) -> Mapping[str, str]:
        """The evolving blocks by name, each with the bundled text that it begins at."""
        ...

    def settings(self) -> dict[str, Any]:
        """Everything but the instruction that can change a judgement, as JSON; part of every hash."""
        ...

    def calls_at_most(self, facts: int) -> CallsAtMost:
        """Most calls of one judgement in a group with so many facts."""
        ...

    def chain(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw
    ) -> tuple[CallRequest, ...]:
        """The first calls about one example, those that share a beginning in a row, without its label or its twin.

        They write the scratchpads, where the student has one.
        """
        ...

    def follow(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw, answers: Answers
    ) -> tuple[CallRequest, ...]:
        """The next calls after these answers, all so far in order; none where the judgement can be read."""
        ...

    def read(self, example: Example, facts: Sequence[Fact], answers: Answers) -> Reading:
        """What all answers of one sample amount to."""
        ...

    def combined(self, readings: Sequence[Reading]) -> Reading:
        """The judgement that the readings of all samples amount to, with what its flag rule found."""
        ...


def student_hash(student: Student) -> str:
    """SHA-256 of a student's settings."""
    return digest(student.settings())


def draw_seed(run_seed: int, item_index: int, sample: int) -> int:
    """The seed of one draw: ``run_seed·100000 + item_index·10 + sample``, or a hash beyond 10,000 items or 10 samples.

    Equal on every machine; ``0`` is a seed like any other. A hash-derived seed is above 2^40, so that it is seen.
    """
    if item_index < SEEDED_ITEMS and sample < SEEDED_SAMPLES:
        return run_seed * 100_000 + item_index * 10 + sample
    return _hashed_seed([run_seed, item_index, sample])


def group_draw_seed(run_seed: int, group: str) -> int:
    """The seed of calls about a group's source alone: a hash, as no example's place in the corpus stands for it."""
    return _hashed_seed([run_seed, "group", group])


def instruction_of(texts: Mapping[str, str]) -> str:
    """The evolving text of a candidate with one block.

    Raises:
        PlanError: the candidate has other blocks.
    """
    if set(texts) != {INSTRUCTION}:
        raise PlanError(f"this student's one evolving block is {INSTRUCTION!r}, the candidate has {sorted(texts)}")
    return texts[INSTRUCTION]


def _hashed_seed(named: Sequence[int | str]) -> int:
    return 2**40 + int(digest(list(named))[:8], 16)
