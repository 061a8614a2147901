"""The reflector protocol: failures in, one new instruction out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lineage.canonical import digest
from reflectors.traces import Trace
from students.shape import INSTRUCTION


@dataclass(frozen=True, slots=True)
class FailedEdit:
    """An earlier proposal that did not enter the pool.

    Attributes:
        text: the proposed text of the component; empty where an answer held none.
        outcome: ``rejected`` or ``invalid``.
        reason: why, in the words of its outcome: numbers and rules, never text of an example.
        parent: the text that it was made from.
        iteration: when.
    """

    text: str
    outcome: str
    reason: str
    parent: str = ""
    iteration: int = 0

    @property
    def told(self) -> str:
        """What of the text may be told again: nothing of an invalid one, which may be invalid for what it copied."""
        return "" if self.outcome == "invalid" else self.text


@dataclass(frozen=True, slots=True)
class ReflectionRequest:
    """What a reflector is given: reflect examples' traces and instructions, never accept or held-out text.

    ``earlier`` holds every instruction tried so far; ``seed``, ``iteration`` and ``call`` are the only source of
    randomness, so that a resumed search proposes the same again.

    ``component`` names the block that is to be written, of which ``parent`` is the present text. Where ``others`` holds
    the same block of further parents the answer is a crossover of all of them; ``others_traces`` are then what each of
    those did on the same examples, in the same order, as far as it is known. ``failed`` are earlier proposals that did
    not enter the pool, the latest last; how many of them are shown is the reflector's setting.
    """

    parent: str
    traces: tuple[Trace, ...]
    earlier: frozenset[str]
    seed: int
    iteration: int
    call: int = 0
    component: str = INSTRUCTION
    others: tuple[str, ...] = ()
    others_traces: tuple[tuple[Trace, ...], ...] = ()
    failed: tuple[FailedEdit, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """Every text that it holds, for whoever must know what a reflector could see."""
        traces = [trace for each in (self.traces, *self.others_traces) for trace in each]
        parts = [part for trace in traces for part in (trace.text, trace.fact, trace.excerpt, trace.document) if part]
        failed = [part for edit in self.failed for part in (edit.told, edit.reason) if part]
        return (self.parent, *self.others, *parts, *failed)

    def rng(self) -> np.random.Generator:
        """The randomness of one proposal, the same whenever it is made again."""
        block = [] if self.component == INSTRUCTION else [self.component]
        return np.random.default_rng(int(digest([self.seed, self.iteration, self.call, *block])[:16], 16))


@dataclass(frozen=True, slots=True)
class Reflection:
    """A proposed instruction and how it came about.

    ``operator`` names the edit or ``llm``; ``prompt`` and ``answer`` are what a model was asked and said. ``problem``
    is the reason why the answer holds no instruction; the text is then empty.
    """

    text: str
    operator: str
    why: str
    prompt: str | None = None
    answer: str | None = None
    problem: str | None = None

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "text": self.text,
            "operator": self.operator,
            "why": self.why,
            "prompt": self.prompt,
            "answer": self.answer,
            "problem": self.problem,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Reflection:
        """The reflection that :meth:`row` wrote."""
        return cls(**{name: row[name] for name in ("text", "operator", "why", "prompt", "answer", "problem")})


class Reflector(Protocol):
    """Reads the student's failures and writes a new instruction.

    What it answers depends on the request alone, so that proposals may be asked for in parallel.
    """

    @property
    def name(self) -> str:
        """Name of the kind of reflector."""
        ...

    def settings(self) -> dict[str, Any]:
        """What identifies the reflector, as JSON."""
        ...

    def reflect(self, request: ReflectionRequest) -> Reflection:
        """Propose one instruction."""
        ...

    def reflect_all(self, requests: Sequence[ReflectionRequest]) -> tuple[Reflection, ...]:
        """Propose one instruction for each request, in their order; a model is asked for all of them at once."""
        return tuple(self.reflect(request) for request in requests)
