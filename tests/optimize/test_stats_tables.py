"""Tests on two-by-two tables against scipy, statsmodels, closed forms, the published numbers and degenerate input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportions_ztest

from lineage.errors import InputError
from optimize.stats.classical import exact_mcnemar
from optimize.stats.results import NO_PAIRS, Alternative
from optimize.stats.tables import (
    EMPTY_SAMPLE,
    ONE_OUTCOME,
    boschloo,
    fisher_exact,
    mid_p_mcnemar,
    two_proportion_z,
)

PUBLISHED = Path(__file__).parents[2].parent / "shared" / "omissionbench" / "published_statistics.json"
needs_published = pytest.mark.skipif(not PUBLISHED.exists(), reason=f"the published statistics are not at {PUBLISHED}")

tables = st.lists(st.integers(0, 14), min_size=4, max_size=4).map(lambda c: [c[:2], c[2:]])
alternatives = st.sampled_from(["greater", "less", "two-sided"])
samples = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def published(key: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(PUBLISHED.read_text(encoding="utf-8"))[key]
    return rows


@given(table=tables.filter(lambda t: sum(map(sum, t)) > 0), alternative=alternatives)
def test_fisher_equals_the_hypergeometric_tails(table: list[list[int]], alternative: Alternative) -> None:
    (a, b), (c, d) = table
    law = stats.hypergeom(a + b + c + d, a + c, a + b)
    probabilities = law.pmf(np.arange(0, a + b + 1))
    expected = {
        "greater": law.sf(a - 1),
        "less": law.cdf(a),
        "two-sided": probabilities[probabilities <= law.pmf(a) * (1 + 1e-7)].sum(),
    }[alternative]
    assert fisher_exact(table, alternative=alternative).p == pytest.approx(expected, abs=1e-9)
    swapped = {"greater": "less", "less": "greater", "two-sided": "two-sided"}[alternative]
    mirrored = fisher_exact(table[::-1], alternative=swapped)  # type: ignore[arg-type]  # is an alternative
    assert mirrored.p == pytest.approx(expected, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(first=samples, second=samples)
def test_boschloo_is_scipys_of_samples_in_rows_and_never_above_fishers(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    table = np.array([[first[0], first[1] - first[0]], [second[0], second[1] - second[0]]])
    result = boschloo(table, alternative="greater")
    assert result.p == pytest.approx(min(stats.boschloo_exact(table.T, alternative="greater").pvalue, 1.0), abs=1e-9)
    # Uniformly more powerful than Fisher's test, whose p is its statistic.
    assert result.p <= fisher_exact(table, alternative="greater").p + 1e-6


def test_boschloo_reads_samples_in_rows() -> None:
    by_rows = boschloo([[7, 1], [7, 5]])
    assert by_rows.p == pytest.approx(stats.boschloo_exact([[7, 7], [1, 5]]).pvalue, abs=1e-9)
    assert by_rows.p != pytest.approx(boschloo([[7, 7], [1, 5]]).p, abs=1e-3)


@given(b=st.integers(0, 40), c=st.integers(0, 40))
def test_mid_p_is_the_exact_p_less_the_probability_of_the_observed_table(b: int, c: int) -> None:
    result, law = mid_p_mcnemar(b, c), stats.binom(b + c, 0.5)
    expected = 2 * (law.cdf(min(b, c)) - law.pmf(min(b, c)) / 2)
    assert result.p == pytest.approx(expected, abs=1e-12)
    assert 0.0 < result.p <= min(exact_mcnemar(b, c).p, 1.0)
    assert mid_p_mcnemar(c, b) == result


def test_mid_p_without_a_discordant_pair_or_balanced_is_one() -> None:
    assert mid_p_mcnemar(0, 0).p == mid_p_mcnemar(6, 6).p == 1.0


@given(first=samples, second=samples, alternative=alternatives)
def test_the_z_test_equals_statsmodels(
    first: tuple[int, int], second: tuple[int, int], alternative: Alternative
) -> None:
    result = two_proportion_z(*first, *second, alternative=alternative)
    if first[0] + second[0] in (0, first[1] + second[1]):
        assert result.reason == ONE_OUTCOME
        return
    theirs = {"greater": "larger", "less": "smaller", "two-sided": "two-sided"}[alternative]
    z, p = proportions_ztest([first[0], second[0]], [first[1], second[1]], alternative=theirs)
    assert (result.statistic, result.p) == pytest.approx((z, p), abs=1e-12)
    pooled = (first[0] + second[0]) / (first[1] + second[1])
    by_hand = (first[0] / first[1] - second[0] / second[1]) / math.sqrt(
        pooled * (1 - pooled) * (1 / first[1] + 1 / second[1])
    )
    assert result.statistic == pytest.approx(by_hand, abs=1e-9)


def test_counts_pooled_over_replicates_say_so_and_count_units_once() -> None:
    result = two_proportion_z(175, 879, 7, 336, replicates=3)
    assert "pooled over 3 replicates: units are not independent" in result.method
    assert result.n_groups == (879 + 336) // 3
    assert "pooled over" not in two_proportion_z(16, 48, 1, 20).method
    # The number itself is what was asked for; only its words differ.
    assert result.p == two_proportion_z(175, 879, 7, 336).p


def test_counts_that_cannot_be_of_whole_replicates_are_refused() -> None:
    with pytest.raises(InputError, match="n1 must be a multiple of replicates, got 48 over 5"):
        two_proportion_z(16, 48, 1, 20, replicates=5)
    with pytest.raises(InputError, match="k2 must be at most n2, got 21 of 20"):
        two_proportion_z(16, 48, 21, 20)
    with pytest.raises(InputError, match="replicates must be a whole number of at least 1, got 0"):
        two_proportion_z(16, 48, 1, 20, replicates=0)


def test_degenerate_tables_are_undefined_with_a_reason_or_one() -> None:
    assert fisher_exact([[0, 0], [0, 0]]).reason == boschloo([[0, 0], [0, 0]]).reason == NO_PAIRS
    assert two_proportion_z(0, 0, 0, 0).reason == NO_PAIRS
    assert boschloo([[0, 0], [3, 2]]).reason == two_proportion_z(0, 0, 3, 5).reason == EMPTY_SAMPLE
    # k = 0 and k = n in both samples: no table is less extreme.
    for table in ([[0, 4], [0, 5]], [[4, 0], [5, 0]]):
        assert fisher_exact(table).p == boschloo(table).p == 1.0
    assert two_proportion_z(0, 4, 0, 5).reason == two_proportion_z(4, 4, 5, 5).reason == ONE_OUTCOME


def test_a_table_of_another_shape_or_with_a_negative_count_is_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(2, 2\), one row a sample, got \(2, 3\)"):
        fisher_exact([[1, 2, 3], [4, 5, 6]])
    with pytest.raises(InputError, match="a count of the table must be a whole number of at least 0, got -1"):
        boschloo([[1, -1], [2, 3]])


@needs_published
def test_the_published_fisher_and_z_are_reproduced() -> None:
    for row in published("fisher_two_sided"):
        assert round(fisher_exact(row["table"]).p, 2) == row["p"]
    for row in published("two_proportion_z"):
        places = len(repr(row["z"]).split(".")[1])
        z = two_proportion_z(row["k1"], row["n1"], row["k2"], row["n2"]).statistic
        assert round(z, places) == row["z"], row
