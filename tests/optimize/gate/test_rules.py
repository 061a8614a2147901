from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimize.gate import SMALL, BeyondNoise, LowerBound, Permutation, Point, Rule, WorstCase
from optimize.noise import ONE_REPLICATE, NoiseFloor, Spread
from optimize.objectives import Comparison
from optimize.stats import Estimate, Interval, compare_values
from optimize.stats import TestResult as Result


def comparison(
    value: float, low: float, high: float, *, groups: int = 47, p: float = 0.5, reason: str = ""
) -> Comparison:
    interval = Interval(low, high, 0.95, "stated", groups, reason)
    test = Result(p, 0.0, "greater", "stated", groups)
    return Comparison(
        difference=Estimate(value, interval, 131, groups),
        candidate=math.nan,
        baseline=math.nan,
        wins=0,
        ties=0,
        losses=0,
        sign_flip=test,
        t_test=test,
        bootstrap=None,
        n=131,
        n_groups=groups,
    )


PER_FACT = comparison(-0.0229, -0.0736, 0.0265)
WHOLE_NOTE = comparison(0.0039, -0.126, 0.1331)
"""The held-out results of the published campaign: difference and 95% interval over 47 groups."""


@pytest.mark.parametrize(
    ("rule", "passes"), [(LowerBound(), (False, False)), (Point(), (False, True))], ids=["lower-bound", "point"]
)
def test_the_default_rule_refuses_both_published_winners_and_the_point_rule_passes_one(
    rule: Rule, passes: tuple[bool, bool]
) -> None:
    assert tuple(rule.read(found, 0.05).holds for found in (PER_FACT, WHOLE_NOTE)) == passes


def floor(*values: float, deterministic: bool = False) -> NoiseFloor:
    return NoiseFloor(
        replicates=len(values), pairs=10, measures={"omissions": Spread(values, 10)}, deterministic=deterministic
    )


def test_the_published_whole_note_gain_is_within_the_noise_of_its_baseline() -> None:
    noise = floor(0.6221, 0.6489, 0.5305)
    found = BeyondNoise(noise).read(WHOLE_NOTE, 0.05)
    assert not found.holds
    assert f"difference +0.0039; it must exceed 2 times the noise floor of {noise.difference_sd:.4f}" in found.words


def test_every_rule_asks_for_more_than_its_bound() -> None:
    sd = floor(0.5, 0.6).difference_sd
    for rule, at, above in (
        (LowerBound(0.01), comparison(0.05, 0.01, 0.09), comparison(0.05, math.nextafter(0.01, 1), 0.09)),
        (Point(0.01), comparison(0.01, 0.0, 0.1), comparison(math.nextafter(0.01, 1), 0.0, 0.1)),
        (Permutation(), comparison(0.1, 0, 0.2, p=0.025), comparison(0.1, 0, 0.2, p=math.nextafter(0.025, 0))),
        (BeyondNoise(floor(0.5, 0.6)), comparison(2 * sd, 0, 1), comparison(math.nextafter(2 * sd, 1), 0, 1)),
    ):
        assert not rule.read(at, 0.05).holds, rule
        assert rule.read(above, 0.05).holds, rule
        assert rule.read(above, 0.05).name == rule.name


def test_the_default_rule_changes_to_the_sign_flip_test_below_twenty_groups() -> None:
    by_interval = comparison(0.1, 0.01, 0.2, groups=SMALL, p=0.9)
    assert LowerBound().read(by_interval, 0.05).holds
    by_flips = replace(by_interval, n_groups=SMALL - 1)
    assert not LowerBound().read(by_flips, 0.05).holds
    found = LowerBound().read(replace(by_flips, sign_flip=replace(by_flips.sign_flip, p=0.02)), 0.05)
    assert found.holds
    assert (
        "with 19 held-out groups (fewer than 20) the rule reads the one-sided sign-flip test: p = 0.0200" in found.words
    )


def test_below_twenty_groups_a_margin_is_held_to_as_well() -> None:
    found = comparison(0.1, 0.01, 0.2, groups=10, p=0.001)
    assert LowerBound(0.005).read(found, 0.05).holds
    refused = LowerBound(0.02).read(found, 0.05)
    assert not refused.holds
    assert refused.words.endswith("below 0.025; and, for the margin, low end +0.0100; it must exceed +0.0200")
    assert "for the margin" not in LowerBound().read(found, 0.05).words


def test_a_difference_without_an_interval_does_not_pass_the_default_rule() -> None:
    found = LowerBound().read(comparison(0.5, math.nan, math.nan, reason="none"), 0.05)
    assert not found.holds
    assert "no interval (none)" in found.words


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        (floor(0.5, 0.5, 0.5, deterministic=True), "the noise floor is 0, and every difference is beyond it"),
        (floor(0.5, 0.5, 0.5), "the noise floor is 0"),
        (NoiseFloor(replicates=1, reason=ONE_REPLICATE), "the noise floor is not measured: one replicate"),
    ],
)
def test_beyond_noise_is_refused_where_there_is_no_noise(noise: NoiseFloor, said: str) -> None:
    found = BeyondNoise(noise).read(comparison(0.5, 0.4, 0.6), 0.05)
    assert not found.holds
    assert said in found.words
    assert "use lower-bound" in found.words


differences = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=2, max_size=40)


def compared(values: list[float], **options: Any) -> Comparison:
    groups = [f"g{index}" for index in range(len(values))]
    return compare_values(values, [0.0] * len(values), groups, rng=np.random.default_rng(0), **options)


@settings(max_examples=60, deadline=None)
@given(values=differences)
def test_swapping_the_arms_negates_the_difference_and_no_rule_passes_both_ways(values: list[float]) -> None:
    one, other = compared(values), compared([-value for value in values])
    assert one.difference.value == -other.difference.value
    if one.difference.interval.defined:
        assert one.difference.interval.low == pytest.approx(-other.difference.interval.high)
    for rule in (LowerBound(), Permutation(), Point(), BeyondNoise(floor(0.5, 0.51))):
        assert not (rule.read(one, 0.05).holds and rule.read(other, 0.05).holds)


@settings(max_examples=60, deadline=None)
@given(values=differences, place=st.integers(0, 39), lower=st.sampled_from([0.5, 1.0]))
def test_a_lower_difference_helps_no_rule_that_says_it_cannot(values: list[float], place: int, lower: float) -> None:
    less = list(values)
    less[place % len(values)] -= lower
    before, after = compared(values[:16]), compared(less[:16])
    for rule in (Permutation(), Point(), BeyondNoise(floor(0.5, 0.51))):
        assert rule.read(before, 0.05).holds or not rule.read(after, 0.05).holds


def test_rules_that_no_lower_difference_helps_read_what_counts_against_the_candidate() -> None:
    worst = WorstCase(comparison(0.01, -0.1, 0.1, p=0.4), low=math.nan, reason="none")
    assert Point().survive(worst, 0.05).holds
    assert not Permutation().survive(worst, 0.05).holds
    assert not LowerBound().survive(worst, 0.05).holds
    assert LowerBound().survive(replace(worst, low=0.001, reason=""), 0.05).holds
