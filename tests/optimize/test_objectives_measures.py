"""Measures on scored examples against plain loops, the sweep, the published campaign and degenerate input."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.objectives import (
    ScoredExamples,
    Threshold,
    auc,
    compression,
    detection,
    detection_at_fa,
    discrimination_measure,
    false_alarms,
    pair_coverage,
    severity_weighted_detection,
    sweep,
    swept_threshold,
)
from optimize.objectives.flagging import NO_CLEAN_DOCUMENT, NO_SCORED_CLEAN, NO_SCORED_FLAWED, NO_SEVERITY
from optimize.objectives.measuring import NO_SCORED_PAIR, NO_TWINS
from optimize.stats.classical import wilson
from optimize.stats.group_statistics import rows_statistic
from optimize.stats.resampling import bootstrap_intervals
from optimize.stats.results import NO_VARIATION, ONE_GROUP

BENCH = Path(__file__).parents[2].parent / "shared" / "omissionbench"
needs_bench = pytest.mark.skipif(not BENCH.exists(), reason=f"the published records are not at {BENCH}")

SEVERITIES = ("critical", "supporting", "peripheral")


def scored(scores: np.ndarray, *, flawed: int = 2, one_group: bool = False) -> ScoredExamples:
    """Groups of one clean document and some omissions, in that order, scores of shape (n, n_replicates)."""
    n = len(scores)
    size = flawed + 1
    clean = [row - row % size for row in range(n)]
    return ScoredExamples.of_columns(
        ids=[f"e{row}" for row in range(n)],
        groups=["g" if one_group else f"g{row // size}" for row in range(n)],
        labels=["omission" if row % size else "clean" for row in range(n)],
        scores=scores,
        twins=[f"e{clean[row]}" if row % size else None for row in range(n)],
        attributes={"severity": [SEVERITIES[row % 3] if row % size else None for row in range(n)]},
    )


def coarse(seed: int, *, groups: int = 8, replicates: int = 1, missing: float = 0.0) -> ScoredExamples:
    """Scores on ten steps, some of them missing."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 10, size=(3 * groups, replicates)) / 10
    return scored(np.where(rng.random(scores.shape) < missing, np.nan, scores))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 9999), replicates=st.sampled_from([1, 3]), missing=st.sampled_from([0.0, 0.2]))
def test_paired_discrimination_and_auc_equal_plain_loops(seed: int, replicates: int, missing: float) -> None:
    arm = coarse(seed, replicates=replicates, missing=missing)
    worth, aucs = [], []
    for row in np.flatnonzero(arm.flawed):
        own = [
            float(score < twin) + float(score == twin) / 2
            for score, twin in zip(arm.scores[row], arm.twin_scores[row], strict=True)
            if not (math.isnan(score) or math.isnan(twin))
        ]
        if own:
            worth.append(sum(own) / len(own))
    for column in arm.scores.T:
        low, high = column[arm.flawed], column[arm.clean]
        order = [(a < b) + (a == b) / 2 for a in low for b in high if not (math.isnan(a) or math.isnan(b))]
        if order:
            aucs.append(np.mean(order))
    assert discrimination_measure(arm).value == pytest.approx(np.mean(worth))
    assert discrimination_measure(arm).n == len(worth)
    assert auc(arm).value == pytest.approx(np.mean(aucs))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 9999), replicates=st.sampled_from([1, 3]))
def test_flags_at_a_threshold_are_those_of_the_majority(seed: int, replicates: int) -> None:
    arm = coarse(seed, replicates=replicates)
    for rule in (Threshold(0.5), Threshold(0.5, inclusive=True)):
        below = arm.scores <= 0.5 if rule.inclusive else arm.scores < 0.5
        flags = below.sum(axis=1) > replicates / 2
        found, alarms = detection(arm, threshold=rule), false_alarms(arm, threshold=rule)
        assert found.value == pytest.approx(flags[arm.flawed].mean())
        assert alarms.value == pytest.approx(flags[arm.clean].mean())
        assert found.wilson == wilson(int(flags[arm.flawed].sum()), int(arm.flawed.sum()))
        weight = np.array([4.0, 2.0, 1.0])[np.arange(len(arm)) % 3]
        weighted = severity_weighted_detection(arm, threshold=rule)
        assert weighted.value == pytest.approx(np.average(flags[arm.flawed], weights=weight[arm.flawed]))
        assert severity_weighted_detection(
            arm, threshold=rule, weights=dict.fromkeys(SEVERITIES, 3.0)
        ).value == pytest.approx(found.value)


