"""Combining samples: the winsorised mean against arithmetic done by hand, and against a second implementation."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.mstats import winsorize

from students.answers import Reading
from students.combining import combined_reading, mean, winsorised_mean

EIGHT = st.lists(st.integers(0, 10), min_size=8, max_size=8)


def of(*values: float) -> Fraction:
    return winsorised_mean([Fraction(str(value)) for value in values])


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((1, 2, 3, 4, 5, 6, 7, 8), Fraction(9, 2)),  # 2 2 3 4 5 6 7 7
        ((0, 7, 7, 8, 8, 8, 9, 10), Fraction(63, 8)),  # 7 7 7 8 8 8 9 9
        ((0, 0, 8, 8, 8, 8, 10, 10), Fraction(13, 2)),  # a tie at either end: one of each is replaced by its equal
        ((6, 6, 6, 6, 6, 6, 6, 6), Fraction(6)),
        ((0, 0, 0, 0, 10, 10, 10, 10), Fraction(5)),
        ((0, 10, 10, 10, 10, 10, 10, 10), Fraction(10)),  # one lone FAIL is replaced
        ((0, 0, 10, 10, 10, 10, 10, 10), Fraction(15, 2)),
        ((0, 0, 0, 0, 0, 0, 0, 10), Fraction(0)),
        ((7.5, 8, 8, 8, 8, 8, 8, 8.5), Fraction(8)),
    ],
)
def test_the_winsorised_mean_of_eight_replaces_the_lowest_and_the_highest_by_their_neighbours(
    scores: tuple[float, ...], expected: Fraction
) -> None:
    assert of(*scores) == expected
    assert of(*reversed(scores)) == expected


@given(EIGHT)
def test_the_winsorised_mean_is_that_of_a_second_implementation(scores: list[int]) -> None:
    theirs = float(np.mean(winsorize(np.array(scores, dtype=float), limits=(1 / 8, 1 / 8))))
    assert float(of(*scores)) == pytest.approx(theirs, abs=1e-12)


@given(EIGHT, st.integers(0, 10))
def test_no_single_wild_sample_takes_it_outside_the_others(scores: list[int], wild: int) -> None:
    rest = scores[1:]
    assert min(rest) <= of(wild, *rest) <= max(rest)


@given(st.lists(st.integers(0, 10), min_size=1, max_size=10))
def test_the_mean_is_the_mean(scores: list[int]) -> None:
    assert float(mean([Fraction(score) for score in scores])) == pytest.approx(fmean(scores))


def test_one_unread_sample_fails_the_judgement_and_else_one_that_abstains_makes_it_abstain() -> None:
    scored = [Reading("scored", 8.0)] * 6
    abstained, failed = Reading("abstained", None, "abstained: x"), Reading("failed", None, "empty: x")
    assert combined_reading([*scored, abstained, failed], winsorised_mean) is failed
    assert combined_reading([*scored, Reading("scored", 1.0), abstained], winsorised_mean) is abstained


def test_parts_are_averaged_and_a_single_reading_is_itself() -> None:
    one, two = Reading("scored", 0.2, parts={"a": 0.1}), Reading("scored", 0.4, parts={"a": 0.2})
    assert combined_reading([one], mean) is one
    found = combined_reading([one, two], mean)
    assert (found.score, found.parts) == (0.3, {"a": 0.15})
