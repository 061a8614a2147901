"""The instruction of an answer, between its markers: all of it, or why there is none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

BEGIN: Final = "<instruction>"
END: Final = "</instruction>"

_ANSWER: Final = re.compile(f"{BEGIN}(.*?){END}", re.DOTALL)
_FENCED: Final = re.compile(r"\s*```\w*\n(.*?)\n?```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Marked:
    """An instruction as it was marked; ``problem`` says why there is none, and the instruction is then empty."""

    instruction: str
    problem: str | None = None


def read_marked(text: str) -> Marked:
    """Read the one marked instruction of an answer, without a code fence around the whole of it."""
    marks = text.count(BEGIN), text.count(END)
    found = _ANSWER.findall(text)
    if marks != (1, 1) or not found:
        several = f"{max(marks)} marked instructions where one was asked for"
        return Marked("", several if found else "no marked instruction")
    instruction = _unfenced(found[0])
    return Marked(instruction) if instruction else Marked("", "empty instruction")


def fenced(text: str) -> bool:
    """Whether a code fence stands around the whole of a text."""
    found = _FENCED.fullmatch(text)
    return found is not None and "```" not in found[1]


def _unfenced(text: str) -> str:
    found = _FENCED.fullmatch(text)
    return (found[1] if found and "```" not in found[1] else text).strip()