def test_the_sweep_of_one_replicate_is_the_sweep_of_its_scores() -> None:
    arm = coarse(5, groups=20)
    expected = detection_at_fa(arm.scores[arm.flawed, 0], arm.scores[arm.clean, 0], cap=0.2)
    assert sweep(arm, cap=0.2) == expected
    rule = swept_threshold(arm, cap=0.2)
    assert detection(arm, threshold=rule).value == expected.detection
    assert false_alarms(arm, threshold=rule).value == expected.false_alarm
    assert str(rule) == f"score < {rule.limit:g}, swept for false alarms <= 0.2"


def test_the_sweep_over_replicates_is_of_majority_flags() -> None:
    arm = coarse(6, groups=20, replicates=3)
    found = sweep(arm, cap=0.2)
    flags = (arm.scores < found.threshold).sum(axis=1) >= 2
    assert (found.detection, found.false_alarm) == (flags[arm.flawed].mean(), flags[arm.clean].mean())
    # No threshold on the grid of scores detects more within the cap.
    for threshold in np.unique(arm.scores):
        other = (arm.scores < threshold).sum(axis=1) >= 2
        assert other[arm.clean].mean() > 0.2 or other[arm.flawed].mean() <= found.detection


def test_a_resample_of_a_swept_detection_sweeps_anew() -> None:
    arm = coarse(7, groups=10)
    rule = swept_threshold(arm, cap=0.1)
    measure = detection(arm, threshold=rule)

    def swept_again(rows: np.ndarray) -> float:
        labels = arm.flawed[rows]
        return detection_at_fa(arm.scores[rows[labels], 0], arm.scores[rows[~labels], 0], cap=0.1).detection

    theirs = bootstrap_intervals(
        rows_statistic(swept_again, groups=arm.groups.codes), 10, resamples=400, rng=np.random.default_rng(1)
    )
    assert measure.bootstrap(resamples=400, rng=np.random.default_rng(1)) == theirs
    # A fixed threshold has another spread: it is a plain rate.
    fixed = detection(arm, threshold=Threshold(rule.limit))
    assert fixed.bootstrap(resamples=400, rng=np.random.default_rng(1)) != theirs


@pytest.mark.parametrize("measure", [discrimination_measure, auc, pair_coverage])
def test_every_measure_has_both_bootstrap_intervals_near_its_own(measure: object) -> None:
    arm = coarse(8, groups=60, missing=0.1)
    found = measure(arm)  # type: ignore[operator]  # one of three functions
    both = found.bootstrap(resamples=4000, rng=np.random.default_rng(2))
    assert (both.percentile.low, both.bca.high) == pytest.approx((found.interval.low, found.interval.high), abs=0.03)


def test_coverage_counts_planned_pairs_in_every_replicate() -> None:
    scores = np.full((6, 3), 0.5)
    scores[1, 0] = np.nan  # one pair fails once
    scores[3, 2] = np.nan  # a clean document fails once, and both its pairs with it
    measure = pair_coverage(scored(scores))
    assert measure.value == 9 / 12
    assert (measure.counted, measure.n, measure.n_failed) == ((("scored", 9),), 12, 3)


def test_compression_is_of_all_scores_and_pairs() -> None:
    arm = scored(np.array([[0.5], [0.5], [0.2], [0.5], [0.5], [0.5]]))
    result = compression(arm)
    assert (result.n, result.n_distinct, result.ties, result.n_pairs) == (6, 2, 3, 4)
    assert result.value == 0.75


def test_flaws_of_unknown_severity_are_left_out_and_counted() -> None:
    arm = scored(np.array([[0.9], [0.1], [0.95], [0.9], [0.1], [0.2]]))
    unknown = ScoredExamples.of_columns(
        ids=list(arm.ids),
        groups=[arm.groups.names[code] for code in arm.groups.codes],
        labels=["clean" if clean else "omission" for clean in arm.clean],
        scores=arm.scores,
        attributes={"severity": [None, "critical", "peripheral", None, None, "critical"]},
    )
    measure = severity_weighted_detection(unknown, threshold=Threshold(0.5))
    assert measure.value == pytest.approx(8 / 9)
    assert measure.note == "1 of unknown severity left out"
    assert str(measure).endswith("1 of unknown severity left out")
    with pytest.raises(InputError, match=r"weights must name every severity, got none for \['peripheral'\]"):
        severity_weighted_detection(unknown, threshold=Threshold(0.5), weights={"critical": 1.0})
    with pytest.raises(InputError, match="weights must be above 0, got 0"):
        severity_weighted_detection(unknown, threshold=Threshold(0.5), weights={"critical": 0})


