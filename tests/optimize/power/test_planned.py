from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.gate import SMALL, BeyondNoise
from optimize.noise import NoiseFloor, Spread
from optimize.power import Discordance, PlannedRule, closed_power, standard_error
from optimize.stats import compare_values

rules = st.sampled_from(["lower-bound", "permutation", "point"])
discordances = st.builds(
    Discordance, share=st.floats(0.05, 0.7), swaps=st.floats(0.0, 0.5), correlation=st.floats(0.0, 1.0)
)
SLACK = 1e-6


@settings(max_examples=25, deadline=None)
@given(name=rules, discordance=discordances, groups=st.integers(20, 300), low=st.floats(0, 0.2), more=st.floats(0, 0.2))
def test_power_rises_with_the_effect(name: str, discordance: Discordance, groups: int, low: float, more: float) -> None:
    rule, sizes = PlannedRule(name), [3] * groups
    powers = [closed_power(rule, discordance, sizes, effect) for effect in (low, low + more)]
    assert 0.0 <= powers[0] <= powers[1] + SLACK <= 1.0 + 2 * SLACK


@settings(max_examples=25, deadline=None)
@given(
    name=rules,
    discordance=discordances,
    groups=st.integers(20, 300),
    more=st.integers(1, 200),
    effect=st.floats(0.0, 0.2),
)
def test_power_rises_with_the_groups(
    name: str, discordance: Discordance, groups: int, more: int, effect: float
) -> None:
    rule = PlannedRule(name)
    powers = [closed_power(rule, discordance, [2] * count, effect) for count in (groups, groups + more)]
    assert powers[0] <= powers[1] + SLACK


@settings(max_examples=25, deadline=None)
@given(
    discordance=discordances,
    groups=st.integers(20, 300),
    effect=st.floats(0.0, 0.2),
    alpha=st.floats(0.001, 0.2),
    more=st.floats(0.001, 0.2),
)
def test_power_rises_with_the_error_rate_that_is_spent(
    discordance: Discordance, groups: int, effect: float, alpha: float, more: float
) -> None:
    powers = [
        closed_power(PlannedRule("lower-bound", alpha=level), discordance, [3] * groups, effect)
        for level in (alpha, alpha + more)
    ]
    assert powers[0] <= powers[1] + SLACK


@settings(max_examples=20, deadline=None)
@given(discordance=discordances, effect=st.floats(0.01, 0.2), margin=st.floats(0.001, 0.1))
def test_a_margin_costs_power(discordance: Discordance, effect: float, margin: float) -> None:
    powers = [closed_power(PlannedRule("lower-bound", margin=m), discordance, [3] * 50, effect) for m in (0.0, margin)]
    assert powers[1] <= powers[0] + SLACK


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_without_an_effect_the_interval_passes_at_half_of_alpha(alpha: float) -> None:
    rule = PlannedRule("lower-bound", alpha=alpha)
    assert closed_power(rule, Discordance(0.4, 0.2), [3] * 47, 0.0) == pytest.approx(alpha / 2, rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(discordance=discordances, size=st.integers(1, 6), groups=st.integers(2, 200))
def test_the_standard_error_is_that_of_clusters_of_one_size(discordance: Discordance, size: int, groups: int) -> None:
    inflated = 1.0 + (size - 1) * discordance.correlation
    expected = math.sqrt(discordance.variance(0.0) * inflated / (size * groups))
    assert standard_error(discordance, [size] * groups) == pytest.approx(expected)


def test_the_default_rule_reads_the_sign_flip_test_below_the_gates_own_limit() -> None:
    rule = PlannedRule("lower-bound")
    assert [rule.reads(groups) for groups in (SMALL - 1, SMALL)] == ["sign-flip", "interval"]
    assert {name: PlannedRule(name).reads(200) for name in ("permutation", "point", "beyond-noise")} == {
        "permutation": "sign-flip",
        "point": "point",
        "beyond-noise": "noise",
    }


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(InputError, match="rule must be one of lower-bound"):
        PlannedRule("upper-bound")


def test_far_out_the_noncentral_t_is_certain_and_not_undefined() -> None:
    assert closed_power(PlannedRule("lower-bound"), Discordance(0.02, 0.0, 0.0), [1] * 5000, 0.3) == 1.0


def test_beyond_noise_cannot_be_read_without_noise_or_replicates() -> None:
    noisy, silent = Discordance(0.4, 0.2, noise=0.5), Discordance(0.4, 0.2)
    assert math.isnan(closed_power(PlannedRule("beyond-noise", replicates=1), noisy, [3] * 30, 0.1))
    assert math.isnan(closed_power(PlannedRule("beyond-noise", replicates=3), silent, [3] * 30, 0.1))


@pytest.mark.parametrize(("replicates", "noise"), [(3, 1.0), (3, 0.4), (5, 0.7)])
def test_the_power_of_beyond_noise_is_what_the_rule_does_on_simulated_measures(replicates: int, noise: float) -> None:
    discordance, sizes, effect = Discordance(0.4, 0.2, noise=noise), [3] * 30, 0.08
    rng = np.random.default_rng(5)
    total = standard_error(discordance, sizes, effect=effect)
    own = math.sqrt(noise / 2.0) * total  # noise of one arm in one replicate
    passed, simulations = 0, 400
    for _ in range(simulations):
        baseline, candidate = rng.normal(0.6, own, replicates), rng.normal(0.6 + effect, own, replicates)
        difference = candidate.mean() - baseline.mean() + rng.normal(0.0, math.sqrt(1.0 - noise) * total)
        floor = NoiseFloor(replicates=replicates, pairs=90, measures={"omissions": Spread(tuple(baseline), 90)})
        comparison = compare_values(
            [difference + 0.01, difference - 0.01], [0.0, 0.0], ["a", "b"], resamples=100, rng=rng
        )
        passed += BeyondNoise(floor).read(comparison, 0.05).holds
    stated = closed_power(PlannedRule("beyond-noise", replicates=replicates), discordance, sizes, effect)
    assert 0.05 < stated < 0.98
    assert passed / simulations == pytest.approx(stated, abs=3.5 * math.sqrt(stated * (1 - stated) / simulations))
