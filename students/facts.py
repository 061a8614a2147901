"""Which facts of a group a student checks."""

from __future__ import annotations

from collections.abc import Sequence

from lineage.errors import PlanError
from splits.corpus import Fact


def checked_facts(facts: Sequence[Fact], most: int | None) -> tuple[Fact, ...]:
    """Core facts first, then in file order, ``most`` at the most: the choice sees the fact list and no document.

    Raises:
        PlanError: there are none.
    """
    if not facts:
        raise PlanError("a student that checks facts needs facts for every group: give the corpus a facts file")
    return tuple(sorted(facts, key=lambda fact: not fact.core)[:most])
