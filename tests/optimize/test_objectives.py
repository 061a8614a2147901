"""Measures over judged pairs, on constructed pairs and on the records of the published campaign."""

from __future__ import annotations

import csv
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.objectives import (
    ScoredPair,
    by,
    compare,
    coverage,
    detection_at_fa,
    flag_rates,
    paired_credit,
    paired_discrimination,
    reward,
    worst_case,
)
from optimize.stats.classical import exact_mcnemar, sign_test, wilson
from optimize.stats.results import NO_PAIRS, NO_VARIATION, ONE_GROUP

BENCH = Path(__file__).parents[2].parent / "shared" / "omissionbench"
needs_bench = pytest.mark.skipif(not BENCH.exists(), reason=f"the published records are not at {BENCH}")


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def pair(
    example: str,
    score: float,
    twin_score: float,
    *,
    group: str | None = None,
    replicate: int = 0,
    trace: str | None = None,
) -> ScoredPair:
    return ScoredPair(
        example, group or example, score, twin_score, "omission", "omit", trace=trace, replicate=replicate
    )


WIN, TIE, LOSS = (0.2, 0.8), (0.5, 0.5), (0.8, 0.2)


@pytest.mark.parametrize(("scores", "credit"), [(WIN, 1.0), (TIE, 0.5), (LOSS, 0.0)])
def test_credit_is_one_a_half_or_zero(scores: tuple[float, float], credit: float) -> None:
    assert paired_credit(*scores) == credit == pair("x", *scores).credit


def test_stored_scores_are_compared_exactly() -> None:
    assert paired_credit(math.nextafter(0.9, 0), 0.9) == 1.0


@given(scores=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30))
def test_swapping_every_pair_mirrors_paired_discrimination(scores: list[tuple[int, int]]) -> None:
    there = paired_discrimination([pair(f"e{i}", s, t, group=f"g{i % 4}") for i, (s, t) in enumerate(scores)])
    back = paired_discrimination([pair(f"e{i}", t, s, group=f"g{i % 4}") for i, (s, t) in enumerate(scores)])
    assert there.value + back.value == pytest.approx(1.0)
    assert (there.wins, there.ties, there.losses) == (back.losses, back.ties, back.wins)
    assert there.wins + there.ties + there.losses == there.n == len(scores)


def test_paired_discrimination_prints_itself_in_words() -> None:
    words = str(paired_discrimination([pair("a", *WIN), pair("b", *TIE), pair("c", *LOSS)], n_failed=2))
    assert words.startswith("paired discrimination 0.5000, interval ")
    assert words.endswith("1 wins, 1 ties, 1 losses over 3 pairs in 3 groups; 2 failed")


def test_credit_is_computed_within_each_replicate_and_never_from_averaged_scores() -> None:
    # The averaged scores, 0.5 against 0.6, would be a win; within replicates it is one win and one tie.
    result = paired_discrimination([pair("a", 0.4, 0.6), pair("a", 0.6, 0.6, replicate=1)])
    assert result.value == 0.75
    assert (result.wins, result.ties, result.n) == (1, 1, 1)


def test_every_pair_failed_is_undefined_with_the_count() -> None:
    result = paired_discrimination([], n_failed=48)
    assert math.isnan(result.value)
    assert result.reason == NO_PAIRS
    assert str(result) == f"paired discrimination undefined: {NO_PAIRS}; 48 failed"


def test_one_group_and_all_wins_have_a_value_without_an_interval() -> None:
    one = paired_discrimination([pair("a", *WIN, group="g"), pair("b", *LOSS, group="g")])
    assert one.value == 0.5
    assert one.interval.reason == ONE_GROUP
    wins = paired_discrimination([pair("a", *WIN), pair("b", *WIN)])
    assert wins.value == 1.0
    assert wins.interval.reason == NO_VARIATION


def test_a_score_that_is_not_finite_makes_no_pair() -> None:
    with pytest.raises(InputError, match="scores of 'a' must be finite, got nan"):
        pair("a", math.nan, 0.5)


def test_a_clean_example_makes_no_pair() -> None:
    with pytest.raises(InputError, match="must be 'omission' or 'commission', got 'clean'"):
        ScoredPair("a", "g", 0.5, 0.5, "clean", "clean")


