"""Rival engines: dspy.GEPA and MIPROv2 behind the protocol of our own search, for comparing with them.

They are given the same examples, rewards, calls, limits and ledger, and their winner is chosen by the same rule. What
is theirs is how they sample, propose and accept. Held-out data never reach them. Importing dspy takes a second, so an
engine is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final, Protocol

from lineage.errors import PlanError
from lineage.ledger import Ledger
from optimize.engines.departures import departures_of
from optimize.evaluation import Evaluation, Evaluator
from optimize.search import SearchResult, SearchSpace

ENGINES: Final[Mapping[str, str]] = {
    "gepa": "our own search on gepa's engine",
    "dspy-gepa": "dspy.GEPA",
    "mipro": "MIPROv2, instructions only",
}
"""Engines by their names in a plan, each with what it is called."""
_RIVALS: Final[Mapping[str, str]] = {
    "dspy-gepa": "optimize.engines.dspy_gepa",
    "mipro": "optimize.engines.mipro",
}


class Engine(Protocol):
    """A search: what it may see and how to judge in, the pool out."""

    def __call__(
        self, space: SearchSpace, *, evaluator: Evaluator, ledger: Ledger, seed_evaluation: Evaluation
    ) -> SearchResult:
        """Search."""
        ...


def rival(name: str) -> Engine:
    """The engine of a name that is not our own.

    Raises:
        PlanError: there is none.
    """
    if name not in _RIVALS:
        raise PlanError(f"search.engine must be one of {', '.join(ENGINES)}, got {name!r}")
    engine: Engine = import_module(_RIVALS[name]).search
    return engine


__all__ = ["ENGINES", "Engine", "departures_of", "rival"]
