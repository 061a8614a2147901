"""A description counts what is there, and counts nothing as 0 that is not defined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from splits import Corpus
from splits.describing import BINS, FIELDS, Lengths, Spread, _binned, describe


def test_counts_agree_with_the_examples_by_every_field(consults: Corpus) -> None:
    found = describe(consults)
    for field in FIELDS:
        rows = {row.value: row.examples for row in found.counts if row.field == field}
        if field == "clean":
            assert rows == {"verified": 60}
            continue
        told = Counter(getattr(example, field) or "none" for example in consults.examples)
        assert rows == told
    assert (found.groups, found.examples, found.hash) == (60, 328, consults.hash)


def test_groups_are_counted_once_a_value(consults: Corpus) -> None:
    rows = {(row.field, row.value): row.groups for row in describe(consults).counts}
    assert rows["label", "clean"] == 60
    assert rows["stratum", "telephone"] == 20
    assert rows["kind", "add"] == len({example.group for example in consults.examples if example.kind == "add"})


def test_clean_candidates_are_counted_apart(consults: Corpus) -> None:
    examples = [
        replace(ex, meta={"clean": "candidate"}) if ex.label == "clean" and ex.stratum == "telephone" else ex
        for ex in consults.examples
    ]
    found = describe(Corpus(tuple(examples), consults.facts))
    assert found.clean == {"verified": 40, "candidate": 20}


def test_twins_are_compared_word_by_word(grow: Callable[..., Corpus]) -> None:
    corpus = grow([1])
    texts = {"clean": "a b c d e f", "complete": "a b c", "add": "a b c d e f g h"}
    corpus = Corpus(tuple(replace(ex, document=texts[ex.id.split(".")[1]]) for ex in corpus.examples), corpus.facts)
    found = describe(corpus)
    assert found.twinned == {"with a twin": 2, "without": 0}
    assert found.shorter == {"omission": Spread(1, 3, 3, 3), "commission": Spread(1, -2, -2, -2)}
    assert found.differing == {"omission": Spread(1, 3, 3, 3), "commission": Spread(1, 2, 2, 2)}
    assert found.words["clean documents"] == Spread(1, 6, 6, 6)


def test_a_change_shows_in_the_words_that_differ_and_not_in_the_length(grow: Callable[..., Corpus]) -> None:
    corpus = grow([1], lambda _: ("change",))
    texts = {"clean": "take 250 mg", "change": "take 500 mg"}
    found = describe(Corpus(tuple(replace(ex, document=texts[ex.id.split(".")[1]]) for ex in corpus.examples), {}))
    assert found.shorter["commission"] == Spread(1, 0, 0, 0)
    assert found.differing["commission"] == Spread(1, 2, 2, 2)


def test_labels_without_twins_or_facts_are_described_as_such(consults: Corpus) -> None:
    bare = Corpus(tuple(replace(ex, twin=None) for ex in consults.examples), {})
    found = describe(bare)
    assert found.twinned == {"with a twin": 0, "without": 268}
    assert found.shorter["omission"] == Spread(0, None, None, None)
    assert found.facts == Spread(0, None, None, None)
    assert (found.factless, found.core) == (60, 0)


def test_facts_are_counted_a_group(consults: Corpus) -> None:
    found = describe(consults)
    assert (found.facts.n, found.facts.least, found.facts.greatest) == (60, 8, 9)
    assert (found.core, found.factless) == (300, 0)


@given(st.lists(st.integers(0, 3000), max_size=40), st.lists(st.integers(0, 3000), max_size=40))
@settings(max_examples=40, deadline=None)
def test_every_text_lies_in_one_bin_of_its_length(first: list[int], second: list[int]) -> None:
    found = _binned({"a": first, "b": second})
    if not first + second:
        assert found == Lengths((), {"a": (), "b": ()})
        return
    assert len(found.edges) - 1 <= BINS
    for name, values in (("a", first), ("b", second)):
        for place, (low, high) in enumerate(zip(found.edges, found.edges[1:], strict=False)):
            assert found.counts[name][place] == sum(low <= value < high for value in values)
        assert sum(found.counts[name]) == len(values)
