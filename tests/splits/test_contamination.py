"""Copied runs of words are found whatever their dress, and the index gives no text away."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splits.contamination import NGRAM_WORDS, NgramIndex

words = st.text("abcdefghijklmnop", min_size=2, max_size=8)
texts = st.lists(words, min_size=NGRAM_WORDS, max_size=30)
joints = st.sampled_from([" ", ", ", ".\n", " / ", "! (", "\t", ' "', ";  "])


@given(source=texts, data=st.data())
@settings(max_examples=60)
def test_a_copied_run_is_found_regardless_of_case_and_punctuation(source: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(source) - NGRAM_WORDS))
    run = source[start : start + NGRAM_WORDS]
    dressed = "Judge 1:"
    for word in run:
        dressed += data.draw(joints) + data.draw(st.sampled_from([word, word.upper(), word.capitalize()]))
    assert " ".join(run) in NgramIndex.of([" ".join(source)]).copied(dressed + " 2 end")


@given(source=texts, data=st.data())
@settings(max_examples=60)
def test_a_run_one_word_too_short_is_not_found(source: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(source) - NGRAM_WORDS + 1))
    run = source[start : start + NGRAM_WORDS - 1]
    assert NgramIndex.of([" ".join(source)]).copied("7 8 " + " ".join(run) + " 9 10") == ()


@given(source=texts, size=st.integers(1, 12))
@settings(max_examples=40)
def test_every_run_of_an_indexed_text_counts_as_copied(source: list[str], size: int) -> None:
    index = NgramIndex.of([" ".join(source)], size=size)
    assert len(index.copied(" ".join(source))) == max(len(source) - size + 1, 0)


@given(left=texts, right=texts)
@settings(max_examples=40)
def test_an_index_of_several_texts_is_the_union_and_joins_none(left: list[str], right: list[str]) -> None:
    both = NgramIndex.of([" ".join(left), " ".join(right)])
    alone = [NgramIndex.of([" ".join(text)]) for text in (left, right)]
    assert both.hashes == alone[0].hashes | alone[1].hashes


def test_copies_are_named_in_order_of_the_checked_text() -> None:
    index = NgramIndex.of(["one two three four"], size=2)
    assert index.copied("Three, FOUR! one... two") == ("three four", "one two")


def test_an_index_holds_hashes_and_no_text() -> None:
    index = NgramIndex.of(["the secret marker stands among some other quite ordinary words here"])
    assert all(isinstance(item, bytes) and len(item) == 12 for item in index.hashes)
    for held in (repr(index).encode(), pickle.dumps(index)):
        assert b"secret" not in held
        assert b"marker" not in held


@pytest.mark.parametrize("text", ["", "   ", "…!?", "seven words are not enough to count"])
def test_a_text_too_short_has_no_runs(text: str) -> None:
    assert NgramIndex.of([text]).hashes == frozenset()
    assert NgramIndex.of(["a b c d e f g h"]).copied(text) == ()
