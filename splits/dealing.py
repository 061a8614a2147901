"""Groups dealt to splits that have a fixed number of places for each stratum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from lineage.canonical import digest

Labels = Mapping[str, frozenset[str]]
Places = Mapping[str, Sequence[int]]

UNLABELLED: Final = ""
"""The label of groups that hold none."""


def deal_in_turn(
    groups: Sequence[str], strata: Mapping[str, str], places: Places, *, seed: int, purpose: str
) -> list[list[str]]:
    """Each stratum in the order of a hash, cut into runs that fill its places."""
    members: dict[str, list[str]] = {}
    for group in groups:
        members.setdefault(strata[group], []).append(group)
    parts: list[list[str]] = [[] for _ in next(iter(places.values()), ())]
    for name in sorted(members):
        shuffled = sorted(members[name], key=lambda group: digest([purpose, seed, group]))
        at = 0
        for part, count in zip(parts, places[name], strict=True):
            part += shuffled[at : at + count]
            at += count
    return parts


def deal_by_labels(
    groups: Sequence[str],
    strata: Mapping[str, str],
    places: Places,
    labels: Labels,
    parts: Sequence[Sequence[str]],
    sizes: Sequence[int],
    *,
    seed: int,
    purpose: str,
) -> list[list[str]]:
    """Iterative stratification: the label that fewest of the remaining groups hold is dealt out first.

    Each of its holders, in the order of a hash, goes to the split that lacks most of that label, among those where its
    stratum has a place. Once none lacks a whole group, the hash draws one in proportion to what each lacks, of those
    that have none of it if there are any, so that a rare label does not always end in the largest split. Groups that
    hold no label fill the places that remain.

    Args:
        groups: the groups to deal.
        strata: stratum of each.
        places: how many groups each stratum is to get in each split.
        labels: labels of each group; groups that are missing hold none.
        parts: groups that are in the splits already.
        sizes: groups of each split, in the end.
        seed: equal seeds deal alike.
        purpose: part of the hash.

    References:
        Sechidis, Tsoumakas and Vlahavas (2011), On the stratification of multi-label data.
    """
    n_groups = sum(sizes)
    order = {group: digest([purpose, seed, group]) for group in groups}
    room = {name: list(row) for name, row in places.items()}
    waiting: dict[str, set[str]] = {}
    for group in groups:
        for label in labels.get(group, ()):
            waiting.setdefault(label, set()).add(group)
    placed = [Counter(label for group in part for label in labels.get(group, ())) for part in parts]
    totals = sum(placed, Counter({label: len(found) for label, found in waiting.items()}))
    dealt: list[list[str]] = [[] for _ in sizes]
    undealt = set(groups)

    def deal(group: str, label: str) -> None:
        mine = room[strata[group]]
        # How many holders of the label a split lacks of its proportional number, times the number of all groups.
        wanted = [totals[label] * size for size in sizes]
        lacks = [share - n_groups * counts[label] for share, counts in zip(wanted, placed, strict=True)]
        open_splits = [at for at, left in enumerate(mine) if left]
        at = max(open_splits, key=lambda at: (lacks[at], mine[at], -at))
        if 0 < lacks[at] < n_groups:
            some = [at for at in open_splits if lacks[at] > 0]
            at = _drawn([at for at in some if not placed[at][label]] or some, lacks, order[group])
        mine[at] -= 1
        dealt[at].append(group)
        undealt.discard(group)
        placed[at].update(labels.get(group, ()))
        for held in labels.get(group, ()):
            waiting[held].discard(group)

    while rest := {label: found for label, found in waiting.items() if found}:
        label = min(rest, key=lambda label: (len(rest[label]), label))
        for group in sorted(rest[label], key=lambda group: order[group]):
            deal(group, label)
    for group in sorted(undealt, key=lambda group: order[group]):
        deal(group, UNLABELLED)
    return dealt


def _drawn(places: Sequence[int], weights: Sequence[int], by: str) -> int:
    """One of some places in proportion to its weight, drawn by the last digits of a hash."""
    draw = int(by[-16:], 16) % sum(weights[at] for at in places)
    for at in places:
        draw -= weights[at]
        if draw < 0:
            return at
    raise AssertionError("the draw is less than the sum of the weights")
