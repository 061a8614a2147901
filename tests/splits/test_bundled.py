"""Bundled corpora are found by name and load."""

from __future__ import annotations

from collections import Counter

import pytest

from lineage.errors import CorpusError
from splits import bundled_directory, load_bundled
from splits.corpus import TRACES


def test_the_consults_corpus_has_sixty_groups_in_three_equal_strata() -> None:
    corpus = load_bundled("consults")
    strata = {group: {example.stratum for example in examples} for group, examples in corpus.groups.items()}
    assert len(strata) == 60
    assert all(len(found) == 1 for found in strata.values())
    assert Counter(next(iter(found)) for found in strata.values()) == {
        "uk-surgery": 20,
        "us-clinic": 20,
        "telephone": 20,
    }


def test_every_consultation_has_one_clean_note_and_three_to_five_flawed_twins_with_facts() -> None:
    corpus = load_bundled("consults")
    for group, examples in corpus.groups.items():
        clean = [example for example in examples if example.label == "clean"]
        flawed = [example for example in examples if example.twin]
        assert len(clean) == 1
        assert 3 <= len(flawed) <= 5
        assert len(examples) == 1 + len(flawed)
        assert {example.twin for example in flawed} == {clean[0].id}
        assert {example.source for example in examples} == {clean[0].source}
        facts = {fact.id: fact for fact in corpus.facts[group]}
        assert 6 <= len(facts) <= 9
        for example in flawed:
            assert example.label != "omission" or facts[example.fact or ""].core
            assert example.label != "omission" or example.trace in TRACES
            assert all(quote in example.source for fact in facts.values() for quote in fact.evidence)
    assert Counter(example.trace for example in corpus.examples)["complete"] == 60


def test_residual_mentions_of_the_bundled_corpus_lie_under_their_headings() -> None:
    for example in load_bundled("consults").examples:
        for mention in example.residual:
            assert example.document[: mention.offset].rfind(mention.heading) >= 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("consult", "no bundled corpus 'consult'; did you mean 'consults'"),
        ("xyz", "no bundled corpus 'xyz'; there are 'consults'"),
        ("../corpora/consults", "no bundled corpus"),
        ("", "no bundled corpus"),
    ],
)
def test_an_unknown_name_is_refused_with_a_near_one(name: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        bundled_directory(name)
