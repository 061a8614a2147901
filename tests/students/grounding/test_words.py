"""Words and what they say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from students.grounding.words import content_of, words_of


def keys(text: str) -> list[str]:
    return [word.key for word in words_of(text)]


def stems(text: str) -> list[str]:
    return [part.stem for part in content_of(words_of(text))]


@given(st.text(max_size=80), st.integers(0, 5))
def test_words_lie_within_the_text_in_order(text: str, start: int) -> None:
    at = start
    for word in words_of(text, start=start):
        assert at <= word.start < word.end <= start + len(text)
        at = word.end


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("isn't", ["is", "not"]),
        ("Can\u2019t", ["can", "not"]),
        ("cannot", ["can", "not"]),
        ("won't", ["will", "not"]),
        ("doesnt", ["does", "not"]),
        ("non-tender x-ray", ["non", "tender", "x", "ray"]),
        ("mother's", ["mother"]),
        ("well - not ill", ["well", "-", "not", "ill"]),
    ],
)
def test_contractions_are_written_out_and_hyphens_within_words_fall_away(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("allergies", "allergic"),
        ("swollen", "swelling"),
        ("shortness of breath", "breathless"),
        ("oedema", "edema"),
        ("500mg", "500 milligrams"),
        ("1,000 mg", "1000 mg"),
        ("2.50 mg", "2.5 mg"),
        ("two tablets", "2 tablets"),
        ("evidence of pneumonia on chest x-ray", "pneumonia"),
        ("drinks alcohol", "alcohol"),
        ("both knees", "bilateral knees"),
    ],
)
def test_what_means_the_same_is_compared_as_the_same(one: str, other: str) -> None:
    assert stems(one) == stems(other) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [("left knee", "right knee"), ("5 mg", "5 mcg"), ("5 mg", "50 mg"), ("hypertension", "hypotension")],
)
def test_what_differs_stays_apart(one: str, other: str) -> None:
    assert stems(one) != stems(other)
