"""Simulated power against the gate's own rules, which read the same comparisons one by one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.gate import SMALL, LowerBound, Permutation, Point, Rule
from optimize.power import Discordance, PlannedRule, SimulatedComparisons, detected
from optimize.stats import Comparison, compare_values, grouped_mean

RULES: dict[str, Rule] = {"lower-bound": LowerBound(), "permutation": Permutation(), "point": Point()}


def simulated(
    name: str,
    sizes: list[int],
    *,
    simulations: int,
    seed: int = 1,
    discordance: Discordance | None = None,
    **more: float,
) -> SimulatedComparisons:
    return SimulatedComparisons(
        discordance or Discordance(0.4, 0.2),
        sizes,
        PlannedRule(name, **more),  # type: ignore[arg-type]  # tests give fields by name
        simulations=simulations,
        rng=np.random.default_rng(seed),
    )


def compared(sums: np.ndarray, sizes: list[int], rng: np.random.Generator) -> Comparison:
    """A comparison whose groups have these sums, spread evenly over their pairs."""
    if len(sizes) < SMALL:
        return with_signs(sums, sizes, rng)
    # The interval is read, and the sign-flip test, which takes most of the time, is not.
    shown = grouped_mean(np.repeat(sums / sizes, sizes), np.repeat(np.arange(len(sizes)), sizes))
    empty = compare_values([0.0], [0.0], ["a"], rng=rng)
    return replace(empty, difference=shown, n=shown.n, n_groups=shown.n_groups)


def with_signs(sums: np.ndarray, sizes: list[int], rng: np.random.Generator) -> Comparison:
    """A comparison as `compared` makes it, with its sign-flip test whatever the number of groups."""
    values = np.repeat(sums / sizes, sizes)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return compare_values(values, np.zeros(len(values)), groups, resamples=2000, rng=rng)


@pytest.mark.parametrize("name", ["lower-bound", "permutation", "point"])
@pytest.mark.parametrize("groups", [5, 8, 12, 24])
def test_every_comparison_is_read_as_the_gates_rule_reads_it(name: str, groups: int) -> None:
    sizes = [3, 2] * (groups // 2) + [1] * (groups % 2)
    power = simulated(name, sizes, simulations=100)
    rng = np.random.default_rng(2)
    count = 40 if groups > 12 and name == "permutation" else 100  # where the gate samples patterns, which takes a while
    for effect in (0.0, 0.15):
        sums, passes = power.sums(effect)[:count], power.passes(effect)[:count]
        agree = 0
        for row, passed in zip(sums, passes, strict=True):
            one = with_signs if name == "permutation" else compared
            finding = RULES[name].read(one(row, sizes, rng), 0.05)
            agree += finding.holds == passed
        # Beyond 12 groups both sample sign patterns, and may differ where p is at the edge.
        assert agree >= (count if count == 100 else count - 2)


def test_a_margin_is_read_with_the_interval_also_below_twenty_groups() -> None:
    sizes = [2] * 10
    power = simulated("lower-bound", sizes, simulations=150, margin=0.1)
    rng = np.random.default_rng(2)
    for row, passed in zip(power.sums(0.3), power.passes(0.3), strict=True):
        assert LowerBound(margin=0.1).read(compared(row, sizes, rng), 0.05).holds == passed


def test_group_sums_have_the_mean_variance_and_correlation_that_were_stated() -> None:
    discordance = Discordance(0.3, 0.2, correlation=0.4, noise=0.5)
    replicates, size = 3, 4
    power = SimulatedComparisons(
        discordance, [size] * 50, PlannedRule("point", replicates=replicates), simulations=600,
        rng=np.random.default_rng(4),
    )  # fmt: skip
    sums = power.sums(0.1).ravel()
    variance = discordance.variance(0.1) * discordance.replicated(replicates)
    assert sums.mean() / size == pytest.approx(0.1, abs=0.003)
    assert sums.var() == pytest.approx(size * variance * (1 + (size - 1) * 0.4), rel=0.05)


@pytest.mark.parametrize(
    ("name", "groups", "discordance", "simulations"),
    [
        ("lower-bound", 30, Discordance(0.58, 0.34), 150),
        ("lower-bound", 8, Discordance(0.58, 0.34), 120),
        pytest.param("lower-bound", 47, Discordance(0.16, 0.03), 700, marks=pytest.mark.integration),
        pytest.param("lower-bound", 47, Discordance(0.58, 0.34), 700, marks=pytest.mark.integration),
        pytest.param("lower-bound", 10, Discordance(0.16, 0.03), 300, marks=pytest.mark.integration),
        pytest.param("lower-bound", 10, Discordance(0.58, 0.34), 300, marks=pytest.mark.integration),
        pytest.param("permutation", 30, Discordance(0.58, 0.34), 200, marks=pytest.mark.integration),
    ],
)
def test_the_stated_power_is_what_the_gates_rule_does_on_simulated_pairs(
    name: str, groups: int, discordance: Discordance, simulations: int
) -> None:
    sizes = [3] * (groups - groups // 5) + [2] * (groups // 5)
    stated = detected(PlannedRule(name), discordance, sizes, simulations=2000, rng=np.random.default_rng(1))
    fresh = simulated(name, sizes, simulations=simulations, seed=77, discordance=discordance)
    rng = np.random.default_rng(3)
    one_by_one = with_signs if name == "permutation" else compared
    for target, effect in stated.effects.items():
        comparisons = (one_by_one(row, sizes, rng) for row in fresh.sums(effect))
        holds = [RULES[name].read(comparison, 0.05).holds for comparison in comparisons]
        # Effects are found to 0.0005, which is about one point of power where it is steepest.
        allowed = 3.5 * math.sqrt(target * (1 - target) / simulations) + 0.015
        assert np.mean(holds) == pytest.approx(target, abs=allowed)


@settings(max_examples=8, deadline=None)
@given(
    name=st.sampled_from(["lower-bound", "permutation", "point"]),
    groups=st.integers(6, 30),
    low=st.floats(0.0, 0.2),
    more=st.floats(0.02, 0.2),
)
def test_simulated_power_rises_with_the_effect(name: str, groups: int, low: float, more: float) -> None:
    power = simulated(name, [2] * groups, simulations=300)
    assert power.power(low) <= power.power(low + more) + 0.01


def test_equal_seeds_give_equal_powers() -> None:
    one, other = (simulated("lower-bound", [3] * 20, simulations=200).power(0.2) for _ in range(2))
    assert one == other


def test_a_single_group_shows_nothing() -> None:
    assert simulated("lower-bound", [5], simulations=100).power(0.4) == 0.0


def test_a_group_without_a_pair_is_refused() -> None:
    with pytest.raises(InputError, match="every group must hold a pair"):
        simulated("lower-bound", [3, 0], simulations=100)


def test_beyond_noise_is_not_simulated() -> None:
    with pytest.raises(InputError, match="closed form"):
        simulated("beyond-noise", [3] * 30, simulations=100)
