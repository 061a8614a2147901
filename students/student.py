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
from students.capabilities import Capabilities
from students.parsing import Abstained, Unread
from students.shape import INSTRUCTION
from students.transport.base import CallFailure, CallRequest, CallResult

PromptCache = Literal["exact", "on", "off", "unset"]

Answers = Sequence[CallResult | CallFailure]
"""What came back for the calls about one example, in the order in which they were asked."""

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

    seed: int | None
    sample: int = 0
    replicate: int = 0

    def request(
        self, messages: tuple[Mapping[str, str], ...], parameters: Mapping[str, Any], inputs: Mapping[str, str]
    ) -> CallRequest:
        """One call of this draw."""
        return CallRequest(messages, parameters, self.seed, self.sample, self.replicate, inputs=inputs)


@dataclass(frozen=True, slots=True)
class Sending:
    """What a student sends to its model besides messages and seed.

    Args:
        answer: parameters of the calls that answer.
        scratchpad: parameters of the calls that write a scratchpad first, or None where there is none.
        scratchpad_tokens: most tokens of a scratchpad, or None.
        seeded: whether the model takes a seed.
    """

    answer: Mapping[str, Any]
    scratchpad: Mapping[str, Any] | None
    scratchpad_tokens: int | None
    seeded: bool

    @classmethod
    def of(
        cls,
        budget: ReasoningBudget,
        capabilities: Capabilities,
        *,
        temperature: float | None,
        logprobs: bool = False,
    ) -> Sending:
        """What a budget and a temperature come to with a model.

        Raises:
            PlanError: the model does not take them.
        """
        reasoning = budget.reasons(capabilities)
        sampling = capabilities.sampling(temperature, reasoning=reasoning)
        read = capabilities.logprobs(reasoning=reasoning) if logprobs else {}
        tokens = budget.scratchpad(capabilities)
        return cls(
            {**sampling, **read, **budget.parameters(capabilities)},
            None if tokens is None else {**sampling, capabilities.cap: tokens},
            tokens,
            capabilities.seed,
        )

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        scratchpad = None if self.scratchpad is None else dict(self.scratchpad)
        return {"answer": dict(self.answer), "scratchpad": scratchpad, "seeded": self.seeded}


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

    def settings(self) -> dict[str, Any]:
        """Everything but the instruction that can change a judgement, as JSON; part of every hash."""
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
        """The judgement that all answers amount to."""
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


def unusable(answer: CallResult | CallFailure, *, one_token: bool = False, scratchpad: bool = False) -> Unread | None:
    """Why an answer can be no judgement: transport, refusal, truncation, reasoning without an answer, or emptiness.

    A read of one token's log-probabilities ends with ``length`` by design and is not truncated, unless reasoning took
    that token. A scratchpad may fill its cap.
    """
    if isinstance(answer, CallFailure):
        return Unread("transport", f"{'' if answer.reason == 'transport' else f'{answer.reason}: '}{answer.message}")
    if answer.finish in ("content_filter", "refusal"):
        return Unread("refused", answer.finish)
    said = bool(answer.top) if one_token else bool((answer.text or "").strip())
    thought = answer.usage.reasoning_tokens > 0 or bool(answer.reasoning)
    if answer.finish == "length" and not scratchpad and not (one_token and (said or not thought)):
        return Unread("truncated", f"after {answer.usage.reasoning_tokens} reasoning tokens")
    if not said:
        return Unread(
            "reasoning_only" if answer.reasoning else "empty", "no log-probabilities" if one_token else "no text"
        )
    return None


def unread(found: Unread | Abstained, *, about: str = "") -> Reading:
    """The judgement that an answer without a score amounts to; ``about`` says which answer, where there are several."""
    detail = f"{about}: {found.seen}" if about else found.seen
    if isinstance(found, Abstained):
        return Reading("abstained", None, f"abstained: {detail}"[:300])
    return Reading("failed", None, f"{found.reason}: {detail}"[:300])


def scratchpad_text(answer: CallResult | CallFailure) -> str | Unread:
    """The text of a scratchpad, without white space around it, or why there is none."""
    bad = unusable(answer, scratchpad=True)
    return bad if bad is not None else str(answer.text if isinstance(answer, CallResult) else "").strip()


def common_settings(
    name: str, shape_hash: str, model: Mapping[str, Any], budget: ReasoningBudget, sending: Sending
) -> dict[str, Any]:
    """Settings that every student has."""
    return {
        "student": name,
        "shape": shape_hash,
        "model": dict(model),
        "budget": budget.row(),
        "sent": sending.row(),
    }
