"""The offline crossover: the clauses of several parents in one instruction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from reflectors.clauses import split_clauses
from reflectors.reflector import Reflection, ReflectionRequest

OPERATOR: Final = "crossover"
TRIES: Final = 40
"""Draws of a part of the union before the reflector gives up on finding one that was not tried before."""


def cross(request: ReflectionRequest, rng: np.random.Generator) -> Reflection:
    """The union of all parents' clauses, in order and each once, behind the first parent's first clause.

    Where that was tried before, a part of it: what all parents share, and each other clause by the toss of a coin.
    """
    parents = [split_clauses(text) for text in (request.parent, *request.others)]
    seen = {" ".join(split_clauses(text)) for text in (request.parent, *request.others, *request.earlier)}
    union = united(parents)
    common = [clause for clause in union if all(clause in parent for parent in parents)]
    why = f"union of {len(parents)} parents: {len(union)} clauses, {len(common)} of them in each"
    if " ".join(union) not in seen:
        return Reflection(" ".join(union), OPERATOR, why)
    for _ in range(TRIES):
        drawn = _part(union, common, rng)
        if drawn and " ".join(drawn) not in seen:
            return Reflection(" ".join(drawn), OPERATOR, f"{why}; {len(drawn)} drawn, as the union was tried before")
    return Reflection("", OPERATOR, why, problem="no crossover of these parents that was not tried before")


def united(parents: Sequence[Sequence[str]]) -> list[str]:
    """The first parent's clauses, and after them those of the others, but for their first, that it does not have."""
    first, *others = parents
    return list(dict.fromkeys([*first, *(clause for other in others for clause in other[1:])]))


def _part(union: Sequence[str], common: Collection[str], rng: np.random.Generator) -> list[str]:
    tossed = rng.random(len(union)) < 0.5
    return [
        clause
        for place, (clause, kept) in enumerate(zip(union, tossed, strict=True))
        if place == 0 or kept or clause in common
    ]
