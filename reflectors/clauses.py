"""Clauses: an instruction as its sentences, and the banks that the offline reflectors draw from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from lineage.canonical import digest_bytes
from lineage.errors import PlanError

PROMPTS: Final = Path(__file__).parent / "prompts"


class ClauseBank:
    """Clauses for the instructions of one kind of student, by the failure that they answer.

    Args:
        name: that of the bank: ``clauses-NAME.md`` in ``prompts``.

    Raises:
        PlanError: there is no such bank.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._path = PROMPTS / f"clauses-{name}.md"
        if not self._path.is_file():
            raise PlanError(f"there is no clause bank for student {name!r}; use an LLM reflector")

    @cached_property
    def clauses(self) -> Mapping[str, tuple[str, ...]]:
        """Clauses by what they are good for."""
        parts = re.split(r"^## (\w+)$", self._path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        return {
            name: tuple(line[2:].strip() for line in body.splitlines() if line.startswith("- "))
            for name, body in zip(parts[::2], parts[1::2], strict=True)
        }

    @property
    def hash(self) -> str:
        """SHA-256 of the bank's file."""
        return digest_bytes(self._path.read_bytes())


def split_clauses(text: str) -> list[str]:
    """The sentences of an instruction; a quotation is never cut."""
    clauses: list[str] = []
    for part in re.split(r"(?<=[.!?])\s+", text.strip()):
        if clauses and clauses[-1].count('"') % 2:
            clauses[-1] = f"{clauses[-1]} {part}"
        elif part:
            clauses.append(part)
    return clauses


def one_clause(text: str) -> str:
    """A quotation without sentence ends, so that the example it stands in remains one clause."""
    return "; ".join(part.rstrip(".!?") for part in split_clauses(text))


def replaced(clauses: Sequence[str], index: int, new: Sequence[str]) -> list[str]:
    """The clauses with others in place of one."""
    return [*clauses[:index], *new, *clauses[index + 1 :]]
