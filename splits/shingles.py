"""Word shingles as 64-bit codes: runs of words of a text, alike whatever their case and punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint64]

_WORD: Final = re.compile(r"\w+")
_ASCII_GAPS: Final = bytes(code for code in range(128) if not _WORD.match(chr(code)))
_SPREAD: Final = 0x9E3779B97F4A7C15
_FINALIZER: Final = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


def words_of(text: str) -> list[str]:
    """The lower-case words of a text: runs of letters, digits and underscores of any script."""
    return _WORD.findall(text.lower())


def same_words(a: str, b: str) -> bool:
    """Whether two texts have the same words in the same order."""
    if a.isascii() and b.isascii():  # most texts that differ do so in their letters, and need not be cut into words
        letters, others = (text.lower().encode("ascii").translate(None, _ASCII_GAPS) for text in (a, b))
        if letters != others:
            return False
    return words_of(a) == words_of(b)


def has_words(text: str, least: int) -> bool:
    """Whether a text has at least so many words; no more of it is read than that takes."""
    return next(islice(_WORD.finditer(text), least - 1, None), None) is not None


class Shingler:
    """Codes of the runs of ``size`` words of texts.

    A code depends on the words alone, so that shinglers of one size agree. Two different runs share a code with a
    probability of about 2^-64. A shingler remembers the words that it has seen.

    Args:
        size: words of a run, at least 1.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._numbers = _Numbers()
        self._codes: Codes = np.zeros(0, dtype=np.uint64)

    def runs(self, text: str) -> Codes:
        """The code of each run of a text, in order; none where it has fewer words than a run."""
        words = self._words(text)
        return self._joined(words, self.size) if len(words) >= self.size else words[:0]

    def runs_of(self, text: str, sizes: Iterable[int]) -> Iterator[Codes]:
        """The code of each run of a text for several sizes in place of the shingler's own; its words are read once."""
        words = self._words(text)
        for size in sizes:
            yield self._joined(words, size) if len(words) >= size else words[:0]

    def shingles(self, text: str) -> Codes:
        """The codes of a text in rising order, each once; a text of fewer words than a run is one run."""
        words = self._words(text)
        return np.unique(self._joined(words, min(self.size, len(words)))) if len(words) else words

    def _words(self, text: str) -> Codes:
        found = words_of(text)
        numbers = np.fromiter(map(self._numbers.__getitem__, found), dtype=np.int64, count=len(found))
        if len(self._numbers) > len(self._codes):
            fresh = list(self._numbers)[len(self._codes) :]
            hashed = [blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in fresh]
            self._codes = np.concatenate([self._codes, np.frombuffer(b"".join(hashed), dtype="<u8").astype(np.uint64)])
        return self._codes[numbers]

    def _joined(self, words: Codes, size: int) -> Codes:
        """A code for each run of ``size`` words."""
        runs = len(words) - size + 1
        codes = np.zeros(runs, dtype=np.uint64)
        with np.errstate(over="ignore"):
            for place in range(size):
                codes = (codes + words[place : place + runs]) * np.uint64(_SPREAD)
            # Steele, Lea and Flood (2014), the finalizer of SplitMix64: every bit depends on every other.
            for shift, factor in _FINALIZER:
                codes = (codes ^ (codes >> np.uint64(shift))) * np.uint64(factor)
        return codes


class _Numbers(dict[str, int]):
    """Words numbered in the order in which they are first seen."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number
