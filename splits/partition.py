"""Which examples a campaign uses, and the grouped, stratified partition of their groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lineage.canonical import digest
from lineage.errors import SplitError
from splits.corpus import Corpus, Example

SPLITS: Final = ("reflect", "accept", "heldout")
"""Names of the splits, in the order in which a campaign may read them."""

_FLAW_ORDER: Final = ("complete", "partial-weak", "partial-strong", "omit", "add", "change")


@dataclass(frozen=True, slots=True)
class Selection:
    """A deterministic part of a corpus: whole groups, and how many flawed examples of each.

    ``groups`` is the number of groups, drawn from the strata in proportion, or None for all. With
    ``flawed_per_group`` each group keeps its clean examples, one complete omission, and then other flaws in rotation
    over the groups, so that every kind occurs; None keeps all.

    Raises:
        SplitError: a number is not a whole number of at least 1.
    """

    groups: int | None = None
    flawed_per_group: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("groups", self.groups), ("flawed_per_group", self.flawed_per_group)):
            if value is not None and (type(value) is not int or value < 1):
                raise SplitError(f"selection: {name} must be a whole number of at least 1, or null, got {value!r}")

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
    """Draw disjoint parts of given sizes in which each stratum has its proportional number, rounded up or down.

    The draw orders groups by a hash and counts in whole numbers, so that no version of any library can change it.
    """
    members: dict[str, list[str]] = {}
    for group in groups:
        members.setdefault(strata[group], []).append(group)
    names = sorted(members)
    counts = _shares([len(members[name]) for name in names], [*sizes, len(groups) - sum(sizes)])
    parts: list[list[str]] = [[] for _ in sizes]
    for name, row in zip(names, counts, strict=True):
        shuffled = sorted(members[name], key=lambda group: digest([purpose, seed, group]))
        at = 0
        for part, count in zip(parts, row, strict=False):
            part += shuffled[at : at + count]
            at += count
    return parts


def _shares(rows: Sequence[int], columns: Sequence[int]) -> list[list[int]]:
    """Controlled rounding of ``row * column / total``: each cell is rounded up or down, and all sums stay exact.

    Cells start rounded down. Each row then gives its missing units to cells with a remainder, the largest first; where
    a column is full already, units given before make room along an augmenting path. As the unrounded table has the
    same margins, there always is one (Cox 1987 on controlled rounding).
    """
    total = sum(rows)
    counts = [[row * column // total for column in columns] for row in rows]
    remainder = [[row * column % total for column in columns] for row in rows]
    open_units = [column - sum(count[index] for count in counts) for index, column in enumerate(columns)]
    raised: list[set[int]] = [set() for _ in rows]

    def give(row: int, tried: set[int]) -> bool:
        """Give one unit of a row to a column, moving other rows' units where that makes room."""
        order = sorted(range(len(columns)), key=lambda column: (-remainder[row][column], column))
        for column in order:
            if not remainder[row][column] or column in raised[row] or column in tried:
                continue
            tried.add(column)
            if open_units[column]:
                open_units[column] -= 1
                raised[row].add(column)
                return True
            for other in (index for index in range(len(rows)) if column in raised[index]):
                raised[other].remove(column)
                if give(other, tried):
                    raised[row].add(column)
                    return True
                raised[other].add(column)
        return False

    for row, size in enumerate(rows):
        for _ in range(size - sum(counts[row])):
            if not give(row, set()):
                raise AssertionError(f"no controlled rounding of {list(rows)} over {list(columns)}")
    return [[count + (column in raised[row]) for column, count in enumerate(counts[row])] for row in range(len(rows))]


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
