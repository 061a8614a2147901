"""The reflector protocol: failures in, one new instruction out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from reflectors.traces import Trace


@dataclass(frozen=True, slots=True)
class ReflectionRequest:
    """What a reflector is given: reflect examples' traces and instructions, never accept or held-out text.

    ``earlier`` holds every instruction tried so far; ``seed``, ``iteration`` and ``call`` are the only source of
    randomness, so that a resumed search proposes the same again.
    """

    parent: str
    traces: tuple[Trace, ...]
    earlier: frozenset[str]
    seed: int
    iteration: int
    call: int = 0


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
    """Reads the student's failures and writes a new instruction."""

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
