"""The LLM reflector: a model reads the feedback and writes the new instruction between markers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from lineage.errors import PlanError
from reflectors.asking import Asked, Asking
from reflectors.feedback import Feedback
from reflectors.marking import read_marked
from reflectors.memory import UNANSWERED
from reflectors.reflector import Reflection, ReflectionRequest, Reflector
from students.budget import ReasoningBudget
from students.capabilities import Capabilities
from students.sending import Sending
from students.student import draw_seed
from students.transport.base import CallFailure, CallRequest, CallResult

Ask = Callable[[Sequence[CallRequest]], Sequence[CallResult | CallFailure]]

UNFINISHED: Final[Mapping[str, str]] = {
    "length": "truncated: the answer reached its token cap",
    "content_filter": "withheld by a content filter",
    "refusal": "refused",
}
"""Finish reasons of answers that are not whole, whatever they hold."""


class LlmReflector(Reflector):
    """Any model as a reflector, for a new instruction out of one parent and for a crossover of several.

    Args:
        ask: makes calls, at once where it can (cached, charged and retried by the campaign).
        model: identity of the model, part of the hash.
        budget: the reflector's own reasoning budget and answer cap.
        temperature: sampling temperature, or None to send none.
        capabilities: what the model accepts.
        feedback: which parts of the feedback it is told, and the bound.
        memory: how many failed edits it is told.

    Attributes:
        ask: makes calls.
        sending: what is sent besides messages and seed.

    Raises:
        PlanError: the model does not take the budget or the temperature, or would need a scratchpad.
    """

    name: ClassVar[str] = "llm"

    def __init__(
        self,
        ask: Ask,
        *,
        model: Mapping[str, Any],
        budget: ReasoningBudget,
        temperature: float | None = 1.0,
        capabilities: Capabilities | None = None,
        feedback: Feedback | None = None,
        memory: int = 0,
    ) -> None:
        self.ask, self._model, self._budget, self._temperature = ask, dict(model), budget, temperature
        self.sending = reflector_sending(budget, capabilities or Capabilities(), temperature=temperature)
        self._asking = Asking(feedback or Feedback(), memory)

    def settings(self) -> dict[str, Any]:
        """Model, budget, temperature, feedback, memory and hashes of the prompt files."""
        return {
            "reflector": self.name,
            "model": self._model,
            "budget": self._budget.row(),
            "temperature": self._temperature,
            "sent": self.sending.row(),
            **self._asking.settings(),
        }

    def reflect(self, request: ReflectionRequest) -> Reflection:
        """Ask once; an answer without markers, cut off or empty is a problem and never a prompt."""
        return self.reflect_all([request])[0]

    def reflect_all(self, requests: Sequence[ReflectionRequest]) -> tuple[Reflection, ...]:
        """Ask once for each request, all at the same time."""
        asked = [self._asking.words(request) for request in requests]
        answers = self.ask([self._call(request, words) for request, words in zip(requests, asked, strict=True)])
        return tuple(
            replace(_read(answer, merged=bool(request.others)), prompt=words.user)
            for request, words, answer in zip(requests, asked, answers, strict=True)
        )

    def _call(self, request: ReflectionRequest, asked: Asked) -> CallRequest:
        return CallRequest(
            ({"role": "system", "content": asked.system}, {"role": "user", "content": asked.user}),
            self.sending.answer,
            seed=draw_seed(request.seed, request.iteration, request.call) if self.sending.seeded else None,
            sample=request.call,
        )


def reflector_sending(budget: ReasoningBudget, capabilities: Capabilities, *, temperature: float | None) -> Sending:
    """What a reflector sends besides messages and seed.

    Raises:
        PlanError: the model does not take it, or would need a scratchpad, which reflectors do not write.
    """
    sending = Sending.of(budget, capabilities, temperature=temperature)
    if sending.scratchpad is not None:
        raise PlanError(
            f"{capabilities.model} does not accept reflector.budget.thinking_tokens = {budget.thinking_tokens}, "
            "accepted: none; leave it out, as a reflector writes no scratchpad"
        )
    return sending


def _read(answer: CallResult | CallFailure, *, merged: bool) -> Reflection:
    operator = "llm crossover" if merged else "llm"
    if isinstance(answer, CallFailure):
        return Reflection("", operator, UNANSWERED, problem=f"{UNANSWERED}: {answer.reason}: {answer.message}")
    text = answer.text or ""
    marked = read_marked(text)
    silent = None if text.strip() else "reasoning only, no answer" if answer.reasoning else "empty answer"
    problem = UNFINISHED.get(answer.finish) or silent or marked.problem
    why = "merged by the reflector model" if merged else "written by the reflector model"
    return Reflection("" if problem else marked.instruction, operator, why, answer=text, problem=problem)
