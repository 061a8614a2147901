"""What a partition is balanced over: the stratum of each group, and the kinds and rare traces that it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from splits.corpus import Corpus, Example
from splits.lock import SplitLock, _selected
from splits.partition import SPLITS, Features

STRATIFY: Final = ("stratum", "kinds", "rare-traces")
"""What splits can be balanced over."""


Name = TypeVar("Name", bound=str | None)


@dataclass(frozen=True, slots=True)
class Balance:
    """How many groups of each split have a feature, beside their proportional number.

    ``off`` is the largest distance from the proportional number, in groups; below 1 no split could be nearer by a whole
    group.
    """

    feature: str
    total: int
    counts: Mapping[str, int]
    shares: Mapping[str, float]

    @property
    def off(self) -> float:
        """The largest distance from the proportional number."""
        return max(abs(self.counts[name] - self.shares[name]) for name in SPLITS)


def features_of(selected: Mapping[str, Sequence[Example]], stratify: Sequence[str]) -> Features:
    """Strata and labels of groups.

    With ``stratum`` each group is in the stratum of its examples, else all are in one. With ``kinds`` a group is
    labelled by every kind of example that it holds, and with ``rare-traces`` by every trace of its omissions that at
    most half of the groups hold. A kind that more than half of the groups hold labels those without it instead, which
    balances it just as well, and one that all of them hold labels none.
    """
    strata = {group: examples[0].stratum if "stratum" in stratify else "" for group, examples in selected.items()}
    labels: dict[str, set[str]] = {}
    if "kinds" in stratify:
        kinds = _holders({group: {example.kind for example in examples} for group, examples in selected.items()})
        for kind, holders in kinds.items():
            common = 2 * len(holders) > len(selected)
            for group in sorted(set(selected) - holders if common else holders):
                labels.setdefault(group, set()).add(f"no {kind}" if common else kind)
    if "rare-traces" in stratify:
        traces = _holders({group: {example.trace for example in found} for group, found in selected.items()})
        for trace, holders in traces.items():
            if trace is not None and 2 * len(holders) <= len(selected):
                for group in holders:
                    labels.setdefault(group, set()).add(trace)
    return Features(strata, {group: frozenset(found) for group, found in labels.items()})


def _holders(values: Mapping[str, set[Name]]) -> dict[Name, set[str]]:
    holders: dict[Name, set[str]] = {}
    for group, found in values.items():
        for value in found:
            holders.setdefault(value, set()).add(group)
    return holders


def lock_balance(lock: SplitLock, corpus: Corpus) -> tuple[Balance, ...]:
    """How well the splits of a lock are balanced over what they were to be balanced over."""
    return balance(lock.splits, features_of(_selected(lock, corpus), lock.stratify))


def balance(splits: Mapping[str, Sequence[str]], features: Features) -> tuple[Balance, ...]:
    """How well a partition is balanced over each stratum and each label, strata first."""
    sizes = {name: len(splits[name]) for name in SPLITS}
    found = {
        name: Counter(
            key
            for group in splits[name]
            for key in ((0, features.strata[group]), *((1, label) for label in features.labels.get(group, ())))
        )
        for name in SPLITS
    }
    totals = sum(found.values(), Counter())
    return tuple(
        Balance(
            f"{('stratum', 'holds')[key[0]]} {key[1]}",
            total,
            {name: found[name][key] for name in SPLITS},
            {name: total * sizes[name] / sum(sizes.values()) for name in SPLITS},
        )
        for key, total in sorted(totals.items())
    )
