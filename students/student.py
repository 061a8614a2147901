"""The student protocol: what a judge asks about an example, and how it reads the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from lineage.canonical import digest
from lineage.errors import PlanError
from lineage.records import FactVerdict, Status
from splits.corpus import Example, Fact
from students.budget import ReasoningBudget
from students.parsing import Unread
from students.shape import INSTRUCTION
from students.transport.base import CallFailure, CallRequest, CallResult

PromptCache = Literal["exact", "on", "off", "unset"]

SEEDED_ITEMS: Final = 10_000
SEEDED_SAMPLES: Final = 10


@dataclass(frozen=True, slots=True)
class Reading:
    """What a student reads from the answers about one example; ``score`` is on the student's scale."""

    status: Status
    score: float | None
    reason: str | None = None
    facts: tuple[FactVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Draw:
    """Which draw of an example's judgement a call belongs to."""

    seed: int
    sample: int = 0
    replicate: int = 0


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

    def settings(self) -> dict[str, Any]:
        """Everything but the instruction that can change a judgement, as JSON; part of every hash."""
        ...

    def chain(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw
    ) -> tuple[CallRequest, ...]:
        """The calls about one example, those that share a beginning in a row, without its label or its twin."""
        ...

    def read(self, example: Example, facts: Sequence[Fact], answers: Sequence[CallResult | CallFailure]) -> Reading:
        """The judgement that the answers to :meth:`chain` amount to."""
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
    return 2**40 + int(digest([run_seed, item_index, sample])[:8], 16)


def instruction_of(texts: Mapping[str, str]) -> str:
    """The evolving text of a candidate with one block.

    Raises:
        PlanError: the candidate has other blocks.
    """
    if set(texts) != {INSTRUCTION}:
        raise PlanError(f"this student's one evolving block is {INSTRUCTION!r}, the candidate has {sorted(texts)}")
    return texts[INSTRUCTION]


def unusable(answer: CallResult | CallFailure, *, one_token: bool = False) -> Unread | None:
    """Why an answer can be no judgement: transport, refusal, truncation, reasoning without an answer, or emptiness.

    A read of one token's log-probabilities ends with ``length`` by design and is not truncated.
    """
    if isinstance(answer, CallFailure):
        return Unread(answer.reason, answer.message)
    if answer.finish in ("content_filter", "refusal"):
        return Unread("refused", answer.finish)
    if answer.finish == "length" and not one_token:
        return Unread("truncated", f"after {answer.usage.reasoning_tokens} reasoning tokens")
    if not (answer.top if one_token else (answer.text or "").strip()):
        what = "no log-probabilities" if one_token else "no text"
        return Unread("reasoning_only" if answer.reasoning else "empty", what)
    return None


def common_settings(name: str, shape_hash: str, model: Mapping[str, Any], budget: ReasoningBudget) -> dict[str, Any]:
    """Settings that every student has."""
    return {"student": name, "shape": shape_hash, "model": dict(model), "budget": budget.row()}
