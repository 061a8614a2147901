"""Accuracy by question type: counts, both intervals, and never the overall share alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.stats.accuracy import accuracy_by_type
from optimize.stats.classical import wilson
from optimize.stats.grouped import grouped_mean
from optimize.stats.results import NO_PAIRS

answers = st.lists(
    st.tuples(st.booleans(), st.sampled_from(["dose", "negation", "time"]), st.integers(0, 5)), min_size=1
)


@settings(max_examples=30, deadline=None)
@given(answers=answers)
def test_every_type_has_its_counts_and_both_intervals(answers: list[tuple[bool, str, int]]) -> None:
    right, kinds, groups = (np.array(column) for column in zip(*answers, strict=True))
    result = accuracy_by_type(right, kinds, groups)
    assert [entry.name for entry in result.types] == sorted(set(kinds.tolist()))
    assert sum(entry.correct for entry in result.types) == result.overall.correct == right.sum()
    assert sum(entry.n for entry in result.types) == result.overall.n == len(answers)
    for entry in result.types:
        rows = kinds == entry.name
        expected = grouped_mean(right[rows], groups[rows])
        assert entry.value == pytest.approx(expected.value)
        assert (entry.interval.reason, entry.n_groups) == (expected.interval.reason, expected.n_groups)
        if entry.interval.defined:
            assert entry.interval.low == pytest.approx(expected.interval.low, abs=1e-9)
        assert entry.wilson == wilson(entry.correct, entry.n)


def test_a_good_overall_share_does_not_hide_the_type_that_fails() -> None:
    result = accuracy_by_type([1] * 18 + [0] * 2, ["dose"] * 18 + ["negation"] * 2, list("abcdefghij") * 2)
    assert result.overall.value == 0.9
    assert result.least.name == "negation"
    assert "negation 0.000 (0 of 2 in 2 groups)" in str(result)
    assert [row[:5] for row in result.rows()] == [
        ("dose", "18", "18", "10", "1.000"),
        ("negation", "0", "2", "2", "0.000"),
        ("all types", "18", "20", "10", "0.900"),
    ]


def test_no_question_is_undefined_with_a_reason() -> None:
    result = accuracy_by_type([], [], [])
    assert math.isnan(result.overall.value)
    assert result.least is result.overall
    assert result.overall.reason == NO_PAIRS
    assert str(result) == f"accuracy by question type: all types undefined: {NO_PAIRS}"


def test_an_answer_that_is_neither_right_nor_wrong_is_refused() -> None:
    with pytest.raises(InputError, match="correct must be 0 or 1; leave unanswered questions out"):
        accuracy_by_type([math.nan], ["dose"], ["a"])
    with pytest.raises(InputError, match="of one shape"):
        accuracy_by_type([1, 0], ["dose"], ["a", "b"])
