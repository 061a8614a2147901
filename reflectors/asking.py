"""The request in words, for whoever reads it: a model or a person."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Template
from typing import Any, Final

from lineage.canonical import digest_bytes
from reflectors.clauses import PROMPTS
from reflectors.feedback import Feedback
from reflectors.memory import memory_words
from reflectors.reflector import ReflectionRequest
from reflectors.showing import Shown, show_feedback
from students.shape import INSTRUCTION

REFLECT: Final = PROMPTS / "reflect.md"
CROSSOVER: Final = PROMPTS / "crossover.md"


@dataclass(frozen=True, slots=True)
class Asking:
    """How a request is put into words.

    Attributes:
        feedback: which parts of the feedback are told, and its bound.
        memory: how many failed edits are told, the latest ones.
    """

    feedback: Feedback
    memory: int = 0

    def settings(self) -> dict[str, Any]:
        """Parts, bound, memory and the hashes of the prompt files."""
        return {
            "feedback": self.feedback.row(),
            "memory": self.memory,
            "prompt": digest_bytes(REFLECT.read_bytes()),
            "crossover": digest_bytes(CROSSOVER.read_bytes()),
        }

    def words(self, request: ReflectionRequest) -> Asked:
        """The request, in the words of the prompt for one parent or for several."""
        memory = memory_words(request.failed, self.memory)
        memory = f"\n{memory}\n" if memory else ""
        block = "" if request.component == INSTRUCTION else f' (the block "{request.component}")'
        if request.others:
            sections = prompt_sections(CROSSOVER)
            parents, shown = self._parents(request)
            user = Template(sections["user"]).substitute(parents=parents, memory=memory, block=block)
            return Asked(sections["system"], user, shown)
        sections = prompt_sections(REFLECT)
        feedback = show_feedback(request.traces, self.feedback)
        user = Template(sections["user"]).substitute(
            block=block,
            instruction=request.parent,
            count=str(feedback.count),
            feedback=feedback.text,
            memory=memory,
        )
        return Asked(sections["system"], user, (feedback,))

    def _parents(self, request: ReflectionRequest) -> tuple[str, tuple[Shown, ...]]:
        """Every parent with what it did, within one bound."""
        texts = (request.parent, *request.others)
        traces = (request.traces, *request.others_traces)
        shown = tuple(show_feedback(each, self.feedback, share=len(traces)) for each in traces if each)
        feedback = iter(shown)
        parts = []
        for number, text in enumerate(texts, start=1):
            told = next(feedback) if number <= len(traces) and traces[number - 1] else None
            did = "" if told is None else f"\n\nWHAT IT DID ON {told.count} EXAMPLES:\n{told.text}"
            parts.append(f"INSTRUCTION {number}:\n{text}{did}\n")
        return "\n".join(parts), shown


@dataclass(frozen=True, slots=True)
class Asked:
    """What is said to a reflector, and what of the feedback it holds, for each parent."""

    system: str
    user: str
    shown: tuple[Shown, ...]


@lru_cache(maxsize=8)
def prompt_sections(path: Path) -> dict[str, str]:
    """Sections of a prompt file by their names."""
    parts = re.split(r"^## (\w+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], (body.strip() for body in parts[1::2]), strict=True))
