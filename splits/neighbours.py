"""Groups of different splits whose texts are near-duplicates, by name and similarity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from splits.corpus import Corpus
from splits.lock import SplitLock, _examples
from splits.near_duplicates import THRESHOLD, corpus_texts, near_duplicates
from splits.partition import SPLITS


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two groups of different splits, and the highest similarity of a text of one to a text of the other."""

    groups: tuple[str, str]
    splits: tuple[str, str]
    similarity: float

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"groups": list(self.groups), "splits": list(self.splits), "similarity": round(self.similarity, 3)}


def neighbours(corpus: Corpus, lock: SplitLock, *, threshold: float = THRESHOLD) -> tuple[Neighbours, ...]:
    """Near-duplicate groups that a split separates, in order of their names; held-out ones too, and no text of any.

    What is measured on one of such groups is partly measured on the other: a split that separates them leaks.
    """
    split_of = {group: split for split in SPLITS for group in lock.splits[split]}
    chosen = corpus.part(example for split in SPLITS for example in _examples(lock, corpus, split))
    texts, groups = corpus_texts(chosen)
    found: dict[tuple[str, str], float] = {}
    splits: Mapping[str, str] = {key: split_of[group] for key, group in groups.items()}
    for pair in near_duplicates(texts, threshold=threshold, groups=splits):
        a, b = sorted((groups[pair.a], groups[pair.b]))
        found[a, b] = max(found.get((a, b), 0.0), pair.similarity)
    return tuple(
        Neighbours((a, b), (split_of[a], split_of[b]), similarity) for (a, b), similarity in sorted(found.items())
    )
