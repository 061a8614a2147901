"""The corpus model: examples in groups, each flawed one with its twin, and the facts of each group."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from lineage.canonical import canonical_json

LABELS: Final = ("clean", "omission", "commission")
KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "clean": ("clean",),
    "omission": ("omit",),
    "commission": ("add", "change"),
}
TRACES: Final = ("complete", "partial-weak", "partial-strong")
SEVERITIES: Final = ("critical", "supporting", "peripheral")
STRENGTHS: Final = ("explicit", "paraphrase", "partial")


@dataclass(frozen=True, slots=True)
class Residual:
    """One surviving mention of an omitted fact: character offset in the document, heading, strength."""

    offset: int
    heading: str
    strength: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of a group's source, with verbatim evidence; ``core`` facts are checked first."""

    id: str
    group: str
    fact: str = field(repr=False)
    evidence: tuple[str, ...] = field(repr=False)
    severity: str
    core: bool


@dataclass(frozen=True, slots=True)
class Example:
    """One document to be judged against its source; its representation, which may end in a log, holds no text."""

    id: str
    group: str
    stratum: str
    source: str = field(repr=False)
    document: str = field(repr=False)
    label: str
    kind: str
    severity: str | None = None
    trace: str | None = None
    twin: str | None = None
    fact: str | None = None
    residual: tuple[Residual, ...] = ()
    cohort: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def flaw(self) -> str:
        """The finest name of what is wrong: a trace for omissions, else the kind."""
        return self.trace or self.kind

    @property
    def candidate(self) -> bool:
        """Whether a clean document is only a clean candidate: written by people, and not verified to be clean."""
        return self.label == "clean" and self.meta.get("clean") == "candidate"


@dataclass(frozen=True)
class Corpus:
    """Examples in file order, facts by group, and the hash of both.

    ``ranks`` is set on a part of a corpus and holds the ranks of its examples in the whole.

    The hash covers every field of every example, in order of their ids, and every fact, in order of the groups, so that
    row order never matters; but the order of the facts within a group is part of the corpus, as judges follow it.
    """

    examples: tuple[Example, ...]
    facts: Mapping[str, tuple[Fact, ...]]
    ranks: Mapping[str, int] | None = None

    def __repr__(self) -> str:
        return f"Corpus({len(self.examples)} examples of {len(self.groups)} groups)"

    @cached_property
    def by_id(self) -> Mapping[str, Example]:
        """Examples by id."""
        return {example.id: example for example in self.examples}

    @cached_property
    def groups(self) -> Mapping[str, tuple[Example, ...]]:
        """Examples of each group in order of their ids, groups in order of theirs."""
        found: dict[str, list[Example]] = {}
        for example in sorted(self.examples, key=lambda example: example.id):
            found.setdefault(example.group, []).append(example)
        return {group: tuple(found[group]) for group in sorted(found)}

    @cached_property
    def rank(self) -> Mapping[str, int]:
        """0-based rank of each example's id in the whole sorted corpus: the item index of the seed arithmetic."""
        if self.ranks is not None:
            return self.ranks
        return {example_id: rank for rank, example_id in enumerate(sorted(self.by_id))}

    @cached_property
    def hash(self) -> str:
        """SHA-256 over the canonical JSON of all rows, hashed as it is made: in one piece it would fill memory."""
        whole = hashlib.sha256()
        for piece in self._canonical():
            whole.update(piece.encode("utf-8"))
        return whole.hexdigest()

    def _canonical(self) -> Iterator[str]:
        """The canonical JSON of ``{"examples": [...], "facts": [...]}`` in pieces."""
        rows = _example_texts(self.by_id[example_id] for example_id in sorted(self.by_id))
        facts = (canonical_json(fact_row(fact)) for group in sorted(self.facts) for fact in self.facts[group])
        yield '{"examples":['
        yield from _listed(rows)
        yield '],"facts":['
        yield from _listed(facts)
        yield "]}"

    def part(self, examples: Iterable[Example]) -> Corpus:
        """A corpus of some of the examples, with the facts of their groups and nothing of any other group."""
        kept = tuple(sorted(examples, key=lambda example: example.id))
        groups = {example.group for example in kept}
        return Corpus(
            kept,
            {group: facts for group, facts in self.facts.items() if group in groups},
            {example.id: self.rank[example.id] for example in kept},
        )


def example_row(example: Example) -> dict[str, Any]:
    """The JSON form of an example, as in ``corpus.jsonl``."""
    return {
        "id": example.id,
        "group": example.group,
        "stratum": example.stratum,
        "source": example.source,
        "document": example.document,
        "label": example.label,
        "kind": example.kind,
        "severity": example.severity,
        "trace": example.trace,
        "twin": example.twin,
        "fact": example.fact,
        "residual": [
            {"offset": mention.offset, "heading": mention.heading, "strength": mention.strength}
            for mention in example.residual
        ],
        "cohort": example.cohort,
        "meta": dict(example.meta),
    }


def _example_texts(examples: Iterable[Example]) -> Iterator[str]:
    """Canonical JSON of each example; the source, which is long and the same for a whole group, is escaped once."""
    source, escaped = "", canonical_json("")
    for example in examples:
        row = example_row(example)
        if row.pop("source") != source:
            source, escaped = example.source, canonical_json(example.source)
        after = {name: row.pop(name) for name in ("stratum", "trace", "twin")}  # the names that follow in order
        yield f'{canonical_json(row)[:-1]},"source":{escaped},{canonical_json(after)[1:]}'


def _listed(texts: Iterable[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        yield f",{text}" if number else text


def fact_row(fact: Fact) -> dict[str, Any]:
    """The JSON form of a fact, as in ``facts.jsonl``."""
    return {
        "id": fact.id,
        "group": fact.group,
        "fact": fact.fact,
        "evidence": list(fact.evidence),
        "severity": fact.severity,
        "core": fact.core,
    }
