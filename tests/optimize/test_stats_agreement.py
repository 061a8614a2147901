"""Kappa and AC1 against statsmodels and scikit-learn, their definitions, the published number and degenerate input."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from lineage.errors import InputError
from optimize.stats.agreement import ONE_CATEGORY, Weights, cohen_kappa, gwet_ac1, rating_table
from optimize.stats.group_statistics import rows_statistic
from optimize.stats.resampling import jackknife_interval
from optimize.stats.results import NO_PAIRS, NO_VARIATION

PUBLISHED = Path(__file__).parents[2].parent / "shared" / "omissionbench" / "published_statistics.json"
needs_published = pytest.mark.skipif(not PUBLISHED.exists(), reason=f"the published statistics are not at {PUBLISHED}")

matrices = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 9), min_size=k, max_size=k), min_size=k, max_size=k)
)
weightings = st.sampled_from([None, "linear", "quadratic"])
CATEGORIES = ("low", "middle", "high")


@settings(max_examples=60, deadline=None)
@given(matrix=matrices, weights=weightings)
def test_kappa_and_its_error_equal_statsmodels(matrix: list[list[int]], weights: Weights | None) -> None:
    result = cohen_kappa(matrix, weights=weights)
    assume(not result.reason and result.interval.defined)
    theirs = cohens_kappa(np.array(matrix), wt=weights)
    assert result.value == pytest.approx(theirs.kappa, abs=1e-9)
    n = result.n
    # The large-sample error of Fleiss, Cohen and Everitt, with n/(n-1) and Student's t.
    reach = stats.t.ppf(0.975, n - 1) * theirs.std_kappa * math.sqrt(n / (n - 1))
    assert result.interval.high - result.value == pytest.approx(reach, abs=1e-7)


@settings(max_examples=30, deadline=None)
@given(matrix=matrices, weights=weightings)
def test_kappa_equals_scikit_learn(matrix: list[list[int]], weights: Weights | None) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    result = cohen_kappa(matrix, weights=weights)
    assume(not result.reason)
    k = len(matrix)
    cells = [(i, j) for i in range(k) for j in range(k) for _ in range(matrix[i][j])]
    first, second = zip(*cells, strict=True)
    expected = metrics.cohen_kappa_score(first, second, labels=list(range(k)), weights=weights)
    assert result.value == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(matrix=matrices)
def test_ac1_and_its_error_equal_their_definition_item_by_item(matrix: list[list[int]]) -> None:
    k, n = len(matrix), sum(map(sum, matrix))
    assume(n > 2)
    cells = [(i, j) for i in range(k) for j in range(k) for _ in range(matrix[i][j])]
    use = [sum((i == c) + (j == c) for i, j in cells) / (2 * n) for c in range(k)]
    chance = sum(u * (1 - u) for u in use) / (k - 1)
    agreed = sum(i == j for i, j in cells) / n
    value = (agreed - chance) / (1 - chance)
    squares = 0.0
    for i, j in cells:
        own = (1 - use[i] + 1 - use[j]) / 2 / (k - 1)
        term = ((i == j) - chance) / (1 - chance) - 2 * (1 - value) * (own - chance) / (1 - chance)
        squares += (term - value) ** 2
    result = gwet_ac1(matrix)
    assert (result.value, result.observed, result.expected) == pytest.approx((value, agreed, chance))
    if result.interval.defined:
        reach = stats.t.ppf(0.975, n - 1) * math.sqrt(squares / (n * (n - 1)))
        assert result.interval.high - result.value == pytest.approx(reach, abs=1e-7)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 99), weights=weightings)
def test_the_interval_by_group_agrees_with_the_jackknife(seed: int, weights: Weights | None) -> None:
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(60), 4)
    first = rng.integers(0, 3, size=240)
    second = np.where(rng.random(240) < 0.6, first, rng.integers(0, 3, size=240))
    names = np.array(CATEGORIES)
    table = rating_table(names[first], names[second], categories=CATEGORIES, groups=groups)
    assert table.shape == (60, 3, 3)

    def kappa(rows: np.ndarray) -> float:
        return cohen_kappa(
            rating_table(names[first[rows]], names[second[rows]], categories=CATEGORIES), weights=weights
        ).value

    ours = cohen_kappa(table, weights=weights).interval
    theirs = jackknife_interval(rows_statistic(kappa, groups=groups), 60)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)
    assert ours.n_groups == 60


def test_a_rare_category_lowers_kappa_and_hardly_moves_ac1() -> None:
    rare = [[90, 5], [5, 0]]
    assert cohen_kappa(rare).value < 0.0
    assert gwet_ac1(rare).value > 0.85


def test_perfect_agreement_is_one_without_an_interval() -> None:
    for result in (cohen_kappa([[3, 0], [0, 4]]), gwet_ac1([[3, 0], [0, 4]])):
        assert result.value == 1.0
        assert result.interval.reason == NO_VARIATION


def test_one_category_throughout_leaves_kappa_undefined_and_ac1_at_one() -> None:
    result = cohen_kappa([[5, 0], [0, 0]])
    assert math.isnan(result.value)
    assert result.reason == ONE_CATEGORY
    assert (
        str(result)
        == "Cohen's kappa, unweighted undefined: both raters gave one category throughout, so agreement by chance is "
        "certain; 5 items"
    )
    assert gwet_ac1([[5, 0], [0, 0]]).value == 1.0


def test_no_rated_item_is_undefined() -> None:
    assert cohen_kappa(np.zeros((2, 2), dtype=int)).reason == gwet_ac1(np.zeros((2, 2), dtype=int)).reason == NO_PAIRS


def test_an_agreement_prints_itself_in_words() -> None:
    words = str(cohen_kappa([[3, 1], [0, 4]], weights="linear"))
    assert words.startswith("Cohen's kappa, linear weights 0.750, observed 0.875, expected by chance 0.500, interval ")
    assert words.endswith("8 items in 8 groups")


def test_what_is_no_table_of_counts_is_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(k, k\) or \(n_groups, k, k\), got \(2, 3\)"):
        cohen_kappa([[1, 2, 3], [4, 5, 6]])
    with pytest.raises(InputError, match="whole counts of at least 0"):
        gwet_ac1(np.array([[0.5, 0.1], [0.2, 0.2]]))
    with pytest.raises(InputError, match="weights must be None, 'linear' or 'quadratic', got 'cubic'"):
        cohen_kappa([[1, 2], [3, 4]], weights="cubic")  # type: ignore[arg-type]  # is what is tested
    with pytest.raises(InputError, match="at least two categories, got 1"):
        gwet_ac1([[4]])


def test_a_rating_outside_the_categories_is_refused() -> None:
    with pytest.raises(InputError, match="rating 'none' is not among the categories"):
        rating_table(["low", "none"], ["low", "low"], categories=CATEGORIES)
    with pytest.raises(InputError, match="of one length, got 1, 2 and 1"):
        rating_table(["low"], ["low", "low"], categories=CATEGORIES)
    with pytest.raises(InputError, match="categories must be distinct"):
        rating_table(["low"], ["low"], categories=("low", "low"))


@needs_published
def test_the_published_kappas_are_reproduced() -> None:
    for row in json.loads(PUBLISHED.read_text(encoding="utf-8"))["kappa"]:
        linear, plain = cohen_kappa(row["matrix"], weights="linear"), cohen_kappa(row["matrix"])
        assert round(linear.value, 2) == row["linear_weighted"]
        assert round(plain.value, 2) == row["unweighted"]
        assert (linear.observed, linear.expected) == pytest.approx((row["observed_weighted"], row["expected_weighted"]))
