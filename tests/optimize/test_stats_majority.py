"""Majority flags over replicates, and the score that decides them at every threshold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.stats.majority import majority_flags, majority_scores

odd = st.sampled_from([1, 3, 5])
scores = odd.flatmap(lambda r: st.lists(st.lists(st.integers(0, 6), min_size=r, max_size=r), min_size=1, max_size=12))


@given(scores=scores, threshold=st.integers(0, 7))
def test_the_deciding_score_is_below_a_threshold_exactly_where_the_majority_is(
    scores: list[list[int]], threshold: int
) -> None:
    values = np.array(scores, dtype=float)
    by_votes = [sum(score < threshold for score in row) > len(row) / 2 for row in scores]
    assert (majority_scores(values) < threshold).tolist() == by_votes
    assert majority_flags(values < threshold).tolist() == [float(flag) for flag in by_votes]


@pytest.mark.parametrize("replicates", [2, 4])
def test_an_even_number_of_replicates_is_refused_with_the_remedy(replicates: int) -> None:
    flags = np.zeros((3, replicates))
    with pytest.raises(
        InputError, match=rf"must be odd .* got {replicates}: .*; run {replicates + 1}, or read the first"
    ):
        majority_flags(flags)
    with pytest.raises(InputError, match="must be odd"):
        majority_scores(flags)


def test_a_missing_replicate_is_no_vote() -> None:
    nan = math.nan
    flags = majority_flags([[1, 1, nan], [0, nan, 0], [1, 0, nan], [nan, nan, 1], [nan, nan, nan]])
    assert flags[:2].tolist() == [1.0, 0.0]
    assert np.isnan(flags[2:]).all()
    assert np.isnan(majority_scores([[0.1, 0.2, nan], [nan, nan, nan]])).all()


def test_one_column_needs_no_second_dimension() -> None:
    assert majority_flags([1, 0]).tolist() == [1.0, 0.0]
    assert majority_scores([0.5, 0.25]).tolist() == [0.5, 0.25]


def test_the_deciding_score_is_no_mean() -> None:
    assert majority_scores([[0.9, 0.9, 0.0]]).tolist() == [0.9]


def test_scores_in_place_of_flags_are_refused() -> None:
    with pytest.raises(InputError, match="flags must be 0, 1 or NaN; compare scores with a threshold first"):
        majority_flags([0.7])
    with pytest.raises(InputError, match=r"shape \(n,\) or \(n, n_replicates\)"):
        majority_flags(np.zeros((2, 1, 1)))
