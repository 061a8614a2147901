"""Word n-grams of texts that a prompt must not repeat."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

NGRAM_WORDS: Final = 8
"""Length in words of the runs that count as copied."""


@dataclass(frozen=True, slots=True)
class NgramIndex:
    """Hashes of all word n-grams of some texts: it can say that a run was copied, and cannot give the text away."""

    size: int
    hashes: frozenset[bytes]

    @classmethod
    def of(cls, texts: Iterable[str], *, size: int = NGRAM_WORDS) -> NgramIndex:
        """Index the n-grams of ``size`` words of all ``texts``."""
        return cls(size, frozenset(_hash(gram) for text in texts for gram in _ngrams(text, size)))

    def copied(self, text: str) -> tuple[str, ...]:
        """The n-grams of ``text`` that also stand in an indexed text, in order."""
        return tuple(gram for gram in _ngrams(text, self.size) if _hash(gram) in self.hashes)


def _ngrams(text: str, size: int) -> Iterator[str]:
    words = re.findall(r"\w+", text.lower())
    for start in range(len(words) - size + 1):
        yield " ".join(words[start : start + size])


def _hash(gram: str) -> bytes:
    return hashlib.sha256(gram.encode("utf-8")).digest()[:12]
