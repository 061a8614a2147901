"""What the simulations show: the gate tells the truth under the null, and accept does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lineage.errors import InputError
from optimize.simulation import (
    ACCEPT_ONLY,
    PER_FACT,
    WHOLE_NOTE,
    CampaignShape,
    PromptEffect,
    SimulatedJudge,
    Simulation,
    coverage,
    emission,
    optimism,
    power,
    world,
)

PUBLISHED = CampaignShape()
"""45, 20 and 47 groups, 20 candidates, about 2.8 omissions a group, one replicate."""
NULL = PromptEffect()
RULES = ("lower-bound", "permutation", "point")


def test_of_ten_thousand_null_campaigns_the_default_rule_emits_at_most_one_in_twenty() -> None:
    seen = emission(world(PUBLISHED, PER_FACT, NULL), RULES, Simulation(10_000, seed=20_261_130))
    false = seen.false["lower-bound"]
    assert false.n == 10_000
    assert false.interval.high <= 0.05
    assert seen.false["permutation"].interval.high <= 0.05
    # The rule that believes a positive difference, and the one that believes accept.
    assert 0.42 < seen.false["point"].value < 0.50
    assert seen.false[ACCEPT_ONLY].value == pytest.approx(0.94, abs=0.015)
    assert seen.optimism.value == pytest.approx(0.057, abs=0.005)
    assert seen.heldout_difference.value == pytest.approx(0.0, abs=3 * seen.heldout_difference.error)
    # What the simulated judge was set to: the published per-fact checker.
    assert seen.paired.value == pytest.approx(0.79, abs=0.01)
    assert seen.ties.value == pytest.approx(0.30, abs=0.02)
    assert 0.16 < seen.discordant.value < 0.23


@pytest.mark.integration
@pytest.mark.parametrize("judge", [PER_FACT, WHOLE_NOTE])
@pytest.mark.parametrize("shape", [PUBLISHED, replace(PUBLISHED, heldout=12), replace(PUBLISHED, replicates=3)])
def test_the_default_rule_holds_its_level_for_other_judges_and_shapes(
    judge: SimulatedJudge, shape: CampaignShape
) -> None:
    seen = emission(world(shape, judge, NULL), RULES, Simulation(4_000, seed=1))
    assert seen.false["lower-bound"].interval.high <= 0.05
    assert seen.false["permutation"].interval.high <= 0.05


def test_the_default_interval_covers_the_truth_as_often_as_it_says_at_forty_seven_groups() -> None:
    cells = coverage(world(PUBLISHED, PER_FACT, NULL), (47,), Simulation(4_000, seed=20_261_130))
    found = {(cell.quantity, cell.method): cell for cell in cells}
    default = found["difference", "linearised t"]
    assert 0.935 <= default.covers.interval.low <= default.covers.interval.high <= 0.965
    assert 0.0 < default.too_high.value < 0.035
    for method in ("percentile", "BCa"):
        assert 0.90 < found["difference", method].covers.value < 0.96
    assert 0.93 < found["paired discrimination", "linearised t"].covers.value < 0.97


def test_bootstrap_intervals_are_too_narrow_at_ten_groups_and_the_default_is_not() -> None:
    cells = coverage(world(PUBLISHED, PER_FACT, NULL), (10,), Simulation(1_000, seed=2))
    covers = {cell.method: cell.covers.value for cell in cells if cell.quantity == "difference"}
    assert covers["linearised t"] > 0.94 > covers["percentile"] > covers["BCa"]


def test_coverage_under_an_effect_is_of_the_effect() -> None:
    here = world(PUBLISHED, PER_FACT, PromptEffect(gain=0.06))
    (cell, *_) = coverage(here, (47,), Simulation(800, seed=3))
    assert cell.covers.value == pytest.approx(0.95, abs=0.03)


def test_optimism_grows_with_the_number_of_candidates() -> None:
    cells = optimism(world(PUBLISHED, PER_FACT, NULL), (1, 5, 20), Simulation(1_000, seed=5))
    assert [cell.candidates for cell in cells] == [1, 5, 20]
    values = [cell.optimism.value for cell in cells]
    assert 0.0 < values[0] < values[1] < values[2]
    assert cells[0].shows_gain.value < 0.5 < 0.9 < cells[2].shows_gain.value
    with pytest.raises(InputError, match="candidates must be at least 1, got 0"):
        optimism(world(PUBLISHED, PER_FACT, NULL), (0,), Simulation(1))


def test_power_grows_with_the_effect_and_with_the_groups() -> None:
    cells = power(world(PUBLISHED, PER_FACT, NULL), (0.03, 0.08), (20, 80), ("lower-bound",), Simulation(400, seed=6))
    rates = {(cell.gain, cell.heldout): cell.emitted.value for cell in cells}
    assert rates[0.03, 20] < rates[0.03, 80] < rates[0.08, 80]
    assert rates[0.03, 20] < rates[0.08, 20]
    assert rates[0.08, 80] > 0.95
    assert all(cell.false.k == 0 for cell in cells), "every candidate is truly better"


def test_an_effect_of_reasoning_does_not_show_without_it() -> None:
    effect = PromptEffect(gain=0.1, from_effort="high")
    asleep, awake = (
        emission(world(replace(PUBLISHED, effort=effort), PER_FACT, effect), ("lower-bound",), Simulation(400, seed=7))
        for effort in ("none", "high")
    )
    assert asleep.true_gain.value == 0.0
    assert asleep.emitted["lower-bound"].value < 0.06
    assert awake.emitted["lower-bound"].value > 0.9
    assert awake.false["lower-bound"].k == 0
    cells = power(world(PUBLISHED, PER_FACT, effect), (0.1,), (47,), ("lower-bound",), Simulation(200, seed=7))
    assert cells[0].emitted.k == 0, "the stated effect does not come back below its effort"


def test_false_emission_counts_winners_that_are_no_better_though_others_are() -> None:
    seen = emission(world(PUBLISHED, PER_FACT, PromptEffect(gain=0.06, share=0.2)), ("point",), Simulation(600, seed=8))
    assert 0 < seen.false["point"].k < seen.emitted["point"].k
    assert 0.0 < seen.true_gain.value < 0.06


def test_more_campaigns_begin_with_the_same_ones() -> None:
    here = world(replace(PUBLISHED, candidates=2), PER_FACT, NULL)
    few, many = (optimism(here, (2,), Simulation(count, seed=9))[0] for count in (150, 300))
    again = optimism(here, (2,), Simulation(150, seed=9))[0]
    assert few == again
    assert few.shows_gain.k <= many.shows_gain.k <= few.shows_gain.k + 150


def test_an_unknown_rule_and_a_wrong_alpha_are_refused() -> None:
    with pytest.raises(InputError, match=r"rule must be one of lower-bound, .*, got 'hope'"):
        emission(world(PUBLISHED, PER_FACT, NULL), ("hope",), Simulation(1))
    with pytest.raises(InputError, match=r"alpha must be in \(0, 1\), got 5; use 0.05"):
        Simulation(1, alpha=5)


def test_what_no_campaign_has_is_undefined() -> None:
    from optimize.simulation.rates import mean, rate

    assert str(rate(np.zeros(0, dtype=np.bool_))) == "undefined: no simulated campaign counts"
    assert rate(np.zeros(0, dtype=np.bool_)).row()["simulated_rate"] is None
    assert mean(np.array([np.nan])).row() == {"simulated_mean": None, "standard_error": None, "n": 0}
    assert str(mean(np.array([1.0, 3.0, np.nan]))) == "+2.0000 (standard error 1.0000)"
