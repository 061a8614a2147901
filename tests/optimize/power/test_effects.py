from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from optimize.power import PER_FACT_LIKE, WHOLE_NOTE_LIKE, Discordance, PlannedRule, closed_power, detected

PUBLISHED = [3] * 37 + [2] * 10  # 47 groups, 131 omission pairs


def effects(
    rule: PlannedRule, discordance: Discordance, sizes: list[int], *, simulations: int = 1500
) -> dict[float, float]:
    rng = np.random.default_rng(1)
    return dict(detected(rule, discordance, sizes, simulations=simulations, rng=rng).effects)


def test_at_the_published_size_the_per_fact_checker_shows_about_seven_points_and_the_whole_note_judge_eighteen() -> (
    None
):
    rule = PlannedRule("lower-bound")
    assert effects(rule, PER_FACT_LIKE, PUBLISHED, simulations=4000)[0.8] == pytest.approx(0.07, abs=0.005)
    assert effects(rule, WHOLE_NOTE_LIKE, PUBLISHED, simulations=4000)[0.8] == pytest.approx(0.18, abs=0.012)


@pytest.mark.parametrize("discordance", [PER_FACT_LIKE, WHOLE_NOTE_LIKE])
def test_simulation_and_closed_form_meet_where_the_one_takes_over_from_the_other(discordance: Discordance) -> None:
    sizes, rule = [3] * 60, PlannedRule("lower-bound")
    found = detected(rule, discordance, sizes, rng=np.random.default_rng(1))
    assert found.method == "simulated"
    for power, effect in found.effects.items():
        assert closed_power(rule, discordance, sizes, effect) == pytest.approx(power, abs=0.04)
    assert detected(rule, discordance, [3] * 61, rng=np.random.default_rng(1)).method == "closed form"


def test_more_groups_show_smaller_effects_and_higher_powers_need_larger_ones() -> None:
    rule = PlannedRule("lower-bound")
    rows = [effects(rule, PER_FACT_LIKE, [3] * groups) for groups in (20, 30, 100, 400)]
    for fewer, more in pairwise(rows):
        assert all(more[power] < fewer[power] for power in fewer)
    for row in rows:
        assert row[0.5] < row[0.8] < row[0.9]


def test_a_smaller_share_of_alpha_shows_larger_effects_only() -> None:
    whole, third = (
        effects(PlannedRule("lower-bound", alpha=alpha), PER_FACT_LIKE, PUBLISHED)[0.8] for alpha in (0.05, 0.05 / 3)
    )
    assert third > whole


def test_replicates_show_smaller_effects_where_the_variance_is_noise() -> None:
    noisy = Discordance(0.58, 0.34, noise=1.0)
    one, three = (
        effects(PlannedRule("lower-bound", replicates=replicates), noisy, PUBLISHED)[0.8] for replicates in (1, 3)
    )
    # Effects go with the standard error, but for the few pairs that are not normal.
    assert three == pytest.approx(one / math.sqrt(3), rel=0.08)


@pytest.mark.parametrize("groups", [6, 30, 100])
def test_without_an_effect_a_rule_passes_by_chance_at_most_as_often_as_its_alpha_allows(groups: int) -> None:
    rng = np.random.default_rng(1)
    found = detected(PlannedRule("lower-bound"), WHOLE_NOTE_LIKE, [3] * groups, simulations=2000, rng=rng)
    assert found.by_chance <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / 2000)
    assert found.row()["by_chance"] == found.by_chance


def test_five_groups_can_never_pass_the_sign_flip_test_and_the_reason_says_so() -> None:
    found = detected(PlannedRule("lower-bound"), WHOLE_NOTE_LIKE, [3] * 5, rng=np.random.default_rng(1))
    assert all(math.isnan(effect) for effect in found.effects.values())
    assert "no p below 0.03125" in found.reason
    assert found.row()["effects"] == {"0.5": None, "0.8": None, "0.9": None}


def test_beyond_noise_without_noise_has_no_effect_and_says_what_it_needs() -> None:
    rule = PlannedRule("beyond-noise", replicates=3)
    found = detected(rule, PER_FACT_LIKE, PUBLISHED, hope=0.05, rng=np.random.default_rng(1))
    assert "needs replicates" in found.reason
    assert math.isnan(found.at_hope)


def test_the_point_rule_shows_half_of_all_nothings() -> None:
    found = effects(PlannedRule("point"), WHOLE_NOTE_LIKE, [3] * 100)
    assert found[0.5] == 0.0


def test_where_every_pair_that_differs_is_won_the_power_may_fall_again_and_the_effect_is_still_found() -> None:
    # Without full swaps all wins are worth 0.5: at the far end no group differs from another, and there is no interval.
    found = effects(PlannedRule("lower-bound"), Discordance(0.16, 0.0), [3] * 20)
    assert 0.05 < found[0.8] < found[0.9] < 0.2
