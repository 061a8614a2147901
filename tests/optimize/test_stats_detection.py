"""Flag rates and the threshold sweep against a search by hand, the published numbers' shape and degenerate input."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.stats.classical import wilson
from optimize.stats.detection import NO_CLEAN, NO_FLAWED, detection_at_fa, flag_rates

scores = st.lists(st.integers(0, 12).map(lambda k: k / 12), min_size=1, max_size=25)


@given(flawed=scores, clean=scores, cap=st.sampled_from([0.0, 0.05, 0.1, 0.5, 1.0]))
def test_the_sweep_equals_a_search_over_every_observed_score(
    flawed: list[float], clean: list[float], cap: float
) -> None:
    def rates(t: float) -> tuple[float, float]:
        return sum(s < t for s in flawed) / len(flawed), sum(s < t for s in clean) / len(clean)

    allowed = [t for t in {*flawed, *clean} if rates(t)[1] <= cap]
    best = min(allowed, key=lambda t: (-rates(t)[0], rates(t)[1], t))
    result = detection_at_fa(flawed, clean, cap=cap)
    assert (result.threshold, result.detection, result.false_alarm) == (best, *rates(best))
    assert result.detection_interval == wilson(result.detected, len(flawed))
    assert result.false_alarm_interval == wilson(result.false_alarms, len(clean))


def test_ties_in_detection_go_to_the_lower_false_alarm_rate_then_the_lower_threshold() -> None:
    result = detection_at_fa([0.1, 0.9], [0.3, 0.5, 0.9, 0.9], cap=0.5)
    assert (result.threshold, result.detection, result.false_alarm) == (0.3, 0.5, 0.0)


def test_a_rate_of_exactly_the_cap_is_within_it() -> None:
    clean = [0.1] * 3 + [0.9] * 27
    assert detection_at_fa([0.2] * 4, clean, cap=0.10).detection == 1.0


def test_if_nothing_can_be_flagged_within_the_cap_detection_is_zero() -> None:
    result = detection_at_fa([0.5, 0.6], [0.4, 0.4], cap=0.10)
    assert (result.detection, result.false_alarm, result.threshold) == (0.0, 0.0, 0.4)


def test_a_perfect_judge_detects_everything_without_a_false_alarm() -> None:
    result = detection_at_fa([0.1, 0.2], [0.8, 0.9])
    assert (result.detection, result.false_alarm, result.threshold) == (1.0, 0.0, 0.8)


def test_no_clean_document_leaves_detection_undefined() -> None:
    result = detection_at_fa([0.1], [])
    assert result.reason == NO_CLEAN
    assert math.isnan(result.detection)
    assert math.isnan(result.threshold)
    assert not result.detection_interval.defined
    assert str(result) == f"detection undefined: {NO_CLEAN}"


def test_no_flawed_document_leaves_detection_undefined() -> None:
    assert detection_at_fa([], [0.1]).reason == NO_FLAWED
    assert detection_at_fa([], []).reason == NO_FLAWED


def test_a_cap_in_per_cent_is_refused() -> None:
    with pytest.raises(InputError, match=r"cap must be in \[0, 1\], got 10; use 0.10"):
        detection_at_fa([0.1], [0.2], cap=10)


def test_a_score_that_is_not_finite_is_refused() -> None:
    with pytest.raises(InputError, match="clean_scores must be finite, got nan at position 1"):
        detection_at_fa([0.1], [0.2, math.nan])


def test_a_score_level_with_a_fixed_threshold_is_not_flagged() -> None:
    rates = flag_rates([0.5, 0.4], [0.5, 0.6], 0.5)
    assert (rates.detection, rates.false_alarm, rates.detected, rates.false_alarms) == (0.5, 0.0, 1, 0)
    assert str(rates) == "detection 0.500 (1 of 2), false alarms 0.000 (0 of 2), flagging scores below 0.5"


def test_a_fixed_threshold_without_clean_documents_still_has_a_detection_rate() -> None:
    rates = flag_rates([0.1, 0.9], [], 0.5)
    assert rates.detection == 0.5
    assert math.isnan(rates.false_alarm)
    assert rates.reason
    assert "there is no clean document" in str(rates)


def test_a_threshold_that_is_not_finite_is_refused() -> None:
    with pytest.raises(InputError, match="threshold must be finite, got nan"):
        flag_rates([0.1], [0.2], math.nan)
