"""Differences of any measure between two arms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.objectives import (
    ScoredExamples,
    ScoredPair,
    Threshold,
    auc,
    compare,
    detection,
    discrimination_measure,
    false_alarms,
    measure_difference,
)
from optimize.stats.results import NO_VARIATION

GROUPS = 12


def arm(seed: int, *, missing: float = 0.0, shift: float = 0.0, names: str = "e") -> ScoredExamples:
    """One clean document and two omissions a group, on ten steps."""
    rng = np.random.default_rng(seed)
    n = 3 * GROUPS
    scores = np.clip(rng.integers(0, 10, size=(n, 1)) / 10 + shift, 0, 1)
    return ScoredExamples.of_columns(
        ids=[f"{names}{row}" for row in range(n)],
        groups=[f"g{row // 3:02}" for row in range(n)],
        labels=["omission" if row % 3 else "clean" for row in range(n)],
        scores=np.where(rng.random(scores.shape) < missing, np.nan, scores),
        twins=[f"{names}{row - row % 3}" if row % 3 else None for row in range(n)],
    )


def pairs(scored: ScoredExamples) -> list[ScoredPair]:
    return [
        ScoredPair(
            scored.ids[row],
            scored.groups.names[scored.groups.codes[row]],
            float(scored.scores[row, 0]),
            float(scored.twin_scores[row, 0]),
            "omission",
            "omit",
        )
        for row in np.flatnonzero(scored.flawed & ~np.isnan(scored.credit[:, 0]))
    ]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 999), missing=st.sampled_from([0.0, 0.2]))
def test_the_difference_in_paired_discrimination_is_that_of_the_paired_comparison(seed: int, missing: float) -> None:
    ours, theirs = arm(seed, missing=missing), arm(seed + 1000, missing=missing)
    gap = measure_difference(ours, theirs, discrimination_measure)
    expected = compare(pairs(ours), pairs(theirs), rng=np.random.default_rng(0))
    assert gap.value == pytest.approx(expected.difference.value)
    assert (gap.n, gap.n_groups) == (expected.n, expected.n_groups)
    assert gap.interval.reason == expected.difference.interval.reason
    if gap.interval.defined:
        assert gap.interval.low == pytest.approx(expected.difference.interval.low)
        assert gap.test.p == pytest.approx(2 * min(expected.t_test.p, 1 - expected.t_test.p))


def test_a_difference_in_auc_cancels_what_both_arms_share() -> None:
    ours = arm(1)
    theirs = arm(1)
    theirs.scores[1, 0] = 0.0 if theirs.scores[1, 0] else 0.9
    gap = measure_difference(ours, theirs, auc)
    alone = auc(ours).influence.standard_error
    assert abs(gap.value) > 0.0
    assert gap.interval.high - gap.interval.low < alone


def test_each_arm_is_flagged_at_its_own_threshold() -> None:
    ours, theirs = arm(4), arm(4, shift=0.1)
    gap = measure_difference(
        ours,
        theirs,
        lambda scored: false_alarms(scored, threshold=Threshold(0.3)),
        baseline_measure=lambda scored: false_alarms(scored, threshold=Threshold(0.4)),
    )
    assert gap.value == 0.0
    assert gap.interval.reason == NO_VARIATION


def test_both_bootstrap_intervals_stand_beside_the_linearised_one() -> None:
    gap = measure_difference(
        arm(5), arm(6), discrimination_measure, bootstrap_resamples=4000, rng=np.random.default_rng(2)
    )
    assert gap.bootstrap is not None
    assert gap.bootstrap.percentile.low == pytest.approx(gap.interval.low, abs=0.08)
    expected = compare(pairs(arm(5)), pairs(arm(6)), bootstrap_resamples=4000, rng=np.random.default_rng(2))
    assert expected.bootstrap is not None
    assert gap.bootstrap.percentile.low == pytest.approx(expected.bootstrap.low, abs=0.03)
    assert f"difference in paired discrimination {gap.value:+.4f}" in str(gap)


def test_an_arm_that_failed_altogether_leaves_the_difference_undefined() -> None:
    gap = measure_difference(arm(1, missing=1.1), arm(2), lambda s: detection(s, threshold=Threshold(0.5)))
    assert math.isnan(gap.value)
    assert gap.reason
    assert str(gap).startswith("difference in detection undefined: no flawed document has the scores")
    assert str(gap).endswith("36 scored in one arm only")


def test_arms_of_other_examples_are_refused() -> None:
    with pytest.raises(InputError, match="the same examples in the same order"):
        measure_difference(arm(1), arm(2, names="f"), auc)


def test_resamples_and_a_source_of_randomness_go_together() -> None:
    with pytest.raises(InputError, match="bootstrap_resamples and rng go together"):
        measure_difference(arm(1), arm(2), auc, bootstrap_resamples=100)
