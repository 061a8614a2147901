"""Linearised statistics against the linearised mean, the delta method, the jackknife and degenerate input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from lineage.errors import InputError
from optimize.stats.group_statistics import ratio_statistic
from optimize.stats.grouped import linearised_interval, one_sided_p
from optimize.stats.groups import group_codes
from optimize.stats.influence import difference, mean_of, ratio_influence
from optimize.stats.resampling import jackknife_interval
from optimize.stats.results import NO_PAIRS, NO_VARIATION, ONE_GROUP

rows = st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 9)), min_size=2, max_size=40)


@given(rows=rows, level=st.sampled_from([0.8, 0.95]))
def test_a_ratio_over_ones_is_the_linearised_mean(rows: list[tuple[float, int]], level: float) -> None:
    values, groups = [row[0] for row in rows], [row[1] for row in rows]
    ours, theirs = (
        ratio_influence(values, groups).interval(level=level),
        linearised_interval(values, groups, level=level),
    )
    assert (ours.reason, ours.n_groups, ours.method) == (theirs.reason, theirs.n_groups, theirs.method)
    if ours.defined:
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
        test, expected = ratio_influence(values, groups).test(null=0.2), one_sided_p(values, groups, null=0.2)
        assert (test.p, test.statistic) == pytest.approx((expected.p, expected.statistic))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 500))
def test_a_weighted_ratio_has_the_error_of_the_delta_method(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups, weights = np.repeat(np.arange(30), 3), rng.choice([4.0, 2.0, 1.0], size=90)
    flags = rng.integers(0, 2, size=90).astype(float)
    found = ratio_influence(weights * flags, groups, denominators=weights)
    tops, bottoms = (np.bincount(groups, weights=x) for x in (weights * flags, weights))
    ratio = tops.sum() / bottoms.sum()
    # The variance of a ratio of two means by the delta method, with G - 1.
    covariance = np.cov(tops, bottoms, ddof=1)
    gradient = np.array([1.0, -ratio]) / bottoms.mean()
    assert found.value == pytest.approx(ratio)
    assert found.standard_error == pytest.approx(math.sqrt(gradient @ covariance @ gradient / 30))
    jackknife = jackknife_interval(ratio_statistic(tops, bottoms), 30)
    assert found.interval().low == pytest.approx(jackknife.low, abs=0.02)


@given(rows=st.lists(st.tuples(*[st.sampled_from([0.0, 0.5, 1.0])] * 2, st.integers(0, 6)), min_size=3, max_size=30))
def test_a_difference_of_statistics_is_the_statistic_of_differences(rows: list[tuple[float, float, int]]) -> None:
    ours, theirs, groups = (np.array(column) for column in zip(*rows, strict=True))
    gap = difference(ratio_influence(ours, groups), ratio_influence(theirs, groups))
    paired = linearised_interval(ours - theirs, groups)
    assert gap.value == pytest.approx(float(np.mean(ours - theirs)))
    assume(paired.defined and gap.interval().defined)
    assert (gap.interval().low, gap.interval().high) == pytest.approx((paired.low, paired.high), abs=1e-9)


def test_a_difference_of_independent_groups_adds_the_variances() -> None:
    first, second = ratio_influence([0, 1, 1, 0], list("abcd")), ratio_influence([1, 1, 0, 1], list("efgh"))
    gap = difference(first, second)
    assert gap.n_groups == 8
    # Each variance has G/(G-1) of its own 4 groups, and the difference that of all 8.
    total = (first.standard_error**2 + second.standard_error**2) * (3 / 4) * (8 / 7)
    assert gap.standard_error == pytest.approx(math.sqrt(total))


def test_the_mean_of_a_statistic_with_itself_is_the_statistic() -> None:
    one = ratio_influence([0, 1, 1], ["a", "b", "b"])
    both = mean_of([one, one])
    assert both.value == one.value
    assert both.n == one.n
    assert both.standard_error == pytest.approx(one.standard_error)


def test_two_arms_that_agree_exactly_have_a_difference_of_zero_without_an_interval() -> None:
    one = ratio_influence([0.1, 0.7, 0.3], ["a", "b", "b"])
    gap = difference(one, one)
    assert gap.value == 0.0
    assert gap.interval().reason == NO_VARIATION
    assert gap.test(alternative="two-sided").reason == NO_VARIATION


def test_the_two_sided_p_is_the_dual_of_the_interval() -> None:
    found = ratio_influence([1, 0, 1, 1, 1, 0], list("aabbcd"))
    p = found.test(null=0.3, alternative="two-sided").p
    assert found.interval(level=1 - p).low == pytest.approx(0.3)
    assert found.test(null=0.3).p == pytest.approx(p / 2)
    assert found.test(null=0.3, alternative="less").p == pytest.approx(1 - p / 2)
    assert p == pytest.approx(2 * stats.t.sf(found.test(null=0.3).statistic, 3))


def test_degenerate_statistics_say_why_they_have_no_interval() -> None:
    assert ratio_influence([], []).reason == NO_PAIRS
    assert ratio_influence([0.0], ["a"], denominators=[0.0]).reason == NO_PAIRS
    assert ratio_influence([1, 0], ["a", "a"]).interval().reason == ONE_GROUP
    undefined = difference(ratio_influence([], []), ratio_influence([1, 0], ["a", "b"]))
    assert undefined.reason == undefined.interval().reason == NO_PAIRS
    assert undefined.estimate().reason == NO_PAIRS


def test_groups_of_different_types_and_bad_shapes_are_refused() -> None:
    with pytest.raises(InputError, match="labels of one type"):
        difference(ratio_influence([1, 0], ["a", "b"]), ratio_influence([1, 0], [0, 1]))
    with pytest.raises(InputError, match="one label and one denominator per observation"):
        ratio_influence([1, 0], ["a", "b"], denominators=[1.0])
    with pytest.raises(InputError, match="denominators at least 0"):
        ratio_influence([1, 0], ["a", "b"], denominators=[1.0, -1.0])
    with pytest.raises(InputError, match="at least one statistic"):
        mean_of([])


@given(labels=st.lists(st.integers(0, 50), max_size=30))
def test_codes_of_whole_numbers_equal_those_of_sorting(labels: list[int]) -> None:
    coded = group_codes(np.array(labels, dtype=np.intp))
    names, codes = np.unique(np.array(labels, dtype=np.intp), return_inverse=True)
    assert coded.names.tolist() == names.tolist()
    assert coded.codes.tolist() == codes.tolist()
    assert group_codes([f"{label:02}" for label in labels]).codes.tolist() == codes.tolist()
