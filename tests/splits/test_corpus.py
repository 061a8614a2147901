"""The corpus model: what its hash, ranks and parts depend on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.canonical import digest
from splits.corpus import Corpus, Example, Fact, Residual, example_row, fact_row


@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_row_order_changes_neither_hash_nor_ranks_nor_groups(data: st.DataObject, corpus: Corpus) -> None:
    examples = data.draw(st.permutations(corpus.examples))
    groups = data.draw(st.permutations(list(corpus.facts)))
    shuffled = Corpus(tuple(examples), {group: corpus.facts[group] for group in groups})
    assert shuffled.hash == corpus.hash
    assert shuffled.rank == corpus.rank
    assert shuffled.groups == corpus.groups
    assert list(shuffled.groups) == list(corpus.groups)


texts = st.text(st.characters(), max_size=8)  # half surrogate pairs among them
kept = st.recursive(st.none() | st.booleans() | st.integers() | texts, lambda part: st.lists(part, max_size=2))


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    sources = draw(st.lists(texts, min_size=1, max_size=2))
    examples = []
    for number in range(draw(st.integers(0, 5))):
        rest: dict[str, Any] = {
            "severity": draw(st.none() | texts),
            "twin": draw(st.none() | texts),
            "cohort": draw(st.none() | texts),
            "meta": draw(st.dictionaries(texts, kept, max_size=2)),
            "residual": tuple(Residual(at, "source", draw(texts)) for at in range(draw(st.integers(0, 2)))),
        }
        source = draw(st.sampled_from(sources))
        examples.append(
            Example(f"{number}{draw(texts)}", draw(texts), draw(texts), source, draw(texts), "clean", "clean", **rest)
        )
    facts = {
        group: (Fact("f", group, draw(texts), (draw(texts),), "critical", True),)
        for group in draw(st.lists(texts, max_size=2, unique=True))
    }
    return Corpus(tuple(examples), facts)


@given(corpus=corpora())
@settings(max_examples=20, deadline=None)
def test_the_hash_is_that_of_all_rows_in_one_canonical_text(corpus: Corpus) -> None:
    rows = [example_row(corpus.by_id[name]) for name in sorted(corpus.by_id)]
    facts = [fact_row(fact) for group in sorted(corpus.facts) for fact in corpus.facts[group]]
    assert corpus.hash == digest({"examples": rows, "facts": facts})


@pytest.mark.parametrize(
    "change",
    [
        {"document": "other"},
        {"source": "other"},
        {"severity": "peripheral"},
        {"trace": "partial-strong"},
        {"residual": (Residual(0, "PLAN", "partial"),)},
        {"cohort": "b"},
        {"meta": {"a": 1}},
        {"fact": "f2"},
        {"stratum": "s9"},
    ],
)
def test_every_field_of_an_example_is_in_the_hash(change: dict[str, object], corpus: Corpus) -> None:
    examples = list(corpus.examples)
    examples[1] = replace(examples[1], **change)  # type: ignore[arg-type]  # fields of Example
    assert Corpus(tuple(examples), corpus.facts).hash != corpus.hash


@pytest.mark.parametrize(
    "change", [{"fact": "Other."}, {"evidence": ()}, {"severity": "peripheral"}, {"core": False}, {"id": "f2"}]
)
def test_every_field_of_a_fact_is_in_the_hash(change: dict[str, object], corpus: Corpus) -> None:
    group, (fact,) = next(iter(corpus.facts.items()))
    edited = {**corpus.facts, group: (replace(fact, **change),)}  # type: ignore[arg-type]  # fields of Fact
    assert Corpus(corpus.examples, edited).hash != corpus.hash


def test_the_order_of_facts_within_a_group_is_part_of_the_corpus(corpus: Corpus) -> None:
    group, (fact,) = next(iter(corpus.facts.items()))
    two = (fact, replace(fact, id="f2"))
    there, back = ({**corpus.facts, group: order} for order in (two, two[::-1]))
    assert Corpus(corpus.examples, there).hash != Corpus(corpus.examples, back).hash


def test_a_part_keeps_the_ranks_of_the_whole_and_nothing_of_other_groups(corpus: Corpus) -> None:
    part = corpus.part(example for example in corpus.examples if example.group == "g005")
    assert set(part.facts) == set(part.groups) == {"g005"}
    assert dict(part.rank) == {name: rank for name, rank in corpus.rank.items() if name.startswith("g005")}
    assert part.part(part.examples[:1]).rank == {part.examples[0].id: corpus.rank[part.examples[0].id]}
    assert "g004" not in repr(part)


def test_ranks_count_every_example_from_zero_in_order_of_ids(grow: Callable[..., Corpus]) -> None:
    corpus = grow([2, 1])
    assert sorted(corpus.rank.values()) == list(range(len(corpus.examples)))
    assert sorted(corpus.rank, key=corpus.rank.__getitem__) == sorted(corpus.by_id)


@pytest.mark.parametrize(("name", "flaw"), [("complete", "complete"), ("add", "add"), ("clean", "clean")])
def test_a_flaw_is_named_by_its_trace_or_else_its_kind(name: str, flaw: str, corpus: Corpus) -> None:
    assert corpus.by_id[f"g000.{name}"].flaw == flaw
