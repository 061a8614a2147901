from __future__ import annotations

import json
import math

import numpy as np
import pytest

from lineage.errors import InputError
from optimize.gate import CleanCounts
from optimize.power import PER_FACT_LIKE, Discordance, PlannedRule, Power, SplitSizes, between, closed_power, plan_power
from optimize.power.wording import ENOUGH
from optimize.stats import wilson

HELDOUT = SplitSizes((3,) * 37 + (2,) * 10, (2,) * 40, (1,) * 47, CleanCounts(47, 0))
ACCEPT = SplitSizes((3,) * 10 + (2,) * 10, (2,) * 15, (1,) * 20, CleanCounts(20, 0))


def stated(rule: PlannedRule | None = None, heldout: SplitSizes = HELDOUT, **more: object) -> Power:
    return plan_power(
        rule or PlannedRule("lower-bound"),
        {"accept": ACCEPT, "heldout": heldout},
        counts=(20, 200),
        simulations=400,
        rng=np.random.default_rng(1),
        **more,  # type: ignore[arg-type]  # tests give options by name
    )


def test_without_a_pilot_there_is_a_range_and_with_one_a_number() -> None:
    ranged, number = stated(), stated(discordance=PER_FACT_LIKE)
    assert (len(ranged.own), len(number.own)) == (2, 1)
    low, high = (one.effects[0.8] for one in ranged.own)
    assert low < high
    assert ranged.row()["range"] is True
    assert number.row()["range"] is False


def test_the_table_has_the_plans_own_count_among_the_others() -> None:
    power = stated(discordance=PER_FACT_LIKE)
    assert [line[0].groups for line in power.table] == [20, 47, 200]
    assert power.own == power.table[1]


def test_a_plan_that_cannot_see_what_it_hopes_for_is_warned_with_the_groups_it_would_take() -> None:
    power = stated(discordance=PER_FACT_LIKE, hope=0.02)
    (needed,) = power.needed
    assert needed is not None
    assert any("hopes for 2.0 points" in words and str(needed) in words for words in power.warnings)
    rule = PlannedRule("lower-bound")
    assert closed_power(rule, PER_FACT_LIKE, [3] * (2 * needed), 0.02) > ENOUGH
    assert power.own[0].at_hope < 0.5


def test_a_plan_that_sees_its_hope_is_not_warned() -> None:
    power = stated(discordance=PER_FACT_LIKE, hope=0.15)
    assert power.own[0].at_hope > 0.95
    assert not any("hopes" in words for words in power.warnings)


def test_few_groups_are_said_to_be_read_by_the_sign_flip_test() -> None:
    few = SplitSizes((3,) * 7, (2,) * 7, (1,) * 7, CleanCounts(7, 0))
    power = stated(heldout=few, discordance=PER_FACT_LIKE)
    assert power.own[0].reading == "sign-flip"
    assert any("reads the sign-flip test" in words for words in power.warnings)


def test_the_point_rule_is_said_to_pass_chance() -> None:
    power = stated(PlannedRule("point"), discordance=PER_FACT_LIKE)
    assert power.own[0].by_chance == pytest.approx(0.5, abs=0.1)
    assert any("Without any gain the rule point passes" in words for words in power.warnings)


def test_false_alarms_are_held_to_the_cap_at_the_level_at_which_the_gate_reads_guardrails() -> None:
    power = stated(discordance=PER_FACT_LIKE, guardrail_alpha=0.01)
    assert {steps.interval.level for steps in power.steps.values()} == {0.99}
    shown = power.steps["heldout"].shown
    assert shown is not None
    assert wilson(shown, 47, level=0.99).low > 0.10 >= wilson(shown - 1, 47, level=0.99).low
    assert shown > (stated(discordance=PER_FACT_LIKE).steps["heldout"].shown or 0)


def test_replicates_of_unknown_use_are_said_to_gain_nothing() -> None:
    rule = PlannedRule("lower-bound", replicates=3)
    assert any("replicates are taken to gain nothing" in words for words in stated(rule).warnings)
    noisy = stated(rule, discordance=Discordance(0.3, 0.1, noise=0.5))
    assert not any("replicates" in words for words in noisy.warnings)
    assert noisy.own[0].effects[0.8] < stated(rule, discordance=Discordance(0.3, 0.1)).own[0].effects[0.8]


def test_margins_that_equal_arms_could_not_show_are_warned_of() -> None:
    power = stated(discordance=PER_FACT_LIKE, false_alarm_margin=0.05, commission_margin=0.3)
    alarms = [margin for margin in power.margins if margin.name == "false alarms"]
    assert len(alarms) == 2
    assert alarms[0].margin < alarms[1].margin, "where more documents differ, only a wider margin can be shown"
    assert any("guardrail on false alarms (margin 0.05) would block" in words for words in power.warnings)
    assert not any("commissions" in words for words in power.warnings)


def test_flags_on_clean_candidates_are_not_called_false_alarms() -> None:
    candidates = SplitSizes((3,) * 47, (2,) * 40, (1,) * 47, CleanCounts(0, 47))
    power = stated(heldout=candidates, discordance=PER_FACT_LIKE, false_alarm_margin=0.05)
    assert "not verified clean" in power.row()["false_alarms"]["called"]
    assert {margin.name for margin in power.margins} == {"flags on clean candidates"}


def test_the_json_form_holds_no_nan() -> None:
    none = SplitSizes((3,) * 4, (), (), CleanCounts(0, 0))
    for power in (stated(heldout=none, hope=0.1), stated(PlannedRule("beyond-noise"), hope=0.1)):
        json.dumps(power.row(), allow_nan=False)


def test_a_split_without_an_omission_pair_can_see_nothing() -> None:
    with pytest.raises(InputError, match=r"no omission with a twin.*commit a split of a corpus that has some"):
        stated(heldout=SplitSizes((), (2,) * 40, (1,) * 47, CleanCounts(47, 0)))


@pytest.mark.parametrize("hope", [0.0, 5, -0.1])
def test_a_hope_that_is_no_share_is_refused(hope: float) -> None:
    with pytest.raises(InputError, match=r"0\.05 for 5 points"):
        stated(hope=hope)


def test_a_range_is_shown_with_what_is_undefined_in_it() -> None:
    assert between([6.84, 19.02], ".1f") == "6.8 to 19.0"
    assert between([19.02, 6.84], ".0f", unit="%") == "7 to 19%"
    assert between([6.84, 6.81], ".1f") == "6.8"
    assert between([6.84, math.nan], ".1f") == "6.8 or none"
    assert between([math.nan], ".1f") == "none"
