"""What a reflector is told: the parts of the feedback, each of which can be left out, and the bound on its length."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

from lineage.errors import PlanError

TOKENS: Final = 6_000
"""Bound on the feedback where the plan gives none."""
LEAST_TOKENS: Final = 400
"""Least bound: two parents of a crossover share it, and each has a summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """The parts of the feedback on one minibatch, and its bound.

    All of it comes from reflect examples and from the judgements on them; nothing else is in scope where it is made.

    Attributes:
        truth: what is true of the example: correct, or which flaw it has.
        fact: the fact that was left out, put in or changed.
        mention: what survives of an omitted fact: offset, heading, strength and the words.
        severity: how grave the flaw is, why, and what the source says.
        said: the judge's score, its verdict on the fact concerned, and its own words where it gave any.
        rank: whether the flawed document came below, level with or above its own twin, and by how much.
        differences: other facts that were judged differently than on the twin.
        constant_absences: facts judged absent on every document of the group, the correct one among them.
        right: what is judged right already.
        document: the document around the flaw, for failures.
        rule: that moving every score gains nothing.
        tokens: most tokens of it all, estimated (see :func:`~reflectors.excerpts.estimate_tokens`).

    Raises:
        PlanError: the bound is too small to say anything.
    """

    truth: bool = True
    fact: bool = True
    mention: bool = True
    severity: bool = True
    said: bool = True
    rank: bool = True
    differences: bool = True
    constant_absences: bool = True
    right: bool = True
    document: bool = True
    rule: bool = True
    tokens: int = TOKENS

    def __post_init__(self) -> None:
        if self.tokens < LEAST_TOKENS:
            raise PlanError(f"feedback.tokens must be at least {LEAST_TOKENS}, got {self.tokens}")

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {part.name: getattr(self, part.name) for part in fields(self)}
