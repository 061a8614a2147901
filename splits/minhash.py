"""MinHash signatures of many texts at once, and the pairs of them that locality-sensitive hashing brings together.

The signatures are computed in arrays over all texts: object by object, as a library does it, 110,000 texts take six
times as long and four times the memory. Everything is counted in whole numbers from fixed hashes, so that equal texts
come together everywhere and in any order, and a committed partition may rest on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from splits.shingles import Codes

RECALL: Final = 0.99
"""Probability with which a pair at exactly the threshold comes together; it rises steeply above it."""

_MOST_HASHES: Final = 240
_CHUNK: Final = 1 << 18

Places = NDArray[np.int64]
Signatures = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Banding:
    """How a signature is cut: texts that agree in all ``rows`` of one of ``bands`` come together."""

    bands: int
    rows: int

    @classmethod
    def at(cls, threshold: float) -> Banding:
        """The longest rows, so the fewest pairs, that bring a pair at the threshold together as often as ``RECALL``."""
        tried = (cls(_bands(threshold, rows), rows) for rows in range(1, 9))
        return max((found for found in tried if found.n_hashes <= _MOST_HASHES), key=lambda found: found.rows)

    @property
    def n_hashes(self) -> int:
        """Number of hash functions of a signature."""
        return self.bands * self.rows


def _bands(threshold: float, rows: int) -> int:
    # Leskovec, Rajaraman and Ullman (2020), sec. 3.4: a pair comes together with probability 1 - (1 - s^r)^b.
    agree = threshold**rows
    return 1 if agree == 1 else math.ceil(math.log(1 - RECALL) / math.log1p(-agree))


def signatures(texts: Sequence[Codes], *, n_hashes: int) -> Signatures:
    """The least value of each of some hash functions over each text's shingles.

    The share of hash functions on which two signatures agree estimates the Jaccard similarity ``s`` of the two sets,
    with a standard deviation of ``sqrt(s * (1 - s) / n_hashes)``.

    Args:
        texts: codes of each text's shingles, none of them empty.
        n_hashes: number of hash functions.

    Returns:
        Shape (n_texts, n_hashes).

    References:
        Broder (1997), On the resemblance and containment of documents.
    """
    found = np.empty((n_hashes, len(texts)), dtype=np.uint32)
    draws = [blake2b(f"hash {number}".encode(), digest_size=16).digest() for number in range(n_hashes)]
    factors = [np.frombuffer(draw, dtype="<u8").astype(np.uint64) for draw in draws]
    ends = np.cumsum([len(codes) for codes in texts], dtype=np.int64)
    first = before = 0
    while first < len(texts):  # in parts that the processor's cache holds
        last = max(first + 1, int(np.searchsorted(ends, before + _CHUNK, side="right")))
        joined = np.concatenate(texts[first:last])
        starts = np.concatenate([[0], ends[first : last - 1] - before])
        for row, (factor, offset) in enumerate(factors):
            with np.errstate(over="ignore"):
                values = joined * (factor | np.uint64(1)) + offset
            found[row, first:last] = np.minimum.reduceat(values, starts) >> np.uint64(32)
        first, before = last, int(ends[last - 1])
    return np.ascontiguousarray(found.T)


def estimated(found: Signatures, left: Places, right: Places) -> NDArray[np.float64]:
    """Estimated Jaccard similarity of pairs of texts."""
    parts = range(0, len(left), 1 << 15)
    shares = [(found[left[at : at + parts.step]] == found[right[at : at + parts.step]]).mean(axis=1) for at in parts]
    return np.concatenate([np.zeros(0), *shares])


def candidates(
    found: Signatures, banding: Banding, labels: Callable[[Places], Places]
) -> Iterator[tuple[Places, Places]]:
    """Pairs of texts that come together in a band and have different labels, in arrays of left and right places.

    A pair comes once a band. ``labels`` gives the present labels of texts; it may join labels between two arrays, and
    texts that all have one label are not paired any further: of a thousand equal texts few pairs are ever formed.
    """
    for band in range(banding.bands):
        keys = np.zeros(len(found), dtype=np.uint64)
        for row in range(band * banding.rows, (band + 1) * banding.rows):
            with np.errstate(over="ignore"):
                keys = (keys ^ found[:, row]) * np.uint64(0x9E3779B97F4A7C15)
                keys ^= keys >> np.uint64(29)
        order = np.argsort(keys, kind="stable")
        yield from _paired(keys[order], order, labels)


def _paired(keys: Codes, order: Places, labels: Callable[[Places], Places]) -> Iterator[tuple[Places, Places]]:
    """Pairs within runs of equal keys: each place with the next, then with the one after it, and so on."""
    if not len(keys):
        return
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    lengths = np.diff(np.append(starts, len(keys)))
    ends = np.repeat(starts + lengths, lengths)
    active, step = np.arange(len(keys)), 1
    while len(active := active[active + step < ends[active]]):
        if step & (step - 1) == 0:  # at every doubling: what is all of one label is done with
            named = labels(order)
            mixed = np.minimum.reduceat(named, starts) != np.maximum.reduceat(named, starts)
            active = active[np.repeat(mixed, lengths)[active]]
        left, right = order[active], order[active + step]
        differ = labels(left) != labels(right)
        if differ.any():
            yield left[differ], right[differ]
        step += 1