def test_a_pair_that_occurs_twice_is_refused() -> None:
    with pytest.raises(InputError, match="pair 'a' occurs twice in replicate 0"):
        paired_discrimination([pair("a", *WIN), pair("a", *TIE)])


def test_a_pair_in_two_groups_is_refused() -> None:
    with pytest.raises(InputError, match="pair 'a' is in groups 'g' and 'h'"):
        compare([pair("a", *WIN, group="g")], [pair("a", *WIN, group="h")], rng=rng())


def test_pairs_break_down_by_trace_with_the_unknown_apart() -> None:
    pairs = [pair("a", *WIN, trace="partial-weak"), pair("b", *TIE), pair("c", *LOSS, trace="complete")]
    parts = by(pairs, "trace")
    assert list(parts) == ["complete", "partial-weak", "unknown"]
    assert parts["unknown"] == (pairs[1],)


def test_a_breakdown_by_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="key must be label, kind, trace, severity, stratum or cohort, got 'score'"):
        by([], "score")  # type: ignore[arg-type]  # is what is tested


def test_only_pairs_scored_in_both_arms_are_compared_and_the_rest_are_counted() -> None:
    result = compare(
        [pair("a", *WIN), pair("b", *LOSS), pair("c", *WIN)],
        [pair("b", *TIE), pair("c", *TIE), pair("d", *WIN)],
        rng=rng(),
    )
    assert (result.n, result.wins, result.losses, result.n_failed, result.worst_case) == (2, 1, 1, 2, False)


def test_a_pair_that_failed_in_one_replicate_is_compared_on_its_others() -> None:
    ours = [pair("a", *WIN), pair("a", *WIN, replicate=1), pair("b", *TIE), pair("b", *TIE, replicate=1)]
    theirs = [pair("a", *TIE), pair("b", *TIE), pair("b", *LOSS, replicate=1)]
    result = compare(ours, theirs, rng=rng())
    assert (result.n, result.n_failed) == (2, 1)
    assert result.difference.value == (0.5 + 0.25) / 2


def test_arms_of_unequal_replicates_are_refused() -> None:
    with pytest.raises(InputError, match=r"same replicates, got \[0\] for the candidate and \[0, 1\]"):
        compare([pair("a", *WIN)], [pair("a", *WIN), pair("a", *WIN, replicate=1)], rng=rng())


def test_an_arm_that_failed_altogether_leaves_the_comparison_undefined() -> None:
    result = compare([], [pair("a", *WIN)], rng=rng())
    assert result.difference.reason == NO_PAIRS
    assert result.n_failed == 1


def test_the_worst_case_counts_every_failed_pair_against_the_candidate() -> None:
    ours, theirs = [pair("a", *WIN), pair("b", *WIN)], [pair("a", *TIE), pair("c", *TIE)]
    result = worst_case(ours, theirs, planned={name: name for name in "abcd"}, rng=rng())
    # a: 1 - 0.5; b: 1 - 1, the baseline failed; c: 0 - 0.5, the candidate failed; d: 0 - 1, both failed.
    assert result.difference.value == (0.5 + 0.0 - 0.5 - 1.0) / 4
    assert (result.n, result.n_failed, result.worst_case) == (4, 3, True)
    assert str(result).endswith("3 failed, counted against the candidate")


def test_the_worst_case_of_two_arms_that_failed_altogether_is_minus_one() -> None:
    result = worst_case([], [], planned={"a": "g", "b": "h"}, replicates=range(3), rng=rng())
    assert result.difference.value == -1.0
    assert result.n_failed == 6


@given(missing=st.sets(st.tuples(st.integers(0, 1), st.integers(0, 7)), max_size=8), seed=st.integers(0, 50))
def test_the_worst_case_is_a_lower_bound_of_the_comparison_without_failures(
    missing: set[tuple[int, int]], seed: int
) -> None:
    outcomes = np.random.default_rng(seed).integers(0, 3, size=(2, 8))
    arms = [[pair(f"e{i}", *(WIN, TIE, LOSS)[k]) for i, k in enumerate(arm)] for arm in outcomes]
    left = [[p for i, p in enumerate(arm) if (a, i) not in missing] for a, arm in enumerate(arms)]
    planned = {f"e{i}": f"e{i}" for i in range(8)}
    bound = worst_case(left[0], left[1], planned=planned, rng=rng()).difference.value
    full = compare(arms[0], arms[1], rng=rng()).difference.value
    assert bound <= full + 1e-12
    assert missing or bound == full


