"""What a corpus holds: counts by every field that a split or a measure rests on, lengths, twins and facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from splits.corpus import SEVERITIES, TRACES, Corpus, Example
from splits.shingles import words_of

FIELDS: Final = ("label", "clean", "kind", "trace", "severity", "stratum", "cohort")
"""What examples are counted by; ``clean`` is whether a clean one is verified or a candidate."""
NONE: Final = "none"
"""How a field that an example does not have is counted."""
BINS: Final = 16

_ORDER: Final = ("clean", "omission", "commission", "omit", "add", "change", *TRACES, *SEVERITIES)


@dataclass(frozen=True, slots=True)
class Spread:
    """Least, middle and greatest of some whole numbers; all None where there are none."""

    n: int
    least: int | None
    middle: float | None
    greatest: int | None

    @classmethod
    def of(cls, values: Iterable[int]) -> Spread:
        """The spread of some numbers."""
        found = list(values)
        if not found:
            return cls(0, None, None, None)
        return cls(len(found), min(found), median(found), max(found))


@dataclass(frozen=True, slots=True)
class FieldCount:
    """How many groups and examples have one value of a field."""

    field: str
    value: str
    groups: int
    examples: int


@dataclass(frozen=True, slots=True)
class Lengths:
    """Documents or sources by their number of words: edges of bins, and how many texts of each kind lie in each.

    ``edges`` has one number more than there are bins; a text of exactly the last edge lies in the last bin.
    """

    edges: tuple[int, ...]
    counts: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class CorpusDescription:
    """A corpus in numbers.

    Attributes:
        hash: the corpus hash.
        groups: number of groups.
        examples: number of examples.
        counts: by field and value.
        clean: number of clean examples, by ``verified`` and ``candidate``. A candidate was written by people and not
            verified: a flag on it is no false alarm for certain.
        words: of documents by label, and of the sources, each text of a group once.
        twinned: number of flawed examples with a twin, and without one.
        shorter: by label, how many words a flawed document has fewer than its twin; negative where it has more.
        differing: by label, how many words stand in only one of a flawed document and its twin, each as often as it is
            repeated there.
        facts: facts a group, over the groups that have any.
        factless: number of groups without facts.
        core: number of core facts.
        documents: lengths of clean and of flawed documents.
        sources: lengths of sources.
    """

    hash: str
    groups: int
    examples: int
    counts: tuple[FieldCount, ...]
    clean: Mapping[str, int]
    words: Mapping[str, Spread]
    twinned: Mapping[str, int]
    shorter: Mapping[str, Spread]
    differing: Mapping[str, Spread]
    facts: Spread
    factless: int
    core: int
    documents: Lengths
    sources: Lengths


def describe(corpus: Corpus) -> CorpusDescription:
    """Count and measure a corpus; words are runs of letters and digits."""
    words = {example.id: Counter(words_of(example.document)) for example in corpus.examples}
    lengths = {name: found.total() for name, found in words.items()}
    flawed = [example for example in corpus.examples if example.label != "clean"]
    sources = {(example.group, example.source): None for example in corpus.examples if example.source}
    source_words = [len(words_of(source)) for _, source in sources]
    by_label = {label: [ex for ex in corpus.examples if ex.label == label] for label in _labels(corpus)}
    pairs = {
        label: [(ex.id, ex.twin) for ex in found if ex.twin is not None]
        for label, found in by_label.items()
        if label != "clean"
    }
    kinds = Counter("candidate" if example.candidate else "verified" for example in by_label.get("clean", []))
    return CorpusDescription(
        hash=corpus.hash,
        groups=len(corpus.groups),
        examples=len(corpus.examples),
        counts=tuple(_counts(corpus.examples)),
        clean={kind: kinds[kind] for kind in ("verified", "candidate")},
        words={
            **{f"{label} documents": Spread.of(lengths[ex.id] for ex in found) for label, found in by_label.items()},
            "sources": Spread.of(source_words),
        },
        twinned={
            "with a twin": sum(example.twin is not None for example in flawed),
            "without": sum(example.twin is None for example in flawed),
        },
        shorter={
            label: Spread.of(lengths[twin] - lengths[mine] for mine, twin in found) for label, found in pairs.items()
        },
        differing={
            label: Spread.of(
                ((words[mine] - words[twin]) + (words[twin] - words[mine])).total() for mine, twin in found
            )
            for label, found in pairs.items()
        },
        facts=Spread.of(len(facts) for facts in corpus.facts.values() if facts),
        factless=sum(not corpus.facts.get(group) for group in corpus.groups),
        core=sum(fact.core for facts in corpus.facts.values() for fact in facts),
        documents=_binned(
            {
                "clean": [lengths[example.id] for example in by_label.get("clean", [])],
                "flawed": [lengths[example.id] for example in flawed],
            }
        ),
        sources=_binned({"source": source_words}),
    )


def _labels(corpus: Corpus) -> list[str]:
    return sorted({example.label for example in corpus.examples}, key=_rank)


def _counts(examples: Iterable[Example]) -> Iterable[FieldCount]:
    listed = list(examples)
    for field in FIELDS:
        values: dict[str, list[Example]] = {}
        for example in listed:
            if field != "clean" or example.label == "clean":
                values.setdefault(_value(example, field), []).append(example)
        for value in sorted(values, key=_rank):
            found = values[value]
            yield FieldCount(field, value, len({example.group for example in found}), len(found))


def _value(example: Example, field: str) -> str:
    if field == "clean":
        return "candidate" if example.candidate else "verified"
    value: Any = getattr(example, field)
    return NONE if value is None else str(value)


def _rank(value: str) -> tuple[int, str]:
    return (_ORDER.index(value) if value in _ORDER else len(_ORDER) + (value == NONE), value)


def _binned(values: Mapping[str, list[int]]) -> Lengths:
    every = [value for found in values.values() for value in found]
    if not every:
        return Lengths((), dict.fromkeys(values, ()))
    low, high = min(every), max(every)
    width = max(1, -(-(high + 1 - low) // BINS))
    edges = tuple(range(low, high + 1 + width, width))
    counts = {}
    for name, found in values.items():
        bins = Counter((value - low) // width for value in found)
        counts[name] = tuple(bins[place] for place in range(len(edges) - 1))
    return Lengths(edges, counts)
