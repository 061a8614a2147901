"""Texts that must not be handed on, and how a run of them is known again wherever it was copied to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NoReturn

import numpy as np

from lineage.errors import SealError
from splits.contamination import NGRAM_WORDS
from splits.corpus import Corpus
from splits.shingles import Codes, Shingler, has_words

LEAST_WORDS: Final = 4
"""A text of fewer words is not known again: it says too little to tell a copy from what anyone would write."""

_ESCAPED: Final = re.compile(r"(\\+)(u[0-9a-fA-F]{4}|[nrtbf\"/])")


@dataclass(frozen=True, slots=True)
class Copied:
    """How much of a text is copied: runs of words, of ``words`` each at least. The words themselves are not here."""

    runs: int
    words: int


class WithheldTexts:
    """Codes of the runs of words of some texts: it knows them again, and no word can be read from it.

    A run is ``NGRAM_WORDS`` words; a text of fewer, down to ``LEAST_WORDS``, is one run. Copies with other words in
    between, and paraphrases, are not known again.

    Args:
        texts: what must not be handed on.
    """

    __slots__ = ("_codes", "_shinglers", "texts")

    def __init__(self, texts: Iterable[str]) -> None:
        found: dict[int, list[Codes]] = {size: [] for size in range(LEAST_WORDS, NGRAM_WORDS + 1)}
        shingler = Shingler(NGRAM_WORDS)
        self.texts = 0
        for text in dict.fromkeys(texts):
            self.texts += 1
            if len(runs := shingler.runs(text)):
                found[NGRAM_WORDS].append(runs)
                continue
            for size in range(NGRAM_WORDS - 1, LEAST_WORDS - 1, -1):
                (runs,) = shingler.runs_of(text, (size,))
                if len(runs):
                    found[size].append(runs)
                    break
        self._codes = {size: np.unique(np.concatenate(codes)) for size, codes in found.items() if codes}
        self._shinglers = Shingler(NGRAM_WORDS)

    @classmethod
    def of(cls, corpus: Corpus) -> WithheldTexts:
        """Every text of a corpus: sources, documents, facts and what they rest on, and remarks."""
        return cls(_texts(corpus))

    def copied(self, text: str) -> Copied | None:
        """What a text has of the withheld ones, also where it is written with escapes, as in JSON within JSON."""
        if not has_words(text, LEAST_WORDS):
            return None
        forms = [text]
        if "\\" in text:
            forms.append(_ESCAPED.sub(_plain, text))
        sizes = sorted(self._codes, reverse=True)
        for form in forms:
            for size, codes in zip(sizes, self._shinglers.runs_of(form, sizes), strict=True):
                known = self._codes[size]
                places = np.minimum(np.searchsorted(known, codes), len(known) - 1)
                if runs := int((known[places] == codes).sum()):
                    return Copied(runs, size)
        return None

    def __reduce__(self) -> NoReturn:
        raise SealError("an index of withheld texts cannot be pickled or copied: short runs of it could be guessed")


def _plain(escape: re.Match[str]) -> str:
    return chr(int(escape[2][1:], 16)) if escape[2].startswith("u") else " "


def _texts(corpus: Corpus) -> Iterator[str]:
    for example in corpus.examples:
        yield example.source
        yield example.document
        yield example.fact or ""
        yield from (value for value in example.meta.values() if isinstance(value, str))
    for facts in corpus.facts.values():
        for fact in facts:
            yield fact.fact
            yield from fact.evidence
