"""What another text repeats of some texts, told from codes of their runs of words and never from their words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from lineage.errors import SealError
from splits.shingles import Codes, Shingler

PASSAGE_RUNS: Final = 24
"""Length of a passage, in runs; a text of fewer, but not fewer than ``LEAST_RUNS``, is one passage."""
LEAST_RUNS: Final = 12

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Repetition:
    """What a text repeats of others.

    Attributes:
        groups: the groups of the texts that it repeats, in order.
        runs: how many different runs of words.
        words: length in words of the longest stretch repeated without a gap.
        share: the largest share of a passage's runs that it repeats, in [0, 1].
    """

    groups: tuple[str, ...]
    runs: int
    words: int
    share: float


class RunIndex:
    """Codes of the runs of ``size`` words of some texts, sorted, each with its place.

    No word can be read from it; it cannot be pickled all the same, since short runs could be guessed one by one. Texts
    shorter than a run are left out, and equal texts of a group count once.

    Args:
        texts: groups, each with one of its texts.
        size: words of a run.
    """

    __slots__ = ("_codes", "_ends", "_groups", "_places", "_texts", "size")

    def __init__(self, texts: Iterable[tuple[str, str]], *, size: int) -> None:
        self.size = size
        shingler = Shingler(size)  # dropped with the words that it has seen
        found = [(group, shingler.runs(text)) for group, text in dict.fromkeys(texts)]
        self._groups = [group for group, _ in found]
        lengths = [len(codes) for _, codes in found]
        joined = np.concatenate([np.zeros(0, dtype=np.uint64), *(codes for _, codes in found)])
        self._ends: Places = np.cumsum(lengths, dtype=np.int64)
        self._texts: Places = np.repeat(np.arange(len(found)), lengths)
        self._places: Places = np.argsort(joined, kind="stable")
        self._codes: Codes = joined[self._places]

    def known(self, codes: Codes) -> NDArray[np.bool_]:
        """Which of some codes are in the index."""
        first, last = self._ranges(codes)
        return np.asarray(last > first)

    def repetition(self, codes: Codes, *, share: float = 0.0) -> Repetition | None:
        """What a text with these codes repeats of the indexed texts, or None where it repeats nothing.

        Args:
            codes: the codes of the text's runs of the same size.
            share: only passages of which at least this share is repeated count.
        """
        asked = np.unique(codes)
        first, last = self._ranges(asked)
        at = np.sort(np.concatenate([self._places[:0], *(self._places[a:b] for a, b in zip(first, last, strict=True))]))
        ends = self._ends[self._texts[at]]
        starts = ends - np.diff(self._ends, prepend=0)[self._texts[at]]
        length = np.minimum(ends - starts, PASSAGE_RUNS)
        inside = np.searchsorted(at, np.minimum(at + PASSAGE_RUNS, ends)) - np.arange(len(at))
        shares = inside / np.maximum(length, LEAST_RUNS)
        kept = shares >= share
        if not kept.any():
            return None
        broken = np.flatnonzero((np.diff(at, prepend=-2) != 1) | (at == starts))
        longest = int(np.diff(np.append(broken, len(at))).max())
        return Repetition(
            groups=tuple(sorted({self._groups[text] for text in np.unique(self._texts[at[kept]])})),
            runs=int((last > first).sum()),
            words=longest + self.size - 1,
            share=float(shares.max()),
        )

    def _ranges(self, codes: Codes) -> tuple[Places, Places]:
        """First place and place after the last of each code among the sorted ones."""
        return np.searchsorted(self._codes, codes), np.searchsorted(self._codes, codes, side="right")

    def __reduce__(self) -> NoReturn:
        raise SealError("an index of runs cannot be pickled or copied: what it stands for stays behind the seal")