def test_a_measure_prints_itself_in_words() -> None:
    words = str(detection(scored(np.array([[0.9], [0.1], [0.9], [0.8], [0.3], [0.9]])), threshold=Threshold(0.5)))
    assert words.startswith("detection 0.5000, interval undefined (linearised t interval by group): ")
    assert words.endswith("0.150 to 0.850 by Wilson: 2 flagged over 4 flawed documents in 2 groups; 0 failed")


def test_every_judgement_failed_is_undefined_everywhere_with_the_count() -> None:
    arm = scored(np.full((9, 3), np.nan))
    rule = Threshold(0.5)
    assert discrimination_measure(arm).reason == NO_SCORED_PAIR
    assert discrimination_measure(arm).n_failed == 18
    assert math.isnan(auc(arm).value)
    assert detection(arm, threshold=rule).reason == NO_SCORED_FLAWED
    assert false_alarms(arm, threshold=rule).reason == NO_SCORED_CLEAN
    assert severity_weighted_detection(arm, threshold=rule).reason == NO_SEVERITY
    assert pair_coverage(arm).value == 0.0
    assert compression(arm).reason
    assert sweep(arm).reason
    assert str(auc(arm)).endswith("27 failed")
    with pytest.raises(InputError, match="AUC is undefined, because"):
        auc(arm).bootstrap(rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="no threshold can be swept, because there is no flawed document"):
        swept_threshold(arm)


def test_all_the_same_score_is_a_coin_flip_that_flags_nothing_or_everything() -> None:
    arm = scored(np.full((12, 1), 0.7))
    assert discrimination_measure(arm).value == auc(arm).value == 0.5
    assert discrimination_measure(arm).counted == (("wins", 0), ("ties", 8), ("losses", 0))
    assert discrimination_measure(arm).interval.reason == NO_VARIATION
    assert detection(arm, threshold=Threshold(0.7)).value == 0.0
    assert detection(arm, threshold=Threshold(0.7, inclusive=True)).value == 1.0
    assert detection(arm, threshold=swept_threshold(arm)).value == 0.0
    assert compression(arm).n_distinct == 1


def test_one_group_has_values_without_intervals() -> None:
    arm = scored(np.arange(9.0)[:, None], one_group=True)
    assert discrimination_measure(arm).interval.reason == auc(arm).interval.reason == ONE_GROUP


def test_no_clean_document_and_no_twin_leave_paired_and_clean_measures_undefined() -> None:
    arm = ScoredExamples.of_columns(
        ids=["a", "b"], groups=["g", "h"], labels=["omission", "omission"], scores=[0.1, 0.2]
    )
    assert discrimination_measure(arm).reason == pair_coverage(arm).reason == NO_TWINS
    assert auc(arm).reason
    assert false_alarms(arm, threshold=Threshold(0.5)).reason == NO_CLEAN_DOCUMENT
    assert detection(arm, threshold=Threshold(0.15)).value == 0.5


def test_a_threshold_must_be_finite() -> None:
    with pytest.raises(InputError, match="limit must be finite, got nan"):
        Threshold(math.nan)


@needs_bench
def test_the_published_campaign_read_as_arrays() -> None:
    with (BENCH / "v3_accept_scores.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    twin = {row["consultation"]: row["note_key"] for row in rows if row["class"] == "clean"}
    arm = ScoredExamples.of_columns(
        ids=[row["note_key"] for row in rows],
        groups=[row["consultation"] for row in rows],
        labels=[row["class"] for row in rows],
        scores=[float(row["v3p-01"]) for row in rows],
        twins=[None if row["class"] == "clean" else twin[row["consultation"]] for row in rows],
    )
    omissions = arm.where(arm.attributes["label"].equal_to("omission") | arm.clean)
    measure = discrimination_measure(omissions)
    assert measure.counted == (("wins", 35), ("ties", 11), ("losses", 2))
    assert measure.value == 0.84375
    rule = swept_threshold(omissions)
    assert rule.limit == 0.909091
    assert detection(omissions, threshold=rule).counted == (("flagged", 16),)
    assert false_alarms(omissions, threshold=rule).value == 0.05
