"""Reading a grade as its expectation under log-probabilities."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from students.parsing import Unread
from students.weighted import parse_expected


def top(**weights: float) -> tuple[tuple[str, float], ...]:
    return tuple((token.removeprefix("_"), math.log(weight)) for token, weight in weights.items())


def test_the_expectation_is_weighted_and_all_spellings_count_together() -> None:
    assert parse_expected(top(_4=0.5, _5=0.5), lowest=1, highest=5) == pytest.approx(4.5)
    spelled = (("4", math.log(0.3)), (" 4", math.log(0.3)), ("**2**", math.log(0.3)), ("Score", math.log(0.1)))
    assert parse_expected(spelled, lowest=1, highest=5) == pytest.approx(10 / 3)


def test_numbers_outside_the_scale_have_no_weight() -> None:
    assert parse_expected(top(_3=0.6, _9=0.2, _0=0.2), lowest=1, highest=5) == pytest.approx(3)


@pytest.mark.parametrize(
    ("given_top", "reason", "seen"),
    [
        ((), "empty", "no log-probabilities"),
        (top(Score=0.9, _4=0.1), "unparseable", "1 to 5 have 0.10 of the probability: 'Score' '4'"),
        ((("4", float("nan")), ("3", float("-inf"))), "unparseable", "1 to 5 have 0.00"),
    ],
)
def test_where_the_scale_has_too_little_of_the_probability_nothing_is_read(
    given_top: tuple[tuple[str, float], ...], reason: str, seen: str
) -> None:
    found = parse_expected(given_top, lowest=1, highest=5)
    assert isinstance(found, Unread)
    assert (found.reason, found.seen[: len(seen)]) == (reason, seen)


@given(st.lists(st.floats(0.01, 1), min_size=5, max_size=5))
def test_an_expectation_lies_on_the_scale_and_agrees_with_arithmetic(weights: list[float]) -> None:
    total = sum(weights)
    tokens = tuple((str(digit), math.log(weight / total)) for digit, weight in enumerate(weights, start=1))
    expected = sum(digit * weight / total for digit, weight in enumerate(weights, start=1))
    assert parse_expected(tokens, lowest=1, highest=5) == pytest.approx(expected, abs=1e-9)
