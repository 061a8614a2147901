"""Small parts for gepa's loop: its data instance, what is scored, and silence."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gepa.strategies.eval_policy import FullEvaluationPolicy

REFLECT: Final = "reflect"
ACCEPT: Final = "accept"
SEED: Final = "seed"
"""Of an instance that stands for a further seed, which has no minibatch."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One example as gepa's data instance; ``split`` tells a minibatch from the accept set."""

    id: str
    split: str


class ScoredOnly(FullEvaluationPolicy):  # type: ignore[misc]  # gepa is not followed by the type checker
    """Tells gepa to score a candidate on the accept examples that have a reward: failures are left out, never zero."""

    def __init__(self) -> None:
        self._expected: deque[frozenset[str]] = deque()

    def expect(self, rewards: Mapping[str, float]) -> None:
        """The next candidate that gepa evaluates has these rewards."""
        self._expected.append(frozenset(rewards))

    def get_seed_eval_batch(self, loader: Any) -> list[Any]:
        """The examples on which the seed is scored."""
        return self._next(loader)

    def get_eval_batch(self, loader: Any, state: Any, target_program_idx: int | None = None) -> list[Any]:
        """The examples on which the next accepted candidate is scored."""
        del state, target_program_idx
        return self._next(loader)

    def _next(self, loader: Any) -> list[Any]:
        wanted = self._expected.popleft()
        keys = loader.all_ids()
        return [key for key, instance in zip(keys, loader.fetch(keys), strict=True) if instance.id in wanted]


class Silent:
    """gepa's log lines hold reflect text and repeat what the ledger has; they go nowhere."""

    def log(self, message: str) -> None:
        """Drop a line."""