def test_a_pair_that_was_not_planned_is_refused() -> None:
    with pytest.raises(InputError, match="pair 'a' of group 'a', replicate 0, is not planned"):
        worst_case([pair("a", *WIN)], [], planned={"b": "b"}, rng=rng())
    with pytest.raises(InputError, match="replicate 2, is not planned"):
        worst_case([pair("a", *WIN, replicate=2)], [], planned={"a": "a"}, replicates=range(2), rng=rng())


@pytest.mark.parametrize(
    ("score", "twin", "expected"),
    [(0.5, 0.5, 0.25), (0.6, 0.5, 0.0), (0.4, 0.5, 0.75), (0.0, 1.0, 1.0), (0.3, 0.5, 1.0), (0.7, None, 0.7)],
)
def test_the_reward_is_half_credit_and_half_margin(score: float, twin: float | None, expected: float) -> None:
    assert reward(score, twin, scale=1.0, margin=0.2) == expected


def test_the_reward_of_a_clean_document_is_its_score_on_its_scale() -> None:
    assert reward(9.0, None, scale=10.0, margin=1.0) == 0.9
    assert (
        reward(10 / 11, None, scale=1, margin=1) == reward(0.909091, None, scale=1, margin=1) == float(Fraction(10, 11))
    )


@given(a=st.integers(1, 60), k=st.integers(0, 59), j=st.integers(0, 59), digits=st.sampled_from([6, 16]))
def test_rewards_of_equal_distances_are_equal_floats(a: int, k: int, j: int, digits: int) -> None:
    k, j = k % a, j % a
    there = reward(round(k / a, digits), round((k + 1) / a, digits), scale=1, margin=0.2)
    back = reward(round(j / a, digits), round((j + 1) / a, digits), scale=1, margin=0.2)
    assert there == back == float((1 + min(Fraction(1, a) * 5, Fraction(1))) / 2)


@given(score=st.floats(0, 10), twin=st.none() | st.floats(0, 10), margin=st.floats(1e-6, 10))
def test_a_reward_lies_between_zero_and_one(score: float, twin: float | None, margin: float) -> None:
    assert 0.0 <= reward(score, twin, scale=10, margin=margin) <= 1.0


def test_a_reward_refuses_what_is_off_its_scale() -> None:
    with pytest.raises(InputError, match=r"score must be in \[0, 1\], got 9"):
        reward(9, None, scale=1, margin=0.1)
    with pytest.raises(InputError, match=r"twin_score must be in \[0, 1\], got nan"):
        reward(0.5, math.nan, scale=1, margin=0.1)
    with pytest.raises(InputError, match="margin must be finite and above 0, got 0"):
        reward(0.5, None, scale=1, margin=0)


def test_coverage_is_a_share_and_refuses_an_empty_plan() -> None:
    assert coverage(49, 50) == 0.98
    with pytest.raises(InputError, match="n must be a whole number of at least 1, got 0"):
        coverage(0, 0)
    with pytest.raises(InputError, match="n_scored must be at most n, got 3 of 2"):
        coverage(3, 2)


