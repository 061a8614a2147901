"""Small parts for gepa's loop: its data instance, what is scored, and silence."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gepa.strategies.eval_policy import FullEvaluationPolicy


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
        return [key for key in loader.all_ids() if loader.fetch([key])[0].id in wanted]


class Silent:
    """gepa's log lines hold reflect text and repeat what the ledger has; they go nowhere."""

    def log(self, message: str) -> None:
        """Drop a line."""


def draw_groups(groups: Sequence[str], size: int, *, seed: int, iteration: int) -> list[str]:
    """The groups of one minibatch, in shuffled epochs: each group is seen once before any is seen again.

    Args:
        groups: every group, in a fixed order.
        size: groups a minibatch; more than there are means all.
        seed: of the shuffles.
        iteration: number of the minibatch, from 1; equal arguments draw equal groups.
    """
    size = min(size, len(groups))
    place = (iteration - 1) * size
    drawn: list[str] = []
    while len(drawn) < size:
        epoch, index = divmod(place, len(groups))
        order = np.random.default_rng([seed, epoch]).permutation(len(groups))
        group = groups[int(order[index])]
        place += 1
        if group not in drawn:
            drawn.append(group)
    return sorted(drawn)
