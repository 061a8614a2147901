"""Parents: drawn from the frontier in proportion to what they lead; a second one for a merge."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np

from lineage.canonical import digest
from optimize.search_plan import MergePlan


@dataclass(frozen=True, slots=True)
class Parents:
    """Places of a proposal's parents in the pool: one for a mutation, two for a merge."""

    first: int
    second: int | None = None


@dataclass(frozen=True, slots=True)
class Front:
    """Who leads on accept.

    Attributes:
        leaders: under each key (an accept example, or an objective) the places of the candidates that are best there,
            ties included.
        means: mean reward of each candidate on accept, in the order of the pool.
    """

    leaders: Mapping[Hashable, AbstractSet[int]]
    means: Sequence[float]

    def undominated(self) -> Front:
        """The front without the candidates that other candidates make superfluous.

        From the lowest mean upwards, a candidate goes if under each key that it leads another leads that stays. It is
        what gepa's ``remove_dominated_programs`` does, in one pass.
        """
        counts = np.array([len(who) for who in self.leaders.values()], dtype=np.int64)
        found = list(chain.from_iterable(self.leaders.values()))
        leads = np.zeros((len(self.means), len(counts)), dtype=np.bool_)
        leads[found, np.repeat(np.arange(len(counts)), counts)] = True
        kept = set(found)
        for place in sorted(dict.fromkeys(found), key=self.means.__getitem__):
            row = leads[place]
            if (counts[row] > 1).all():
                kept.discard(place)
                counts -= row
        return Front({key: {p for p in who if p in kept} for key, who in self.leaders.items()}, self.means)

    def leads(self) -> Counter[int]:
        """Under how many keys each candidate leads."""
        return Counter(place for who in self.leaders.values() for place in who)


class ParentSampling(Protocol):
    """Says which candidates a proposal is made from."""

    def draw(self, front: Front, *, iteration: int, call: int) -> Parents:
        """The parents of a proposal.

        Args:
            front: who leads, of the pool as it is at the beginning of the iteration.
            iteration: from 1.
            call: number of the proposal in the iteration, from 0.
        """
        ...


class FrontierSampling:
    """The published procedure: parents in proportion to the keys that they lead, once dominated candidates are gone.

    A merge's second parent leads where the first does not, and is drawn in proportion to how often; no two candidates
    are merged twice. All draws derive from seed, iteration and call, and from the merges drawn before.

    Args:
        seed: of all draws.
        merge: when to merge; None makes no merges.
    """

    def __init__(self, seed: int, merge: MergePlan | None = None) -> None:
        self._seed, self._merge = seed, merge
        self._merged: list[frozenset[int]] = []

    def draw(self, front: Front, *, iteration: int, call: int) -> Parents:
        """See :class:`ParentSampling`."""

        def rng(purpose: str) -> random.Random:
            return random.Random(int(digest([self._seed, iteration, call, purpose])[:16], 16))  # noqa: S311 - a search

        kept = front.undominated()
        first = _drawn(kept.leads(), rng("parent"))
        if self._merge is None or len(front.means) < self._merge.from_candidates:
            return Parents(first)
        if len(self._merged) >= self._merge.at_most or rng("merge").random() >= self._merge.chance:
            return Parents(first)
        elsewhere = Counter(place for who in kept.leaders.values() if first not in who for place in who)
        fresh = Counter({p: n for p, n in elsewhere.items() if frozenset((first, p)) not in self._merged})
        if not fresh:
            return Parents(first)
        second = _drawn(fresh, rng("second parent"))
        self._merged.append(frozenset((first, second)))
        return Parents(first, second)


def _drawn(leads: Counter[int], rng: random.Random) -> int:
    """One place, in proportion to its count."""
    return rng.choice([place for place, count in leads.items() for _ in range(count)])
