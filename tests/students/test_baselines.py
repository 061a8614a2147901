"""The baselines without a language model, as students."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lineage.errors import PlanError
from splits.corpus import Corpus
from students import Student, student_hash
from students.baselines import BASELINES, SENTENCE_EMBEDDING, WORD_OVERLAP
from students.embedding import embedding_score, sentence_embedder
from students.overlap import overlap_score
from students.transport.base import CallRequest, CallResult


def refuse(request: CallRequest) -> CallResult:
    raise AssertionError("a baseline makes no call")


@pytest.mark.parametrize("baseline", BASELINES)
def test_a_baseline_judges_without_a_call_and_costs_nothing(baseline: Student, sit: Any, groups: Any) -> None:
    found = sit(baseline, groups(2), refuse)
    assert found.asked == []
    assert len(found.judgements) == 6
    for judgement in found.judgements:
        assert judgement.status == "scored"
        assert judgement.usage.calls == judgement.paid == 0
        assert (judgement.seed, judgement.flags, judgement.raw) == (None, (), ())
    assert baseline.calls_at_most(9).document == 0


def test_the_scores_are_those_of_overlap_and_embedding(sit: Any, consults: Corpus) -> None:
    part = consults.part(consults.groups["tel-01"])
    facts = part.facts["tel-01"]
    by_words = {one.example: one.score for one in sit(WORD_OVERLAP, part, refuse).judgements}
    by_vectors = {one.example: one.score for one in sit(SENTENCE_EMBEDDING, part, refuse).judgements}
    for example in part.examples:
        assert by_words[example.id] == overlap_score(facts, example.document)
        assert by_vectors[example.id] == embedding_score(facts, example.document, sentence_embedder())


def test_an_empty_document_fails_and_is_no_zero(groups: Any) -> None:
    corpus = groups(1)
    example = replace(corpus.examples[0], document=" \n")
    for baseline in BASELINES:
        reading = baseline.read(example, corpus.facts["g0"], ())
        assert (reading.score, reading.reason) == (None, "empty: the document has no sentence")


def test_a_group_without_facts_is_refused(groups: Any) -> None:
    for baseline in BASELINES:
        with pytest.raises(PlanError, match="needs facts for every group"):
            baseline.read(groups(1).examples[0], (), ())


def test_the_two_have_hashes_of_their_own_and_the_vectors_are_in_one() -> None:
    assert student_hash(WORD_OVERLAP) != student_hash(SENTENCE_EMBEDDING)
    assert SENTENCE_EMBEDDING.settings()["vectors"] == "l2_supercat_256"
