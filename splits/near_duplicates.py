"""Near-duplicate texts: MinHash finds the candidates, their exact Jaccard similarity decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from lineage.errors import InputError
from splits.corpus import Corpus
from splits.minhash import Banding, Places, candidates, estimated, signatures
from splits.shingles import Shingler, has_words

SHINGLE_WORDS: Final = 3
"""Words of a shingle."""
THRESHOLD: Final = 0.4
"""Jaccard similarity from which two texts are near-duplicates.

Unrelated clinical notes and conversations stay below 0.3; a note to which a whole other one was appended reaches 0.46.
"""
LEAST_WORDS: Final = 8
"""Fewest words of a document that ties groups together; a shorter one, such as "None.", is given to many sources."""
_SLACK: Final = 4.0  # standard deviations by which an estimate may fall short before a pair is dropped unmeasured


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Two keys, ``a`` before ``b`` in their order, and the exact Jaccard similarity of their texts' shingles."""

    a: str
    b: str
    similarity: float


def near_duplicates(
    texts: Mapping[str, str], *, threshold: float = THRESHOLD, groups: Mapping[str, str] | None = None
) -> tuple[NearDuplicate, ...]:
    """Pairs of near-duplicate texts, in order of their keys.

    Every pair given has the stated similarity. A pair exactly at the threshold is missed once in a hundred times, one
    that is clearly more similar practically never. A text of fewer words than a shingle is similar to one of the same
    words alone; a text without a word is similar to nothing. In scripts that put no space between words a shingle is
    about three clauses long, and only long common passages show.

    Args:
        texts: texts by key.
        threshold: least similarity, in (0, 1].
        groups: the group of each key; pairs within a group are left out.

    Raises:
        InputError: the threshold is outside (0, 1].
    """
    search = _Search(texts, threshold, groups)
    for left, right in candidates(search.signatures, search.banding, lambda places: search.group[places]):
        search.measure(left, right)
    return search.found()


def near_duplicate_links(
    texts: Mapping[str, str], *, groups: Mapping[str, str], threshold: float = THRESHOLD
) -> tuple[NearDuplicate, ...]:
    """Pairs of near-duplicate texts that hold groups together: one fewer than groups in each set of connected ones.

    However many texts of two groups are near-duplicates, one pair stands for them, and none where the two are connected
    by way of others.

    Args:
        texts: texts by key.
        groups: the group of each key.
        threshold: as for :func:`near_duplicates`.

    Raises:
        InputError: the threshold is outside (0, 1].
    """
    search = _Search(texts, threshold, groups)
    label = np.arange(search.group.max(initial=-1) + 1)
    kept = []
    for left, right in candidates(search.signatures, search.banding, lambda places: label[search.group[places]]):
        for a, b in search.measure(left, right):
            mine, other = label[search.group[a]], label[search.group[b]]
            if mine != other:
                label[label == max(mine, other)] = min(mine, other)
                kept.append((a, b))
    return search.found(kept)


def near_duplicate_groups(corpus: Corpus, *, threshold: float = THRESHOLD) -> tuple[frozenset[str], ...]:
    """Sets of groups that belong together, as a source or a document of one is a near-duplicate of one of another.

    The sets are disjoint, have two groups or more, and come in order of their first group. Two groups of a set may be
    connected by way of a third only. Near-duplicates within a group, such as twins, do not count, nor do documents of
    fewer than ``LEAST_WORDS`` words, and the order of the rows does not matter.

    Raises:
        InputError: the threshold is outside (0, 1].
    """
    texts, groups = corpus_texts(corpus)
    sets: dict[str, frozenset[str]] = {}
    for link in near_duplicate_links(texts, groups=groups, threshold=threshold):
        a, b = groups[link.a], groups[link.b]
        joined = sets.get(a, frozenset([a])) | sets.get(b, frozenset([b]))
        sets.update(dict.fromkeys(joined, joined))
    return tuple(sorted(set(sets.values()), key=min))


def corpus_texts(corpus: Corpus) -> tuple[dict[str, str], dict[str, str]]:
    """Sources and documents that may tie groups together, each text of a group once, and the group of each.

    A key is the field and the first example that has the text, such as ``source g1.clean``.
    """
    texts: dict[str, str] = {}
    groups: dict[str, str] = {}
    for group, examples in corpus.groups.items():
        first: dict[str, str] = {}
        for example in examples:
            if has_words(example.document, LEAST_WORDS):
                first.setdefault(example.document, f"document {example.id}")
            first.setdefault(example.source, f"source {example.id}")
        texts.update((key, text) for text, key in first.items())
        groups.update(dict.fromkeys(first.values(), group))
    return texts, groups


class _Search:
    """Texts in order of their keys with their shingles and signatures, and the pairs measured so far."""

    def __init__(self, texts: Mapping[str, str], threshold: float, groups: Mapping[str, str] | None) -> None:
        if not 0 < threshold <= 1:
            raise InputError(f"threshold is a Jaccard similarity in (0, 1], got {threshold!r}; {THRESHOLD:g} is usual")
        shingler = Shingler(SHINGLE_WORDS)
        codes = {key: found for key in sorted(texts) if len(found := shingler.shingles(texts[key]))}
        self._keys, self._codes, self._threshold = list(codes), list(codes.values()), threshold
        names = self._keys if groups is None else [groups[key] for key in self._keys]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        self.group: Places = np.array([numbers[name] for name in names], dtype=np.int64)
        self.banding = Banding.at(threshold)
        self.signatures = signatures(self._codes, n_hashes=self.banding.n_hashes)
        spread = (threshold * (1 - threshold) / self.banding.n_hashes) ** 0.5
        self._least = threshold - _SLACK * spread
        self._similarity: dict[tuple[int, int], float] = {}

    def measure(self, left: Places, right: Places) -> list[tuple[int, int]]:
        """The pairs, smaller place first, that are near-duplicates by their exact similarity."""
        likely = estimated(self.signatures, left, right) >= self._least
        pairs = {(min(a, b), max(a, b)) for a, b in zip(left[likely].tolist(), right[likely].tolist(), strict=True)}
        for a, b in pairs - self._similarity.keys():
            mine, other = self._codes[a], self._codes[b]
            shared = len(np.intersect1d(mine, other, assume_unique=True))
            self._similarity[a, b] = shared / (len(mine) + len(other) - shared)
        return sorted(pair for pair in pairs if self._similarity[pair] >= self._threshold)

    def found(self, pairs: list[tuple[int, int]] | None = None) -> tuple[NearDuplicate, ...]:
        """Near-duplicates with their keys: those of ``pairs``, or all that were measured."""
        near = sorted(self._similarity if pairs is None else pairs)
        return tuple(
            NearDuplicate(self._keys[a], self._keys[b], self._similarity[a, b])
            for a, b in near
            if self._similarity[a, b] >= self._threshold
        )
