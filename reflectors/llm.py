"""The LLM reflector: a model reads the traces and writes the new instruction between markers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any, ClassVar, Final

from lineage.canonical import digest_bytes
from lineage.errors import PlanError
from reflectors.reflector import Reflection, ReflectionRequest
from reflectors.traces import Trace
from students.budget import ReasoningBudget
from students.capabilities import Capabilities
from students.sending import Sending
from students.student import draw_seed
from students.transport.base import CallFailure, CallRequest, CallResult

PROMPT: Final = Path(__file__).parent / "prompts" / "reflect.md"
TRACE_CHARACTERS: Final = 12_000
"""Most characters of traces in a request; failures go first, and a trace that does not fit is left out whole."""

_ANSWER = re.compile(r"<instruction>(.*?)</instruction>", re.DOTALL)

Ask = Callable[[CallRequest], CallResult | CallFailure]


class LlmReflector:
    """Any model as a reflector.

    Args:
        ask: makes one call (cached, charged and retried by the campaign).
        model: identity of the model, part of the hash.
        budget: the reflector's own reasoning budget and answer cap.
        temperature: sampling temperature, or None to send none.
        capabilities: what the model accepts.

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
    ) -> None:
        self._ask, self._model, self._budget, self._temperature = ask, dict(model), budget, temperature
        self._sending = reflector_sending(budget, capabilities or Capabilities(), temperature=temperature)
        parts = re.split(r"^## (system|user)$", PROMPT.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        self._sections = dict(zip(parts[::2], (body.strip() for body in parts[1::2]), strict=True))

    def settings(self) -> dict[str, Any]:
        """Model, budget, temperature and hash of the prompt file."""
        return {
            "reflector": self.name,
            "model": self._model,
            "budget": self._budget.row(),
            "temperature": self._temperature,
            "sent": self._sending.row(),
            "prompt": digest_bytes(PROMPT.read_bytes()),
        }

    def reflect(self, request: ReflectionRequest) -> Reflection:
        """Ask once; an answer without markers, cut off or empty is a problem and never a prompt."""
        shown = fit_traces(request.traces)
        user = Template(self._sections["user"]).substitute(
            instruction=request.parent,
            count=str(len(shown)),
            traces="\n".join(f"{number}. {trace.text}" for number, trace in enumerate(shown, start=1)),
        )
        messages = ({"role": "system", "content": self._sections["system"]}, {"role": "user", "content": user})
        answer = self._ask(
            CallRequest(
                messages,
                self._sending.answer,
                seed=draw_seed(request.seed, request.iteration, request.call) if self._sending.seeded else None,
                sample=request.call,
            )
        )
        return replace(_read(answer), prompt=user)


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


def fit_traces(traces: tuple[Trace, ...], *, characters: int = TRACE_CHARACTERS) -> list[Trace]:
    """As many whole traces as fit, failures before the rest, in order of their ids."""
    kept: list[Trace] = []
    room = characters
    for trace in sorted(traces, key=lambda trace: (trace.failing is None, trace.example)):
        if len(trace.text) <= room:
            kept.append(trace)
            room -= len(trace.text)
    return kept


def _read(answer: CallResult | CallFailure) -> Reflection:
    if isinstance(answer, CallFailure):
        return Reflection("", "llm", "no answer", problem=f"{answer.reason}: {answer.message}")
    text = answer.text or ""
    marks = text.count("<instruction>"), text.count("</instruction>")
    found = _ANSWER.findall(text)
    instruction = _unfenced(found[0]) if found else ""
    problem = None
    if answer.finish == "length":
        problem = "truncated: the answer reached its token cap"
    elif not text.strip():
        problem = "reasoning only, no answer" if answer.reasoning else "empty answer"
    elif marks != (1, 1) or not found:
        problem = f"{max(marks)} marked instructions where one was asked for" if found else "no marked instruction"
    elif not instruction:
        problem = "empty instruction"
    text_of = "" if problem else instruction
    return Reflection(text_of, "llm", "written by the reflector model", answer=text, problem=problem)


def _unfenced(text: str) -> str:
    """The text without a code fence around the whole of it."""
    fence = re.fullmatch(r"\s*```\w*\n(.*?)\n?```\s*", text, re.DOTALL)
    return (fence[1] if fence and "```" not in fence[1] else text).strip()
