"""Documents cut around the places that matter, within a number of tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reflectors.excerpts import CUT, around, estimate_tokens, sentences

NOTE = "HISTORY\nFirst line. Second line. Third line.\nPLAN\n- Fourth line.\n- Fifth line."
TEXTS = st.text(alphabet="ab .\n!é", max_size=200)


def test_tokens_are_a_fourth_of_the_bytes_rounded_up() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "abcd", "abcde", "é" * 4)] == [0, 1, 1, 2, 2]


def test_a_document_that_fits_is_whole() -> None:
    assert around(NOTE, [3], tokens=estimate_tokens(NOTE)) == NOTE


def test_a_document_is_cut_around_the_place_and_says_where() -> None:
    assert around(NOTE, [NOTE.index("Third")], tokens=10) == f"{CUT}\nSecond line. Third line.\n{CUT}"
    assert around(NOTE, [NOTE.index("Fifth")], tokens=11) == f"{CUT}\n- Fourth line.\n- Fifth line."
    assert around(NOTE, [], tokens=9) == f"HISTORY\nFirst line. {CUT}"


def test_several_places_are_kept_with_what_is_between_them_left_out() -> None:
    places = [NOTE.index("First"), NOTE.index("Fifth")]
    assert around(NOTE, places, tokens=13) == f"{CUT}\nFirst line. {CUT} - Fifth line."


def test_where_not_one_sentence_fits_there_is_none() -> None:
    assert around(NOTE, [30], tokens=1) == ""
    assert around("", [0], tokens=0) == ""


@given(TEXTS, st.lists(st.integers(0, 220), max_size=3), st.integers(0, 60))
def test_what_is_kept_is_of_the_document_in_order_and_within_the_bound(
    text: str, places: list[int], bound: int
) -> None:
    shown = around(text, places, tokens=bound)
    assert estimate_tokens(shown) <= bound
    assert shown == text or CUT in shown or shown == ""
    start = 0
    for piece in shown.split(CUT):
        start = text.index(piece.strip(), start) + len(piece.strip())


@given(TEXTS)
def test_sentences_are_the_whole_text_in_order(text: str) -> None:
    assert "".join(text[slice(*unit)] for unit in sentences(text)) == text
