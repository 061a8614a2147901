"""What a plan may cost: calls, tokens, US dollars and time, each as a range, from the prompts that it will send."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from experiments.loading import LoadedPlan
from experiments.sizing import SECONDS_A_LOCAL_CHECK, plan_size
from lineage.errors import PlanError
from optimize.model_plan import ModelPlan
from optimize.models import capabilities_of, price_of_plan
from optimize.texts import candidate_of
from reflectors.excerpts import BYTES_A_TOKEN as FEEDBACK_BYTES
from reflectors.llm import reflector_sending
from splits.corpus import Example
from splits.lock import split_examples
from students import ReasoningBudget, Student
from students.student import Draw
from students.transport import CallRequest

BYTES_A_TOKEN: Final = (4.5, 3.0)
"""Bytes of UTF-8 that a token of clinical English stands for, where a tokenizer does well and where it does badly."""
TOKENS_A_WORD: Final = 1.5
SHORT_ANSWER: Final = 16
"""Tokens that an answer is taken for at the low end; at the high end it fills its cap."""
SECONDS_A_CALL: Final = (0.4, 4.0)
"""Seconds of a call over a network, and of a longer one on the embedded model, without reasoning."""
SAMPLED: Final = 200
"""Most examples whose prompts are measured."""


@dataclass(frozen=True, slots=True)
class Range:
    """Least and most of a number that is estimated before anything is measured."""

    low: float
    high: float

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)


@dataclass(frozen=True, slots=True)
class RoleCost:
    """What one role may take; ``usd`` is None where its price is not known, and zero where none applies.

    Low: half of the proposals are accepted, prompts are short in tokens and answers short, and the baseline is not
    judged again at equal budget. High: all are accepted, and every answer fills its cap. Neither counts retries, nor
    the discount of a provider's prompt cache.
    """

    role: str
    calls: Range
    prompt_tokens: Range
    completion_tokens: Range
    usd: Range | None
    seconds: Range


def role_costs(loaded: LoadedPlan, student: Student) -> tuple[RoleCost, ...]:
    """Estimates for each role of a plan; nothing is called, and no held-out note is read.

    Raises:
        PlanError: the reflector's model does not take its settings.
    """
    plan, size = loaded.plan, plan_size(loaded)
    requests = [
        request
        for split in ("reflect", "accept")
        for example in split_examples(loaded.lock, loaded.corpus, split)[:SAMPLED]
        for request in requests_of(loaded, student, example)
    ]
    calls = Range(size.student - size.accept / 2 - size.equal_budget, size.student)
    found = [
        _cost(
            "student",
            plan.student.model,
            calls,
            fmean(prompt_bytes(request) for request in requests),
            max(completion_cap(request.sent) for request in requests),
            reasoning=plan.student.budget.effort != "none" or plan.student.budget.thinking_tokens is not None,
            short=plan.student.shape == "per-fact" and student.sending.scratchpad is None,
        )
    ]
    if size.reflector and plan.reflector.model is not None:
        sent = reflector_parameters(loaded)
        found.append(
            _cost(
                "reflector",
                plan.reflector.model,
                Range(size.reflector, size.reflector),
                (1 if plan.search.merge is None else 2) * len(loaded.baseline.encode())
                + FEEDBACK_BYTES * plan.reflector.feedback.tokens,
                completion_cap(sent),
                reasoning=plan.reflector.budget.effort != "none",
            )
        )
    return tuple(found)


def requests_of(loaded: LoadedPlan, student: Student, example: Example) -> tuple[CallRequest, ...]:
    """The calls about one example with the baseline's instruction."""
    facts = loaded.corpus.facts.get(example.group, ())
    return student.chain(example, facts, candidate_of(student, loaded.baseline).texts, Draw(0))


def reflector_parameters(loaded: LoadedPlan) -> dict[str, Any]:
    """What the reflector sends besides its messages.

    Raises:
        PlanError: its model does not take it.
    """
    settings = loaded.plan.reflector
    if settings.model is None:
        raise PlanError("this plan's reflector asks no model")
    budget = ReasoningBudget(**settings.budget.model_dump())
    return dict(reflector_sending(budget, capabilities_of(settings.model), temperature=settings.temperature).answer)


def longest_request(loaded: LoadedPlan, student: Student) -> tuple[str, CallRequest]:
    """The longest call about any example of the lock, and the example.

    Every split is in it, so that nothing stops at its length after money was spent; no split is told apart.
    """
    groups = {group for names in loaded.lock.splits.values() for group in names}
    examples = [example for example in loaded.corpus.examples if example.group in groups]
    longest: dict[str, Example] = {}
    for lengths in (lambda e: len(e.document), lambda e: len(e.document) + len(e.source)):
        longest |= {example.id: example for example in heapq.nlargest(SAMPLED // 10, examples, lengths)}
    calls = [(example.id, request) for example in longest.values() for request in requests_of(loaded, student, example)]
    return max(calls, key=lambda call: (prompt_bytes(call[1]), call[0]))


def tokens_needed(loaded: LoadedPlan, request: CallRequest) -> Range:
    """Context that a call may need: its prompt with an instruction as long as may be emitted, and its answer's cap."""
    words = len(loaded.baseline.split())
    growth = max((loaded.plan.guardrails.prompt_words or 2 * words) - words, 0) * TOKENS_A_WORD
    size, cap = prompt_bytes(request), completion_cap(request.sent)
    low, high = (size / each for each in BYTES_A_TOKEN)
    return Range(low + cap, high + growth + cap)


def prompt_bytes(request: CallRequest) -> int:
    """Bytes of UTF-8 that a call's messages have."""
    return sum(len(message["content"].encode()) for message in request.messages)


def completion_cap(sent: dict[str, Any]) -> int:
    """Most tokens of a completion, 0 where none are capped."""
    return int(sent.get("max_completion_tokens") or sent.get("max_tokens") or 0)


def _cost(
    role: str, model: ModelPlan, calls: Range, size: float, cap: int, *, reasoning: bool, short: bool = False
) -> RoleCost:
    prompts = Range(*(count * size / each for count, each in zip(_ends(calls), BYTES_A_TOKEN, strict=True)))
    answers = Range(calls.low * min(cap, SHORT_ANSWER), calls.high * cap)
    usd: Range | None = Range(0, 0)
    if model.replay is None and model.local is None and model.simulated is None:
        price = price_of_plan(model)
        ends = zip(_ends(prompts), _ends(answers), strict=True)
        usd = None if price is None else Range(*(price.cost(round(asked), round(said), 0) for asked, said in ends))
    return RoleCost(role, calls, prompts, answers, usd, _seconds(model, calls, reasoning=reasoning, short=short))


def _seconds(model: ModelPlan, calls: Range, *, reasoning: bool, short: bool) -> Range:
    if model.replay is not None or model.simulated is not None:
        return Range(calls.low / 5000, calls.high / 1000)
    low, high = SECONDS_A_LOCAL_CHECK if model.local is not None and short else SECONDS_A_CALL
    at_once = 1 if model.local is not None else model.concurrency
    return Range(calls.low * low / at_once, calls.high * high * (5 if reasoning else 1) / at_once)


def _ends(found: Range) -> Sequence[float]:
    return found.low, found.high
