"""The offline reflector: edits of an instruction from a bank of clauses, chosen by the failures. No model needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from reflectors.clauses import ClauseBank, one_clause, replaced, split_clauses
from reflectors.crossover import cross
from reflectors.reflector import Reflection, ReflectionRequest, Reflector
from reflectors.traces import Failing, Trace, count_failures

TRIES: Final = 40
"""Draws of an edit before the reflector gives up on finding one that was not tried before."""


class OperatorReflector(Reflector):
    """Adds, drops, replaces, reorders or shortens clauses, adds a worked example, reframes, or states the answer rule.

    Which failure is most frequent in the traces decides which part of the bank is drawn from; a false absence and a
    missed omission pull in opposite directions, and the more frequent one wins. The draw depends on seed, iteration and
    call alone. Of several parents it makes one by crossover.

    Args:
        bank: name of the clause bank, the student's name: ``clauses-per-fact`` or ``clauses-whole-note`` without the
            first word.
    """

    name: ClassVar[str] = "operators"

    def __init__(self, bank: str) -> None:
        self.bank = bank
        self._bank = ClauseBank(bank)

    @property
    def clauses(self) -> Mapping[str, tuple[str, ...]]:
        """Clauses by what they are good for."""
        return self._bank.clauses

    def settings(self) -> dict[str, Any]:
        """Name and hash of the bank."""
        return {"reflector": self.name, "bank": self.bank, "hash": self._bank.hash}

    def reflect(self, request: ReflectionRequest) -> Reflection:
        """Propose one edit, or crossover, that was not tried before."""
        rng = request.rng()
        if request.others:
            return cross(request, rng)
        failures = count_failures(request.traces)
        seen = {" ".join(split_clauses(text)) for text in (request.parent, *request.earlier)}
        for _ in range(TRIES):
            operator, focus = self._choose(split_clauses(request.parent), failures, rng)
            edited = self._edit(operator, focus, split_clauses(request.parent), request.traces, rng)
            text = " ".join(edited)
            if edited and text not in seen:
                counted = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in failures.items())
                return Reflection(
                    text, operator, f"{operator} for {focus.replace('_', ' ')}; failures: {counted or 'none'}"
                )
        return Reflection(
            "", "none", "no new edit found", problem=f"no edit in {TRIES} draws that was not tried before"
        )

    def _choose(
        self, clauses: Sequence[str], failures: Mapping[Failing, int], rng: np.random.Generator
    ) -> tuple[str, str]:
        """An operator and the failure it is for: failures in proportion to their counts, then a fitting operator."""
        names = [name for name in failures if name in self.clauses]
        if names:
            weights = np.array([failures[name] for name in names], dtype=float)
            focus: str = names[int(rng.choice(len(names), p=weights / weights.sum()))]
        else:
            focus = "answer_rule"
        options = ["add", "add", "answer_rule", "reframe"]
        if names:
            options += ["example"]
        if len(clauses) > 1:
            options += ["replace", "drop", "reorder"]
        if len(clauses) > 3:
            options += ["shorten", "drop"]
        return options[int(rng.integers(len(options)))], focus

    def _edit(
        self, operator: str, focus: str, clauses: list[str], traces: Sequence[Trace], rng: np.random.Generator
    ) -> list[str]:
        def drawn(kind: str) -> list[str]:
            fresh = [clause for clause in self.clauses.get(kind, ()) if clause not in clauses]
            return [fresh[int(rng.integers(len(fresh)))]] if fresh else []

        body = len(clauses) - 1
        edits: Mapping[str, Callable[[], list[str]]] = {
            "add": lambda: clauses + new if (new := drawn(focus)) else [],
            "answer_rule": lambda: clauses + new if (new := drawn("answer_rule")) else [],
            "reframe": lambda: new + clauses[1:] if (new := drawn("frame")) else [],
            "replace": lambda: replaced(clauses, 1 + int(rng.integers(body)), new) if (new := drawn(focus)) else [],
            "drop": lambda: replaced(clauses, 1 + int(rng.integers(body)), []),
            "reorder": lambda: [clauses[0], *(clauses[1 + index] for index in rng.permutation(body))],
            "shorten": lambda: clauses[: 1 + (body + 1) // 2],
            "example": lambda: clauses + new if (new := self._example(focus, traces, rng)) else [],
        }
        return edits[operator]()

    def _example(self, focus: str, traces: Sequence[Trace], rng: np.random.Generator) -> list[str]:
        """A worked example out of a reflect trace of the failure."""
        shown = [trace for trace in traces if trace.failing == focus and trace.fact and trace.excerpt]
        templates = [clause for clause in self.clauses.get("example", ()) if clause.startswith(f"{focus}: ")]
        if not shown or not templates:
            return []
        trace = shown[int(rng.integers(len(shown)))]
        template = templates[int(rng.integers(len(templates)))].removeprefix(f"{focus}: ")
        shown_as = {"FACT": one_clause(str(trace.fact)), "LINE": one_clause(str(trace.excerpt))}
        return [re.sub("FACT|LINE", lambda slot: shown_as[slot[0]], template)]
