"""Calibration against scikit-learn, its definition, simulated calibrated judges and degenerate input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.stats.grouped import grouped_mean
from optimize.stats.reliability import Binning, calibration
from optimize.stats.results import NO_PAIRS

cases = st.lists(st.tuples(st.integers(0, 20).map(lambda k: k / 20), st.integers(0, 1)), min_size=1, max_size=60)


@settings(max_examples=40, deadline=None)
@given(cases=cases, binning=st.sampled_from(["equal-width", "equal-mass"]), bins=st.sampled_from([1, 5, 10]))
def test_table_and_brier_score_equal_scikit_learn(cases: list[tuple[float, int]], binning: Binning, bins: int) -> None:
    curves, metrics = pytest.importorskip("sklearn.calibration"), pytest.importorskip("sklearn.metrics")
    stated, true = (np.array(column, dtype=float) for column in zip(*cases, strict=True))
    result = calibration(stated, true, np.arange(len(cases)), bins=bins, binning=binning)
    assert result.brier == pytest.approx(np.mean((stated - true) ** 2))
    if len(set(true.tolist())) == 2:
        assert result.brier == pytest.approx(metrics.brier_score_loss(true, stated))
        if binning == "equal-width":
            rates, means = curves.calibration_curve(true, stated, n_bins=bins, strategy="uniform")
            assert [entry.rate for entry in result.bins] == pytest.approx(rates.tolist())
            assert [entry.mean_probability for entry in result.bins] == pytest.approx(means.tolist())
    by_hand = sum(entry.n * abs(entry.mean_probability - entry.rate) for entry in result.bins) / len(cases)
    assert result.ece == pytest.approx(by_hand)
    assert sum(entry.n for entry in result.bins) == result.n == len(cases)


def test_the_ece_by_chance_is_about_what_calibrated_judges_show() -> None:
    rng = np.random.default_rng(6)
    stated = rng.random(300)
    shown = [calibration(stated, rng.random(300) < stated, np.arange(300)) for _ in range(300)]
    assert np.mean([result.ece for result in shown]) == pytest.approx(shown[0].ece_by_chance, rel=0.05)


def test_a_judge_that_always_states_the_base_rate_is_calibrated_and_useless() -> None:
    result = calibration([0.25] * 8, [1, 1, 0, 0, 0, 0, 0, 0], list("aabbccdd"))
    assert result.ece == 0.0
    assert result.brier == pytest.approx(0.25 * 0.75)


def test_a_confident_and_wrong_judge_has_an_ece_and_a_brier_score_of_one() -> None:
    result = calibration([1.0, 0.0], [0, 1], ["a", "b"])
    assert (result.ece, result.brier) == (1.0, 1.0)


def test_the_brier_score_has_the_interval_of_its_mean_by_group() -> None:
    stated, true, groups = [0.9, 0.4, 0.7, 0.2], [1, 1, 0, 0], ["a", "a", "b", "c"]
    expected = grouped_mean(np.square(np.array(stated) - np.array(true)), groups).interval
    found = calibration(stated, true, groups).brier_interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_equal_probabilities_fill_one_bin_of_equal_mass() -> None:
    result = calibration([0.5] * 4, [1, 0, 1, 0], list("abcd"), binning="equal-mass")
    assert [(entry.n, entry.rate) for entry in result.bins] == [(4, 0.5)]
    assert result.method == "1 equal-mass bins"


def test_a_calibration_states_its_binning_in_words_and_rows() -> None:
    result = calibration([0.05, 0.95], [0, 1], ["a", "b"], bins=10)
    assert "expected calibration error 0.050 (10 equal-width bins; about " in str(result)
    assert result.rows()[0][:4] == ("0.00 to 0.10", "1", "0.050", "0.000")


def test_no_probability_is_undefined_with_a_reason() -> None:
    for binning in ("equal-width", "equal-mass"):
        result = calibration([], [], [], binning=binning)  # type: ignore[arg-type]  # a literal in a loop
        assert math.isnan(result.ece)
        assert result.reason == NO_PAIRS
        assert str(result) == f"calibration undefined: {NO_PAIRS}"


def test_what_is_no_probability_or_outcome_is_refused() -> None:
    with pytest.raises(InputError, match=r"probabilities must be in \[0, 1\]; a score on another scale"):
        calibration([8.0], [1], ["a"])
    with pytest.raises(InputError, match="outcomes must be 0 or 1"):
        calibration([0.5], [0.5], ["a"])
    with pytest.raises(InputError, match="binning must be 'equal-width' or 'equal-mass', got 'quantile'"):
        calibration([0.5], [1], ["a"], binning="quantile")  # type: ignore[arg-type]  # is what is tested
    with pytest.raises(InputError, match="bins must be a whole number of at least 1, got 0"):
        calibration([0.5], [1], ["a"], bins=0)
