"""Which examples a campaign uses, and the grouped, stratified partition of their groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lineage.canonical import digest
from lineage.errors import SplitError
from splits.corpus import Corpus, Example

SPLITS: Final = ("reflect", "accept", "heldout")
"""Names of the splits, in the order in which a campaign may read them."""

_FLAW_ORDER: Final = ("complete", "partial-weak", "partial-strong", "omit", "add", "change")


@dataclass(frozen=True, slots=True)
class Selection:
    """A deterministic part of a corpus: whole groups, and how many flawed examples of each.

    ``groups`` is the number of groups, drawn in equal shares from the strata, or None for all. With
    ``flawed_per_group`` each group keeps its clean examples, one complete omission, and then other flaws in rotation
    over the groups, so that every kind occurs; None keeps all.
    """

    groups: int | None = None
    flawed_per_group: int | None = None
    seed: int = 0

    def row(self) -> dict[str, Any]:
        """The JSON form, as in the split lock."""
        return {"groups": self.groups, "flawed_per_group": self.flawed_per_group, "seed": self.seed}

    def apply(self, corpus: Corpus) -> dict[str, tuple[Example, ...]]:
        """The selected examples of each selected group, groups in order.

        Raises:
            SplitError: more groups are asked for than the corpus has.
        """
        names = sorted(corpus.groups)
        if self.groups is not None:
            if self.groups > len(names):
                raise SplitError(f"selection asks for {self.groups} groups, the corpus has {len(names)}; ask for fewer")
            names = sorted(_spread(names, _strata(corpus), [self.groups], self.seed, "selection")[0])
        return {name: self._thin(corpus.groups[name], rank) for rank, name in enumerate(names)}

    def _thin(self, examples: Sequence[Example], rank: int) -> tuple[Example, ...]:
        if self.flawed_per_group is None:
            return tuple(examples)
        flawed = sorted(
            (example for example in examples if example.twin),
            key=lambda example: (_FLAW_ORDER.index(example.flaw), example.id),
        )
        first, others = flawed[:1], flawed[1:]
        turn = rank % len(others) if others else 0
        kept = (first + others[turn:] + others[:turn])[: self.flawed_per_group]
        return tuple(example for example in examples if example.twin is None or example in kept)


def partition_groups(
    groups: Sequence[str], strata: Mapping[str, str], sizes: Mapping[str, int], *, seed: int
) -> dict[str, tuple[str, ...]]:
    """Draw disjoint splits of whole groups, balanced over strata, the same for any order of ``groups``.

    Args:
        groups: names of the groups.
        strata: stratum of each group.
        sizes: number of groups of each split; they must add up to all groups.
        seed: equal seeds give equal splits.

    Raises:
        SplitError: the sizes do not add up, or a split would be empty.
    """
    if set(sizes) != set(SPLITS) or any(size < 1 for size in sizes.values()):
        raise SplitError(f"sizes must give at least one group to each of {', '.join(SPLITS)}, got {dict(sizes)}")
    if sum(sizes.values()) != len(groups):
        raise SplitError(
            f"sizes {dict(sizes)} need {sum(sizes.values())} groups, there are {len(groups)}; "
            "change the sizes or the selection so that they agree"
        )
    drawn = _spread(sorted(groups), strata, [sizes[name] for name in SPLITS], seed, "partition")
    return {name: tuple(sorted(chosen)) for name, chosen in zip(SPLITS, drawn, strict=True)}


def _spread(
    groups: Sequence[str], strata: Mapping[str, str], sizes: Sequence[int], seed: int, purpose: str
) -> list[list[str]]:
    """Draw parts of given sizes so that each stratum's share in each part is within one group of proportional.

    Strata are dealt one after another onto a line on which every group of a stratum takes evenly spaced places;
    cutting the line at the parts' relative sizes, place by place, keeps the shares.
    """
    rng = np.random.default_rng(int(digest([purpose, seed])[:16], 16))
    members: dict[str, list[str]] = {}
    for group in groups:
        members.setdefault(strata[group], []).append(group)
    shuffled = {name: [members[name][i] for i in rng.permutation(len(members[name]))] for name in sorted(members)}
    total = len(groups)
    counts = _round_shares({name: len(found) for name, found in shuffled.items()}, sizes, total)
    parts: list[list[str]] = [[] for _ in sizes]
    for name, found in shuffled.items():
        at = 0
        for part, count in zip(parts, counts[name], strict=True):
            part += found[at : at + count]
            at += count
    return parts


def _round_shares(stratum_sizes: Mapping[str, int], sizes: Sequence[int], total: int) -> dict[str, list[int]]:
    """Whole numbers near ``stratum size · part size / total`` whose sums over strata are exactly the part sizes.

    Controlled rounding: start from the floors, then give the missing places of each part to the strata with the largest
    remainders that still have groups to give, never more than one above the floor where that can be done.
    """
    counts = {name: [size * part // total for part in sizes] for name, size in stratum_sizes.items()}
    rest = {name: stratum_sizes[name] - sum(counts[name]) for name in counts}
    spare = total - sum(sizes)
    for index, part in enumerate(sizes):
        missing = part - sum(counts[name][index] for name in counts)
        order = sorted(
            counts, key=lambda name: (-(stratum_sizes[name] * part % total), -rest[name], name)
        )
        order = [name for name in order if rest[name] > 0] or order
        step = 0
        while missing > 0:
            name = order[step % len(order)]
            if rest[name] > 0:
                counts[name][index] += 1
                rest[name] -= 1
                missing -= 1
            step += 1
            if step > 4 * (len(order) + total):
                raise SplitError(f"could not balance strata {dict(stratum_sizes)} over sizes {list(sizes)} ({spare} spare)")
    return counts


def _strata(corpus: Corpus) -> dict[str, str]:
    return {group: examples[0].stratum for group, examples in corpus.groups.items()}


def strata_of(selected: Mapping[str, Sequence[Example]]) -> dict[str, str]:
    """Stratum of each selected group."""
    return {group: examples[0].stratum for group, examples in selected.items()}


def count_by_field(examples: Sequence[Example]) -> dict[str, dict[str, int]]:
    """Counts of examples by kind, trace, severity and stratum, as the split lock keeps them."""
    return {
        name: dict(sorted(Counter(str(getattr(example, name)) for example in examples).items()))
        for name in ("kind", "trace", "severity", "stratum")
    }
