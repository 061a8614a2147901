"""Sentence-embedding similarity, without a language model and without a network."""

from __future__ import annotations

import numpy as np
import pytest

from splits.corpus import Corpus, Fact
from students.embedding import embedding_score, sentence_embedder, sentences_of
from students.overlap import overlap_score


def fact(text: str) -> Fact:
    return Fact("f1", "g", text, (), "critical", True)


def test_embeddings_are_unit_vectors_and_an_empty_text_is_zero() -> None:
    found = sentence_embedder().embed(["Sore throat.", "", "No cough at all."])
    assert np.linalg.norm(found, axis=1) == pytest.approx([1.0, 0.0, 1.0])


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *args: pytest.fail("a connection was opened"))
    sentence_embedder.cache_clear()
    assert sentence_embedder().vectors.shape[1] == 256


def test_a_fact_is_closest_to_the_sentence_that_says_it() -> None:
    embed = sentence_embedder().embed
    sentences = sentences_of("HISTORY\nManaging to drink water. Five-a-side final on Saturday.\nNo regular medicines.")
    assert sentences == (
        "HISTORY",
        "Managing to drink water.",
        "Five-a-side final on Saturday.",
        "No regular medicines.",
    )
    cosines = embed(["The patient can drink fluids."]) @ embed(sentences).T
    assert int(cosines.argmax()) == 1


def test_the_score_is_the_mean_of_the_best_cosines_and_does_not_depend_on_the_order_of_facts() -> None:
    facts = [fact("The patient has a sore throat."), fact("The patient takes no medicines.")]
    document = "Sore throat for three days. No regular medicines."
    one = embedding_score(facts, document, sentence_embedder())
    assert one == embedding_score(facts[::-1], document, sentence_embedder())
    parts = [embedding_score([each], document, sentence_embedder()) for each in facts]
    assert one == pytest.approx(sum(parts) / 2, abs=1e-6)
    assert -1 <= one <= 1


def test_similarity_is_undefined_without_facts_or_text() -> None:
    with pytest.raises(ValueError, match="undefined"):
        embedding_score([], "text", sentence_embedder())
    with pytest.raises(ValueError, match="undefined"):
        embedding_score([fact("A fact.")], " \n", sentence_embedder())


def test_complete_omissions_of_the_bundled_corpus_mostly_score_below_their_twins(consults: Corpus) -> None:
    complete = [example for example in consults.examples if example.trace == "complete" and example.twin][:40]
    wins = ties = 0
    for example in complete:
        facts = consults.facts[example.group]
        twin = consults.by_id[str(example.twin)]
        ours, theirs = (embedding_score(facts, each.document, sentence_embedder()) for each in (example, twin))
        wins, ties = wins + (ours < theirs), ties + (ours == theirs)
        assert overlap_score(facts, example.document) <= 1
    assert (wins + ties / 2) / len(complete) > 0.8