def campaign(column: str, label: str = "omission") -> tuple[list[ScoredPair], list[float]]:
    """Pairs and clean scores that one candidate gave the published accept split."""
    with (BENCH / "v3_accept_scores.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    twins = {row["consultation"]: float(row[column]) for row in rows if row["class"] == "clean"}
    pairs = [
        ScoredPair(
            row["note_key"],
            row["consultation"],
            float(row[column]),
            twins[row["consultation"]],
            row["class"],
            row["kind"],
            row["trace"] or None,
        )
        for row in rows
        if row["class"] == label
    ]
    return pairs, list(twins.values())


def printed() -> dict[str, Any]:
    results: dict[str, Any] = json.loads((BENCH / "v3_published_results.json").read_text(encoding="utf-8"))
    accept: dict[str, Any] = results["pipeline"]["accept"]
    return accept


@needs_bench
@pytest.mark.parametrize(
    ("column", "arm", "counts"), [("seed_check_binary", "baseline", (31, 14, 3)), ("v3p-01", "winner", (35, 11, 2))]
)
def test_paired_discrimination_of_the_published_campaign(column: str, arm: str, counts: tuple[int, int, int]) -> None:
    result = paired_discrimination(campaign(column)[0])
    assert (result.wins, result.ties, result.losses) == counts
    assert (result.n, result.n_groups) == (48, 20)
    assert round(result.value, 4) == printed()[arm]["paired"]
    assert result.interval.contains(result.value)


@needs_bench
@pytest.mark.parametrize(("column", "expected"), [("seed_check_binary", 0.581), ("v3p-01", 0.649)])
def test_paired_discrimination_of_published_commissions(column: str, expected: float) -> None:
    assert round(paired_discrimination(campaign(column, "commission")[0]).value, 3) == expected


@needs_bench
def test_the_whole_note_judge_of_the_published_campaign() -> None:
    results = json.loads((BENCH / "v3_published_results.json").read_text(encoding="utf-8"))["mono"]["accept"][
        "baseline"
    ]
    pairs, clean = campaign("seed_fc_score")
    result, detection = paired_discrimination(pairs), detection_at_fa([p.score for p in pairs], clean)
    assert (result.wins, result.ties, result.losses) == (results["wins"], results["ties"], results["losses"])
    assert (round(detection.detection, 4), detection.false_alarm) == (results["det10"], results["fa10"])


@needs_bench
def test_the_published_comparison_of_winner_and_baseline() -> None:
    result = compare(campaign("v3p-01")[0], campaign("seed_check_binary")[0], bootstrap_resamples=20_000, rng=rng())
    accept = printed()
    assert round(result.difference.value, 4) == accept["delta_paired"]
    assert (result.wins, result.losses) == (accept["sign_test"]["wins"], accept["sign_test"]["losses"]) == (8, 3)
    assert sign_test(result.wins, result.losses).p == accept["sign_test"]["p"] == 0.2265625
    assert result.bootstrap is not None
    assert (result.bootstrap.low, result.bootstrap.high) == pytest.approx(accept["cluster_bootstrap95"], abs=0.01)
    assert result.difference.interval.contains(0.0)
    assert result.n_failed == 0
    assert 0.05 < result.sign_flip.p < 0.5
    assert 0.05 < result.t_test.p < 0.5


@needs_bench
@pytest.mark.parametrize(
    ("column", "arm", "false_alarm"), [("seed_check_binary", "baseline", 0.10), ("v3p-01", "winner", 0.05)]
)
def test_detection_of_the_published_campaign(column: str, arm: str, false_alarm: float) -> None:
    pairs, clean = campaign(column)
    result = detection_at_fa([p.score for p in pairs], clean, cap=0.10)
    assert (result.detected, result.n_flawed, result.n_clean) == (16, 48, 20)
    assert (result.threshold, result.false_alarm) == (0.909091, false_alarm)
    interval = wilson(16, 48)
    assert result.detection_interval == interval
    assert [round(interval.low, 4), round(interval.high, 4)] == printed()[arm]["wilson95"]
    fixed = flag_rates([p.score for p in pairs], clean, result.threshold)
    assert (fixed.detection, fixed.false_alarm) == (result.detection, result.false_alarm)


@needs_bench
def test_flags_of_winner_and_baseline_differ_as_published() -> None:
    flags = [[p.score < 0.909091 for p in campaign(column)[0]] for column in ("v3p-01", "seed_check_binary")]
    only = [sum(a and not b for a, b in zip(*arms, strict=True)) for arms in (flags, flags[::-1])]
    mcnemar = printed()["mcnemar_flags"]
    assert only == [mcnemar["winner_only"], mcnemar["baseline_only"]]
    assert exact_mcnemar(*only).p == mcnemar["p"]


@needs_bench
def test_the_published_tie_adjusted_rates_are_paired_discrimination() -> None:
    rows = json.loads((BENCH / "published_statistics.json").read_text(encoding="utf-8"))["tie_adjusted"]
    for row in rows:
        wins, ties = round(100 * row["strict_win_rate"]), round(100 * row["tie_rate"])
        outcomes = [WIN] * wins + [TIE] * ties + [LOSS] * (100 - wins - ties)
        value = paired_discrimination([pair(f"e{i}", *scores) for i, scores in enumerate(outcomes)]).value
        assert value == pytest.approx(row["paired"], abs=0.0051)
