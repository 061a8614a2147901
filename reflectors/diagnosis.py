"""A simulated reflector: it reads the feedback as a model would read it, by a rule, and draws fitting clauses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from reflectors.asking import Asking
from reflectors.clauses import ClauseBank, replaced, split_clauses
from reflectors.crossover import cross
from reflectors.feedback import Feedback
from reflectors.reflector import Reflection, ReflectionRequest, Reflector

TRIES: Final = 40
"""Draws before the reflector gives up on finding an instruction that was not tried before."""
MOST_KINDS: Final = 2
"""Most kinds of failure that one proposal answers."""

_EXAMPLE: Final = re.compile(r"^\d+\. (.*)$", re.MULTILINE)
_SIGNS: Final[Mapping[str, str]] = {
    "missed_fragment": r"An omission \(partial-weak\).* It belongs below\.",
    "missed_restated": r"An omission \(partial-strong\).* It belongs below\.",
    "missed_omission": r"An omission(?: \(complete\))?: .* It belongs below\.",
    "missed_change": r"An alteration: .* It belongs below\.",
    "missed_addition": r"An addition: .* It belongs below\.",
    "false_absence": r"A (?:correct document|document taken as correct).*It called absent",
}
"""What the feedback says of each kind of failure, by the section of the clause bank that is for it."""


class SimulatedDiagnosisReflector(Reflector):
    """Reads in the words of the feedback which failures are frequent, and adds a clause against each of the foremost.

    It is no model, and shows only what can be had from reading the feedback. It is told nothing else: which clause of a
    section helps a student it finds out by trying, and a clause whose failure goes on gives way to another one.
    Everything made with it is marked simulated.

    Args:
        bank: name of the clause bank.
        feedback: which parts of the feedback it reads, and the bound.

    Raises:
        PlanError: there is no such bank.
    """

    name: ClassVar[str] = "simulated-diagnosis"

    def __init__(self, bank: str, *, feedback: Feedback | None = None) -> None:
        self._bank = ClauseBank(bank)
        self._asking = Asking(feedback or Feedback())

    def settings(self) -> dict[str, Any]:
        """Bank, its hash, the feedback, and that it is simulated."""
        return {
            "reflector": self.name,
            "simulated": True,
            "bank": self._bank.name,
            "hash": self._bank.hash,
            **self._asking.settings(),
        }

    def reflect(self, request: ReflectionRequest) -> Reflection:
        """Propose clauses against the most frequent failures, or a crossover."""
        rng = request.rng()
        if request.others:
            return cross(request, rng)
        (shown,) = self._asking.words(request).shown
        counts = diagnose(shown.text)
        kinds = [kind for kind, _ in counts.most_common() if kind in self._bank.clauses][:MOST_KINDS]
        seen = {" ".join(split_clauses(text)) for text in (request.parent, *request.earlier)}
        found = ", ".join(f"{counts[kind]} {kind.replace('_', ' ')}" for kind in kinds)
        for _ in range(TRIES if kinds else 0):
            clauses = split_clauses(request.parent)
            for kind in kinds:
                clauses = self._answered(clauses, kind, rng)
            if (text := " ".join(clauses)) not in seen:
                return Reflection(text, "simulated diagnosis", f"read in the feedback: {found}")
        problem = "no clause that was not tried before" if kinds else "no failure is told of in the feedback"
        return Reflection("", "none", f"read in the feedback: {found or 'nothing'}", problem=problem)

    def _answered(self, clauses: Sequence[str], kind: str, rng: np.random.Generator) -> list[str]:
        """The clauses with another one against a failure, in place of one that was for it and did not end it."""
        section = self._bank.clauses[kind]
        there = [place for place, clause in enumerate(clauses) if clause in section]
        fresh = [clause for clause in section if clause not in clauses]
        if not fresh:
            return list(clauses)
        new = fresh[int(rng.integers(len(fresh)))]
        return replaced(clauses, there[0], [new]) if there else [*clauses, new]


def diagnose(text: str) -> Counter[str]:
    """How often each kind of failure stands in a feedback, most frequent first and by name where level."""
    found = Counter(
        next((kind for kind, sign in _SIGNS.items() if re.match(sign, example)), "")
        for example in _EXAMPLE.findall(text)
    )
    del found[""]
    return Counter(dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))))
