"""The fronts of scipy and statsmodels against the other library, closed forms and the published numbers."""

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
from statsmodels.stats.proportion import proportion_confint

from lineage.errors import InputError
from optimize.stats.classical import exact_mcnemar, holm, sign_test, wilson
from optimize.stats.results import NO_PAIRS

PUBLISHED = Path(__file__).parents[2].parent / "shared" / "omissionbench" / "published_statistics.json"
needs_published = pytest.mark.skipif(not PUBLISHED.exists(), reason=f"the published statistics are not at {PUBLISHED}")

counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def published(key: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(PUBLISHED.read_text(encoding="utf-8"))[key]
    return rows


@given(counts=counts, level=st.floats(0.5, 0.999))
def test_wilson_equals_statsmodels(counts: tuple[int, int], level: float) -> None:
    interval = wilson(*counts, level=level)
    expected = proportion_confint(*counts, alpha=1 - level, method="wilson")
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-9)
    assert 0.0 <= interval.low <= counts[0] / counts[1] <= interval.high <= 1.0


def test_wilson_of_none_and_of_all_touches_the_end_of_the_scale() -> None:
    assert wilson(0, 10).low == 0.0
    assert wilson(10, 10).high == 1.0
    assert wilson(0, 10).high == pytest.approx(1 - wilson(10, 10).low)


def test_wilson_of_no_trials_is_undefined() -> None:
    assert wilson(0, 0).reason == NO_PAIRS


def test_wilson_refuses_more_successes_than_trials() -> None:
    with pytest.raises(InputError, match="k must be at most n, got k = 3 and n = 2"):
        wilson(3, 2)
    with pytest.raises(InputError, match="k must be a whole number of at least 0, got -1"):
        wilson(-1, 2)


@given(wins=st.integers(0, 60), losses=st.integers(0, 60))
def test_the_sign_test_equals_the_binomial_tails(wins: int, losses: int) -> None:
    n = wins + losses
    greater = sign_test(wins, losses, alternative="greater").p
    assert greater == pytest.approx(float(stats.binom.sf(wins - 1, n, 0.5)), abs=1e-12)
    assert sign_test(losses, wins, alternative="less").p == pytest.approx(greater, abs=1e-12)
    assert sign_test(wins, losses).p == pytest.approx(exact_mcnemar(wins, losses).p, abs=1e-12)


def test_the_sign_test_without_a_difference_has_p_one() -> None:
    assert sign_test(0, 0).p == exact_mcnemar(0, 0).p == 1.0


def test_an_unknown_alternative_is_refused() -> None:
    with pytest.raises(InputError, match="alternative must be"):
        sign_test(1, 2, alternative="better")  # type: ignore[arg-type]  # is what is tested


@settings(max_examples=15, deadline=None)
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_equals_its_definition(p: list[float]) -> None:
    expected, floor = np.empty(len(p)), 0.0
    for rank, place in enumerate(np.argsort(p, kind="stable")):
        floor = max(floor, min(1.0, (len(p) - rank) * p[place]))
        expected[place] = floor
    assert holm(p) == pytest.approx(tuple(expected))


def test_holm_refuses_an_undefined_p_rather_than_shrink_the_family() -> None:
    with pytest.raises(InputError, match="got nan at position 1; count an undefined test as 1"):
        holm([0.01, math.nan])
    with pytest.raises(InputError, match="at least one p value"):
        holm([])


@needs_published
def test_wilson_reproduces_every_published_interval() -> None:
    for row in published("wilson95"):
        interval = wilson(row["k"], row["n"])
        half_a_unit = 0.51 * 10 ** -row["places"]
        assert (interval.low, interval.high) == pytest.approx((row["lo"], row["hi"]), abs=half_a_unit), row


@needs_published
def test_mcnemar_reproduces_every_published_p() -> None:
    for row in published("exact_mcnemar_two_sided"):
        assert round(exact_mcnemar(row["b"], row["c"]).p, decimals(row["p"])) == row["p"], row


@needs_published
def test_the_sign_test_reproduces_every_published_p() -> None:
    for row in published("sign_test_two_sided"):
        assert round(sign_test(row["wins"], row["losses"]).p, decimals(row["p"])) == row["p"], row


@needs_published
def test_holm_reproduces_the_published_family_within_the_rounding_of_its_p() -> None:
    for row in published("holm"):
        low, high = (holm([row["smallest_p"] + shift, *[1.0] * (row["family"] - 1)])[0] for shift in (-0.0005, 0.0005))
        assert low <= row["adjusted"] <= high


def decimals(value: float) -> int:
    """Decimal places that a number was printed with."""
    return len(repr(value).split(".")[1])
