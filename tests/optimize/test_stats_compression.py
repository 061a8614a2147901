"""Score compression: distinct values, the most frequent one, entropy and tie mass."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lineage.errors import InputError
from optimize.stats.compression import score_compression
from optimize.stats.grouped import grouped_mean
from optimize.stats.results import NO_PAIRS


@given(scores=st.lists(st.integers(0, 10), min_size=1, max_size=60))
def test_counts_and_entropy_equal_scipys(scores: list[int]) -> None:
    result, counts = score_compression(scores), Counter(scores)
    assert result.n_distinct == len(counts)
    assert result.top_share == max(counts.values()) / len(scores)
    assert result.entropy == pytest.approx(stats.entropy(list(counts.values()), base=2), abs=1e-9)
    assert 0.0 <= result.entropy <= math.log2(result.n_distinct) + 1e-9


def test_the_tie_mass_is_the_grouped_share_of_level_pairs() -> None:
    tied, groups = [1, 0, 0, 1, 1], ["a", "a", "b", "b", "c"]
    result, expected = score_compression([0.5, 0.9], tied=tied, pair_groups=groups), grouped_mean(tied, groups)
    assert (result.value, result.ties, result.n_pairs, result.n_groups) == (0.6, 3, 5, 3)
    assert result.interval.low == pytest.approx(expected.interval.low)


def test_one_score_throughout_has_no_entropy() -> None:
    result = score_compression([7.0] * 5, tied=np.ones(3), pair_groups=["a", "b", "c"])
    assert (result.n_distinct, result.top_score, result.top_share, result.entropy) == (1, 7.0, 1.0, 0.0)
    assert result.value == 1.0
    assert str(result).startswith(
        "1 distinct scores among 5, 1.000 of them 7, entropy 0.00 bits; tie mass 1.000 (3 of 3"
    )


def test_no_score_and_no_pair_are_undefined_with_a_reason() -> None:
    nothing = score_compression([])
    assert nothing.reason == nothing.tie_mass.reason == NO_PAIRS
    assert str(nothing) == f"score compression undefined: {NO_PAIRS}"
    assert f"tie mass undefined: {NO_PAIRS}" in str(score_compression([0.5]))


def test_a_missing_score_is_refused_rather_than_counted_as_a_value() -> None:
    with pytest.raises(InputError, match="scores must be finite, got nan at position 1"):
        score_compression([0.5, math.nan])
