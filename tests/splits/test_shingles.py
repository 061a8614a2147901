"""Codes of runs of words depend on the words alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splits.shingles import Shingler, has_words, same_words, words_of

words = st.lists(st.text("abcdefgh", min_size=1, max_size=3), max_size=20)


@given(text=words, size=st.integers(1, 5))
@settings(max_examples=30)
def test_there_is_a_code_for_each_run_and_equal_runs_alone_share_one(text: list[str], size: int) -> None:
    codes = Shingler(size).runs(" ".join(text)).tolist()
    runs = [tuple(text[start : start + size]) for start in range(len(text) - size + 1)]
    assert len(codes) == len(runs)
    assert len(set(codes)) == len(set(runs))
    assert dict(zip(runs, codes, strict=True)) == dict(zip(reversed(runs), reversed(codes), strict=True))


@given(first=words, second=words)
@settings(max_examples=20)
def test_what_a_shingler_has_seen_before_changes_no_code(first: list[str], second: list[str]) -> None:
    used = Shingler(2)
    used.runs(" ".join(first))
    assert used.runs(" ".join(second)).tolist() == Shingler(2).runs(" ".join(second)).tolist()


def test_case_punctuation_and_space_do_not_matter() -> None:
    plain, dressed = (Shingler(3).runs(text) for text in ("it is 38 7 today", "It IS  (38.7)\ntoday!"))
    assert plain.tolist() == dressed.tolist()


@pytest.mark.parametrize(("text", "count"), [("", 0), ("...", 0), ("one", 1), ("one two", 1), ("a b c d", 2)])
def test_a_text_shorter_than_a_shingle_is_one_and_one_without_a_word_is_none(text: str, count: int) -> None:
    assert len(Shingler(3).shingles(text)) == count


def test_shingles_rise_and_come_once() -> None:
    found = Shingler(1).shingles("b a b a c")
    assert len(found) == 3
    assert np.all(np.diff(found.astype(object)) > 0)


def test_words_of_any_script_are_words() -> None:
    assert words_of("Zürich, 日本 — Привет_1") == ["zürich", "日本", "привет_1"]


dressed = st.lists(st.sampled_from(["Rest", "rest", "é", "日本", "_", "1", ", ", ".", " ", "\n", "\N{EN DASH}"])).map(
    "".join
)


@given(a=dressed, b=dressed)
@settings(max_examples=40, deadline=None)
def test_texts_have_the_same_words_if_they_are_cut_into_the_same(a: str, b: str) -> None:
    assert same_words(a, b) == (words_of(a) == words_of(b))
    assert same_words(a, f" {a.upper().swapcase()}. ") == (words_of(a) == words_of(a.upper().swapcase()))


@given(text=dressed, least=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_a_text_has_words_enough_or_not(text: str, least: int) -> None:
    assert has_words(text, least) == (len(words_of(text)) >= least)


def test_half_a_surrogate_pair_has_a_code_too() -> None:
    assert len(Shingler(1).runs("a \ud800b")) >= 1
