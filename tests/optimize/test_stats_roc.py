"""The AUC against scikit-learn, the Mann-Whitney statistic, DeLong's variance and degenerate input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lineage.errors import InputError
from optimize.stats.detection import NO_FLAWED
from optimize.stats.results import NO_VARIATION, ONE_GROUP
from optimize.stats.roc import NO_CLEAN_TO_COMPARE, auc

scores = st.lists(st.integers(0, 10).map(lambda k: k / 10), min_size=1, max_size=25)


def alone(flawed: list[float], clean: list[float]) -> dict[str, list[int]]:
    """Every document a group of its own."""
    return {
        "flawed_groups": list(range(len(flawed))),
        "clean_groups": list(range(len(flawed), len(flawed) + len(clean))),
    }


@given(flawed=scores, clean=scores)
def test_auc_is_the_share_of_couples_in_order_with_ties_half(flawed: list[float], clean: list[float]) -> None:
    found = auc(flawed, clean, **alone(flawed, clean))
    by_hand = np.mean([(low < high) + (low == high) / 2 for low in flawed for high in clean])
    assert found.value == pytest.approx(float(by_hand))
    mann_whitney = stats.mannwhitneyu(clean, flawed).statistic / len(flawed) / len(clean)
    assert found.value == pytest.approx(float(mann_whitney))
    assert found.n == len(flawed) + len(clean)


@settings(max_examples=30, deadline=None)
@given(flawed=scores, clean=scores)
def test_auc_equals_scikit_learn(flawed: list[float], clean: list[float]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    expected = metrics.roc_auc_score([1] * len(flawed) + [0] * len(clean), [-score for score in flawed + clean])
    assert auc(flawed, clean, **alone(flawed, clean)).value == pytest.approx(expected)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 999))
def test_without_groups_the_error_is_delongs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = 40, 30
    flawed, clean = rng.normal(0, 1, size=m), rng.normal(0.5, 1, size=n)
    found = auc(flawed, clean, **alone(list(flawed), list(clean)))
    order = (flawed[:, None] < clean[None, :]) * 1.0
    v10, v01 = order.mean(axis=1), order.mean(axis=0)
    # DeLong's variance uses m - 1 and n - 1 of its two samples; ours G/(G-1) of all documents.
    ours = (v10.var() / m + v01.var() / n) * (m + n) / (m + n - 1)
    delong = v10.var(ddof=1) / m + v01.var(ddof=1) / n
    assert found.standard_error == pytest.approx(math.sqrt(ours))
    assert found.standard_error == pytest.approx(math.sqrt(delong), rel=0.03)


def test_the_interval_by_group_covers_the_truth_about_as_often_as_its_level() -> None:
    rng = np.random.default_rng(4)
    covered, runs, groups = 0, 400, 40
    truth = float(stats.norm.cdf(0.8 / math.sqrt(2 * (1 + 0.5))))
    for _ in range(runs):
        shared = rng.normal(0, math.sqrt(0.5), size=groups)
        flawed_groups, clean_groups = np.repeat(np.arange(groups), 3), np.arange(groups)
        flawed = rng.normal(-0.8, 1, size=3 * groups) + shared[flawed_groups]
        clean = rng.normal(0, 1, size=groups) + shared
        covered += auc(flawed, clean, flawed_groups=flawed_groups, clean_groups=clean_groups).interval().contains(truth)
    assert 0.91 < covered / runs < 0.98


def test_no_flawed_or_no_clean_document_leaves_auc_undefined() -> None:
    assert auc([0.1], [], flawed_groups=["a"], clean_groups=[]).reason == NO_CLEAN_TO_COMPARE
    assert auc([], [0.1], flawed_groups=[], clean_groups=["a"]).reason == NO_FLAWED


def test_a_perfect_judge_one_score_and_one_group_have_a_value_without_an_interval() -> None:
    perfect = auc([0.1, 0.2], [0.8, 0.9], flawed_groups=["a", "b"], clean_groups=["a", "b"])
    assert (perfect.value, perfect.interval().reason) == (1.0, NO_VARIATION)
    same = auc([0.5, 0.5], [0.5, 0.5], flawed_groups=["a", "b"], clean_groups=["a", "b"])
    assert (same.value, same.interval().reason) == (0.5, NO_VARIATION)
    one = auc([0.5, 0.2], [0.5], flawed_groups=["a", "a"], clean_groups=["a"])
    assert (one.value, one.interval().reason) == (0.75, ONE_GROUP)


def test_documents_without_a_group_or_a_score_are_refused() -> None:
    with pytest.raises(InputError, match="each document must have one group, got 2 flawed with 1 groups"):
        auc([0.1, 0.2], [0.3], flawed_groups=["a"], clean_groups=["a"])
    with pytest.raises(InputError, match="clean must be finite, got nan at position 0"):
        auc([0.1], [math.nan], flawed_groups=["a"], clean_groups=["a"])
    with pytest.raises(InputError, match="labels of one type"):
        auc([0.1], [0.3], flawed_groups=["a"], clean_groups=[1])
