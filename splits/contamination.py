"""What a prompt must not repeat: word n-grams, passages and answer keys of accept and held-out text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from splits.answer_keys import AnswerKeys, NamedKey
from splits.corpus import Corpus
from splits.passages import RunIndex
from splits.shingles import Shingler, words_of

NGRAM_WORDS: Final = 8
"""Length in words of the runs that count as copied."""
PASSAGE_WORDS: Final = 3
"""Length in words of the runs by which a passage is known again although words of it were changed."""
PASSAGE_SHARE: Final = 0.4
"""Share of a passage's runs from which a text nearly repeats it; unrelated clinical text stays below 0.35."""

Kind = Literal["ngram", "passage", "answer_key", "name"]


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
    words = words_of(text)
    for start in range(len(words) - size + 1):
        yield " ".join(words[start : start + size])


def _hash(gram: str) -> bytes:
    return hashlib.sha256(gram.encode("utf-8")).digest()[:12]


@dataclass(frozen=True, slots=True)
class Overlap:
    """What a text has of one split, in numbers and names of groups and never in words.

    Attributes:
        kind: ``ngram`` (copied runs), ``passage`` (a passage nearly repeated), ``answer_key`` (a fact, or a sentence
            that a flaw changed) or ``name`` (of an example or a group).
        split: ``accept`` or ``heldout``.
        groups: the groups concerned, in order.
        count: how many runs, keys or names.
        words: length in words of the longest of them.
        share: for a passage the share of its runs that is repeated, else None.
    """

    kind: Kind
    split: str
    groups: tuple[str, ...]
    count: int
    words: int
    share: float | None = None

    def within(self, other: Overlap) -> bool:
        """Whether another text's overlap of the same kind and split is as large, in every group."""
        same = (self.kind, self.split) == (other.kind, other.split)
        return same and self.count <= other.count and set(self.groups) <= set(other.groups)

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "kind": self.kind,
            "split": self.split,
            "groups": list(self.groups),
            "count": self.count,
            "words": self.words,
            "share": self.share,
        }


class SplitSignatures:
    """What the texts of one split can be known again by, without a word of them.

    Args:
        part: the split's examples, with their facts.
        split: its name.
    """

    __slots__ = ("keys", "ngrams", "passages", "split")

    def __init__(self, part: Corpus, *, split: str) -> None:
        texts = [(example.group, text) for example in part.examples for text in (example.document, example.source)]
        self.split = split
        self.ngrams = RunIndex(texts, size=NGRAM_WORDS)
        self.passages = RunIndex(texts, size=PASSAGE_WORDS)
        self.keys = AnswerKeys(part)


class ContaminationCheck:
    """Looks in prompts for what they can only have from accept or held-out examples.

    What also stands in reflect text is not counted: a reflector may quote what it is given, and boilerplate of a whole
    corpus gives nothing away. Changes of more than every sixth word go unseen, and so does a paraphrase.

    Args:
        reflect: the reflect examples, with their facts.
        closed: signatures of the other splits.
    """

    def __init__(self, reflect: Corpus, closed: Sequence[SplitSignatures]) -> None:
        texts = {
            text for example in reflect.examples for text in (example.document, example.source, example.fact or "")
        }
        texts |= {fact.fact for facts in reflect.facts.values() for fact in facts}
        self._closed = tuple(closed)
        self._shinglers = {size: Shingler(size) for size in (NGRAM_WORDS, PASSAGE_WORDS)}
        self._open = {size: RunIndex((("reflect", text) for text in texts), size=size) for size in self._shinglers}
        self._open_words = "|".join(f" {' '.join(words_of(text))} " for text in sorted(texts))

    def overlaps(self, text: str) -> tuple[Overlap, ...]:
        """What a text has of the closed splits, at most once a kind and split."""
        codes = {size: shingler.runs(text) for size, shingler in self._shinglers.items()}
        fresh = {size: found[~self._open[size].known(found)] for size, found in codes.items()}
        return tuple(overlap for signatures in self._closed for overlap in self._found(text, fresh, signatures))

    def _found(self, text: str, fresh: dict[int, Any], signatures: SplitSignatures) -> Iterator[Overlap]:
        split = signatures.split
        copied = signatures.ngrams.repetition(fresh[NGRAM_WORDS])
        if copied is not None:
            yield Overlap("ngram", split, copied.groups, copied.runs, copied.words)
        near = signatures.passages.repetition(fresh[PASSAGE_WORDS], share=PASSAGE_SHARE)
        if near is not None and (others := set(near.groups) - set(copied.groups if copied else ())):
            yield Overlap("passage", split, tuple(sorted(others)), near.runs, near.words, round(near.share, 3))
        yield from self._named("answer_key", split, signatures.keys.keys_in(text))
        yield from self._named("name", split, signatures.keys.names_in(text))

    def _named(self, kind: Kind, split: str, keys: Sequence[NamedKey]) -> Iterator[Overlap]:
        closed = [key for key in keys if f" {' '.join(words_of(key.words))} " not in self._open_words]
        if closed:
            groups = sorted({group for key in closed for group in key.groups})
            longest = max(len(words_of(key.words)) for key in closed)
            yield Overlap(kind, split, tuple(groups), len({key.words for key in closed}), longest)
