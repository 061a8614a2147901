"""Minibatches: whole groups, so that every flawed example has its twin, dealt so that each group has its turn."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from splits.corpus import Corpus, Example


class Minibatches:
    """The minibatches of one search, by their number.

    Args:
        reflect: the examples; groups without a pair are never drawn.
        size: groups a minibatch; more than there are means all.
        seed: of all draws.
        rare: whether every minibatch is to hold one of the rarer traces (see :class:`RareDeal`).
    """

    def __init__(self, reflect: Corpus, *, size: int, seed: int, rare: bool) -> None:
        self._reflect, self._size, self._seed = reflect, size, seed
        self.groups = [group for group, found in reflect.groups.items() if any(example.twin for example in found)]
        self._deal = None
        if rare and self.groups:
            marked = rarer_groups({group: reflect.groups[group] for group in self.groups}, size)
            self._deal = RareDeal(self.groups, marked, size, seed=seed)
        self._place = {example.id: place for place, example in enumerate(reflect.examples)}

    def examples(self, number: int) -> tuple[Example, ...]:
        """The minibatch of a number, from 1, in the order of the reflect examples; equal numbers, equal examples."""
        if self._deal is not None:
            groups = self._deal.minibatch(number)
        else:
            groups = draw_groups(self.groups, self._size, seed=self._seed, number=number)
        found = [example for group in groups for example in self._reflect.groups[group]]
        return tuple(sorted(found, key=lambda example: self._place[example.id]))


def draw_groups(groups: Sequence[str], size: int, *, seed: int, number: int) -> list[str]:
    """The groups of one minibatch, in shuffled epochs: each group is seen once before any is seen again.

    Args:
        groups: every group, in a fixed order.
        size: groups a minibatch; more than there are means all.
        seed: of the shuffles.
        number: of the minibatch, from 1; equal arguments draw equal groups.
    """
    size = min(size, len(groups))
    place = (number - 1) * size
    drawn: list[str] = []
    while len(drawn) < size:
        epoch, index = divmod(place, len(groups))
        order = np.random.default_rng([seed, epoch]).permutation(len(groups))
        group = groups[int(order[index])]
        place += 1
        if group not in drawn:
            drawn.append(group)
    return sorted(drawn)


def rarer_groups(groups: Mapping[str, Sequence[Example]], size: int) -> frozenset[str]:
    """Groups with the rarest trace of an omission, and with the next rarest while they are too few.

    Enough are as many as the minibatches that an epoch has a part in, so that there is one for each. Traces that are
    not known do not count.

    Args:
        groups: the examples of each group.
        size: groups a minibatch.
    """
    carriers: dict[str, set[str]] = {}
    for group, examples in groups.items():
        for example in examples:
            if example.trace is not None:
                carriers.setdefault(example.trace, set()).add(group)
    wanted = math.ceil(len(groups) / min(size, len(groups))) + 1
    found: set[str] = set()
    for trace in sorted(carriers, key=lambda name: (len(carriers[name]), name)):
        found |= carriers[trace]
        if len(found) >= wanted:
            break
    return frozenset(found)


class RareDeal:
    """Minibatches that hold a marked group each, as far as there are enough; no group is seen twice more than another.

    A minibatch takes unseen groups alone until all are seen. Of the marked ones it takes at least one, and leaves one
    for each minibatch that is still to come in the epoch; where they are too few for that, chance says which
    minibatches have one.

    Args:
        groups: every group, in a fixed order.
        marked: those that are to be spread.
        size: groups a minibatch; more than there are means all.
        seed: of all draws.
    """

    def __init__(self, groups: Sequence[str], marked: Collection[str], size: int, *, seed: int) -> None:
        self._groups, self._marked = tuple(groups), frozenset(marked)
        self._size, self._seed = min(size, len(groups)), seed
        self._unseen: list[str] = []
        self._dealt: list[list[str]] = []

    def minibatch(self, number: int) -> list[str]:
        """The groups of one minibatch, from 1."""
        while len(self._dealt) < number:
            self._dealt.append(self._next(np.random.default_rng([self._seed, len(self._dealt)])))
        return self._dealt[number - 1]

    def _next(self, rng: np.random.Generator) -> list[str]:
        drawn: list[str] = []
        while len(drawn) < self._size:
            self._unseen = self._unseen or list(self._groups)
            taken = self._part(self._size - len(drawn), drawn, rng)
            drawn += taken
            self._unseen = [group for group in self._unseen if group not in taken]
        return sorted(drawn)

    def _part(self, room: int, drawn: Sequence[str], rng: np.random.Generator) -> list[str]:
        """What a minibatch takes of the present epoch: all that is left of it, or as much as there is room for."""
        open_groups = [group for group in self._unseen if group not in drawn]
        if len(open_groups) <= room:
            return open_groups
        marked = [group for group in open_groups if group in self._marked]
        others = [group for group in open_groups if group not in self._marked]
        left = sum(group in self._marked for group in self._unseen)
        still = 1 + math.ceil((len(self._unseen) - room) / self._size)
        has_one = any(group in self._marked for group in drawn)
        wanted = 0 if has_one or rng.random() * still >= left else 1
        most = min(room, len(marked), max(left - (still - 1), wanted))
        count = int(rng.hypergeometric(len(marked), len(others), room))
        count = min(max(count, wanted, room - len(others)), max(most, room - len(others)))
        return [
            group
            for found, share in ((marked, count), (others, room - count))
            for group in (found[int(place)] for place in rng.permutation(len(found))[:share])
        ]
