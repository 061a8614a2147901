"""The word-overlap baseline."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splits.corpus import Fact
from students.overlap import content_words, overlap_score, word_overlap


def fact(text: str) -> Fact:
    return Fact("f", "g", text, (), "critical", True)


def test_function_words_and_endings_count_for_nothing() -> None:
    assert content_words("The patient was vomiting and has vomited") == {"vomiti", "vomite"}
    assert content_words("of the and") == frozenset()


def test_numbers_are_kept_whole() -> None:
    assert content_words("37.5 mg of 1234567") == {"37.5", "mg", "1234567"}


def test_overlap_is_the_share_of_content_words_found() -> None:
    assert word_overlap("Takes amlodipine 5 mg", "On amlodipine 10 mg") == 0.5


def test_a_text_without_content_words_overlaps_with_nothing() -> None:
    assert word_overlap("of the", "of the") == 0.0


def test_the_score_is_the_mean_over_facts() -> None:
    facts = [fact("chest pain"), fact("penicillin allergy")]
    assert overlap_score(facts, "Chest pain. Allergy: none") == pytest.approx(0.75)


@given(st.lists(st.text(), min_size=1), st.text())
def test_the_score_is_a_share(texts: list[str], document: str) -> None:
    assert 0 <= overlap_score([fact(text) for text in texts], document) <= 1


@given(st.text())
def test_a_text_contains_its_own_words(text: str) -> None:
    assert word_overlap(text, text) in (0.0, 1.0)
