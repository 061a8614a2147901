"""The control of reflection: blind edits from the same bank of clauses, whatever the student got wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from reflectors.clauses import ClauseBank, replaced, split_clauses
from reflectors.crossover import cross
from reflectors.reflector import Reflection, ReflectionRequest, Reflector

TRIES: Final = 40
"""Draws of an edit before the reflector gives up on finding one that was not tried before."""
_NOT_CLAUSES: Final = frozenset({"frame", "example"})
"""Sections of a bank that take the place of the first clause, or need a trace."""


class RandomEditReflector(Reflector):
    """Adds, drops, replaces or reorders clauses, or reframes, at random: it reads no trace and remembers no failure.

    It answers whether reflection beats blind edits at equal calls. Adding is as likely as all other edits together. The
    draw depends on seed, iteration and call alone.

    Args:
        bank: name of the clause bank.

    Raises:
        PlanError: there is no such bank.
    """

    name: ClassVar[str] = "random-edits"

    def __init__(self, bank: str) -> None:
        self._bank = ClauseBank(bank)
        self._clauses = [
            clause for kind, clauses in self._bank.clauses.items() if kind not in _NOT_CLAUSES for clause in clauses
        ]

    def settings(self) -> dict[str, Any]:
        """Name and hash of the bank."""
        return {"reflector": self.name, "bank": self._bank.name, "hash": self._bank.hash}

    def reflect(self, request: ReflectionRequest) -> Reflection:
        """Propose one blind edit, or crossover, that was not tried before."""
        rng = request.rng()
        if request.others:
            return cross(request, rng)
        clauses = split_clauses(request.parent)
        seen = {" ".join(split_clauses(text)) for text in (request.parent, *request.earlier)}
        edits = self._edits(clauses, rng)
        others = [name for name in edits if name != "add"]
        for _ in range(TRIES):
            operator = "add" if rng.random() < 0.5 else others[int(rng.integers(len(others)))]
            text = " ".join(edits[operator]())
            if text and text not in seen:
                return Reflection(text, f"random {operator}", f"{operator}, blind: no trace was read")
        return Reflection(
            "", "none", "no new edit found", problem=f"no edit in {TRIES} draws that was not tried before"
        )

    def _edits(self, clauses: Sequence[str], rng: np.random.Generator) -> Mapping[str, Callable[[], list[str]]]:
        """The edits that an instruction of so many clauses allows."""

        def drawn(kind: Sequence[str]) -> list[str]:
            fresh = [clause for clause in kind if clause not in clauses]
            return [fresh[int(rng.integers(len(fresh)))]] if fresh else []

        def place() -> int:
            return 1 + int(rng.integers(len(clauses) - 1))

        def add() -> list[str]:
            return [*clauses, *new] if (new := drawn(self._clauses)) else []

        def reframe() -> list[str]:
            return [*new, *clauses[1:]] if (new := drawn(self._bank.clauses.get("frame", ()))) else []

        edits: dict[str, Callable[[], list[str]]] = {"add": add, "reframe": reframe}
        if len(clauses) > 1:
            edits |= {
                "replace": lambda: replaced(clauses, place(), new) if (new := drawn(self._clauses)) else [],
                "drop": lambda: replaced(clauses, place(), []),
                "reorder": lambda: [clauses[0], *(clauses[1 + i] for i in rng.permutation(len(clauses) - 1))],
            }
        return edits
