"""The sizes of a locked split: pairs and clean documents by group. Structure alone is read, never a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lineage.errors import InputError
from optimize.gate.arms import CleanCounts
from optimize.stats.results import check_count
from splits.corpus import Corpus
from splits.lock import SplitLock, split_structure

Sizes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SplitSizes:
    """What one split holds.

    Attributes:
        omissions: omission pairs of each group that has any, largest first.
        commissions: commission pairs of each group that has any, largest first.
        clean: clean documents of each group that has any, largest first.
        counts: how many of the clean documents are verified, and how many candidates.
    """

    omissions: Sizes
    commissions: Sizes
    clean: Sizes
    counts: CleanCounts

    @property
    def words(self) -> str:
        """In one line."""
        sizes = self.omissions
        if not sizes:
            each = ""
        else:
            each = f" ({sizes[-1]} to {sizes[0]} a group)" if sizes[-1] < sizes[0] else f" ({sizes[0]} a group)"
        return (
            f"{len(sizes)} groups with {sum(sizes)} omission pairs{each}, {sum(self.commissions)} commission pairs, "
            f"{sum(self.clean)} clean documents"
        )


def split_sizes(lock: SplitLock, corpus: Corpus) -> Mapping[str, SplitSizes]:
    """Sizes of every split by name, held-out too: it reads no text, and is not an opening."""
    rows = split_structure(lock, corpus)
    return {name: _sizes([row for row in rows if row["split"] == name]) for name in lock.splits}


def resized(sizes: Sequence[int], n_groups: int) -> Sizes:
    """Sizes of another number of groups, spread as these are.

    Raises:
        InputError: there are no groups to take the sizes from, or fewer than one is asked for.
    """
    check_count("n_groups", n_groups, at_least=1)
    if not sizes:
        raise InputError("there is no group with a pair whose size could be taken")
    places = np.floor((np.arange(n_groups) + 0.5) * len(sizes) / n_groups).astype(int)
    return tuple(sorted((int(size) for size in np.sort(sizes)[places]), reverse=True))


def _sizes(rows: Sequence[Mapping[str, Any]]) -> SplitSizes:
    def of(label: str) -> Sizes:
        paired = (row["group"] for row in rows if row["label"] == label and (label == "clean" or row["twin"]))
        return tuple(sorted(Counter(paired).values(), reverse=True))

    clean = [row for row in rows if row["label"] == "clean"]
    candidates = sum(row.get("meta", {}).get("clean") == "candidate" for row in clean)
    return SplitSizes(of("omission"), of("commission"), of("clean"), CleanCounts(len(clean) - candidates, candidates))
