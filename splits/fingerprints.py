"""Fingerprints of groups: one line a group, by which an edited example is named without keeping its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from lineage.canonical import digest, digest_bytes
from splits.corpus import Corpus, _example_texts, fact_row

MARK: Final = 8
"""Hex digits of an example's own mark: enough to tell which one was edited. The group's hash vouches for them."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The hash of a group's examples and facts, a mark of each example in order of their ids, and one of the facts."""

    hash: str
    marks: tuple[str, ...]

    @classmethod
    def of(cls, corpus: Corpus, group: str) -> Fingerprint:
        """The fingerprint of a group of a corpus."""
        examples = [digest_bytes(text.encode("utf-8")) for text in _example_texts(corpus.groups[group])]
        facts = digest([fact_row(fact) for fact in corpus.facts.get(group, ())])
        return cls(digest([*examples, facts]), tuple(each[:MARK] for each in (*examples, facts)))

    @classmethod
    def parse(cls, text: str) -> Fingerprint:
        """The fingerprint that is written so."""
        first, *marks = text.split(" ")
        return cls(first, tuple(marks))

    def __str__(self) -> str:
        return " ".join((self.hash, *self.marks))


def fingerprints(corpus: Corpus, groups: Iterable[str]) -> dict[str, Fingerprint]:
    """Fingerprints of some groups, in order."""
    return {group: Fingerprint.of(corpus, group) for group in sorted(groups)}


@dataclass(frozen=True, slots=True)
class Edit:
    """Where a group differs from its fingerprint, in words."""

    group: str
    words: str


def edits(stated: Mapping[str, Fingerprint], corpus: Corpus) -> Iterator[Edit]:
    """Where a corpus differs from stated fingerprints: an example, the facts, or how many examples there are."""
    for group, before in stated.items():
        if group not in corpus.groups:
            yield Edit(group, f"group {group} is gone")
            continue
        now = Fingerprint.of(corpus, group)
        if now == before:
            continue
        examples = corpus.groups[group]
        if len(now.marks) != len(before.marks):
            yield Edit(group, f"group {group} has {len(examples)} examples, and had {len(before.marks) - 1}")
            continue
        places = [*(f"{example.id} of group {group} was" for example in examples), f"the facts of group {group} were"]
        differ = [place for place, *marks in zip(places, now.marks, before.marks, strict=True) if len(set(marks)) > 1]
        yield from (Edit(group, f"{place} edited") for place in differ or [f"the hash of group {group} was"])
