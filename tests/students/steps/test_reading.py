"""Reading one step: signs among log-probabilities, votes, and what is no verdict."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from students.parsing import Unread
from students.steps import StepRead, of_votes, parse_sign, parse_vote
from students.steps.reading import log_logistic

margins = st.floats(-600, 600)


def signs(plus: float, minus: float, *others: tuple[str, float]) -> tuple[tuple[str, float], ...]:
    return (("+", math.log(plus)), ("-", math.log(minus)), *others)


def test_the_probability_of_plus_is_against_minus_alone() -> None:
    found = parse_sign(signs(0.6, 0.2, ("The", math.log(0.2))))
    assert isinstance(found, StepRead)
    assert found.p == pytest.approx(0.75)
    assert found.log_p == pytest.approx(math.log(0.75))


def test_spellings_of_a_sign_count_together() -> None:
    spelled = ((" +", math.log(0.3)), ("+\n", math.log(0.3)), ("\u2212", math.log(0.2)), ("-", math.log(0.2)))
    found = parse_sign(spelled)
    assert isinstance(found, StepRead)
    assert found.p == pytest.approx(0.6)


def test_a_sign_that_is_not_listed_is_bounded_by_what_the_list_leaves_over() -> None:
    found = parse_sign((("+", math.log(0.999)),))
    assert isinstance(found, StepRead)
    assert 0.99 < found.p < 1
    assert found.log_p < 0


@pytest.mark.parametrize(
    ("top", "reason", "seen"),
    [
        ((), "empty", "no log-probabilities"),
        ((("The", -0.1), ("+", -3.0)), "unparseable", "have 0.050 of the probability: 'The' '+'"),
        ((("Yes", -0.1), ("No", -3.0)), "unparseable", "have 0.000"),
        ((("+", math.nan), ("-", -math.inf)), "unparseable", "have 0.000"),
        ((("++", -0.1), ("-1", -3.0)), "unparseable", "have 0.000"),
    ],
)
def test_what_is_not_mostly_a_sign_is_not_read(top: tuple[tuple[str, float], ...], reason: str, seen: str) -> None:
    found = parse_sign(top)
    assert isinstance(found, Unread)
    assert found.reason == reason
    assert seen in found.seen


@pytest.mark.parametrize(
    ("text", "vote"), [("+", True), (" + \n", True), ("**-**", False), ("\u2212", False), ("+.", True)]
)
def test_a_vote_is_one_sign_alone(text: str, vote: bool) -> None:
    assert parse_vote(text) is vote


@pytest.mark.parametrize("text", [None, "", "  ", "+ because it was said", "+-", "yes", "1", "- Rest."])
def test_anything_else_is_no_vote(text: str | None) -> None:
    assert isinstance(parse_vote(text), Unread)


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_votes_are_never_taken_for_certainty_and_rise_with_their_count(votes: list[bool]) -> None:
    found = of_votes(votes)
    assert 0 < found.p < 1
    assert found.log_p == math.log(found.p)
    assert found.margin is None
    assert of_votes([*votes, True]).p > found.p > of_votes([*votes, False]).p
    assert abs(found.p + of_votes([not vote for vote in votes]).p - 1) < 1e-12


@given(margins, margins)
def test_the_logarithm_is_finite_at_most_zero_and_keeps_the_order(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert math.isfinite(log_logistic(low))
    assert log_logistic(low) <= log_logistic(high) <= 0
    if abs(a) < 30:
        assert log_logistic(a) == pytest.approx(math.log(1 / (1 + math.exp(-a))), abs=1e-12)
