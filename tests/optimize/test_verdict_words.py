from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from optimize.equal_budget import EqualBudget, EqualBudgetReading
from optimize.gate import Arm, Gate, GateReading, Guardrails, LowerBound
from optimize.noise import ONE_REPLICATE, NoiseFloor, Spread
from optimize.objectives import compare
from optimize.verdict_words import AcceptReading, accept_words, heldout_words, in_points

MakeArm = Callable[..., Arm]
ONE = NoiseFloor(replicates=1, reason=ONE_REPLICATE)


def arms(make_arm: MakeArm, *, groups: int, won: int, lost: int, **more: Any) -> tuple[Arm, Arm]:
    """The candidate turns ``won`` losses into wins and ``lost`` wins into losses."""
    names = [f"g{index:02d}" for index in range(groups)]
    ours = {name: {"clean": 0.9, "omit": 0.95 if index < lost else 0.1} for index, name in enumerate(names)}
    theirs = {
        name: {"clean": 0.9, "omit": 0.95 if lost <= index < lost + won else 0.1} for index, name in enumerate(names)
    }
    return make_arm(ours, **more), make_arm(theirs, **more)


def reading(make_arm: MakeArm, *, alpha: float = 0.05, **how: Any) -> GateReading:
    gate = Gate(LowerBound(), Guardrails(None, None, None, None, None), 0.98, alpha)
    return gate.read(*arms(make_arm, **how), rng=np.random.default_rng(0))


def accept(make_arm: MakeArm, *, won: int = 3, lost: int = 1, groups: int = 20) -> AcceptReading:
    ours, theirs = (arm.evaluation.pairs() for arm in arms(make_arm, groups=groups, won=won, lost=lost))
    return AcceptReading((won - lost) / groups, compare(ours, theirs, rng=np.random.default_rng(0)), 20)


def said(found: GateReading, accepted: AcceptReading, *, noise: NoiseFloor = ONE, **more: Any) -> str:
    options: dict[str, Any] = {"comparisons": 1, "equal_budget": None, **more}
    return " ".join(heldout_words(found, accept=accepted, noise=noise, **options))


def points(found: GateReading) -> tuple[str, str]:
    interval = found.omissions.difference.interval
    return f"{100 * abs(interval.low):.1f}", f"{100 * abs(interval.high):.1f}"


def test_futility_is_a_result_with_what_it_excludes(make_arm: MakeArm) -> None:
    found = reading(make_arm, groups=47, won=5, lost=6)
    low, high = points(found)
    words = said(found, accept(make_arm))
    assert "On 47 held-out groups (47 omission pairs) the winner differs from the baseline by -2.1 points" in words
    assert "That shows neither a gain nor a loss." in words
    assert f"Gains above {high} points and losses above {low} are excluded." in words


def test_a_shown_gain_says_how_small_and_how_large_it_cannot_be(make_arm: MakeArm) -> None:
    found = reading(make_arm, groups=47, won=25, lost=1)
    low, high = points(found)
    words = said(found, accept(make_arm))
    assert f"That shows a gain. Gains above {high} and below {low} points are excluded." in words


def test_a_shown_loss_excludes_every_gain(make_arm: MakeArm) -> None:
    found = reading(make_arm, groups=47, won=1, lost=25)
    low, high = points(found)
    words = said(found, accept(make_arm))
    assert f"That shows a loss. Every gain is excluded, and losses above {low} and below {high} points." in words


def test_below_twenty_groups_the_sign_flips_decide_whether_a_gain_is_shown(make_arm: MakeArm) -> None:
    # Four groups of ten that differ cannot come to a p below one in sixteen, whatever their interval.
    few = reading(make_arm, groups=10, won=4, lost=0)
    assert few.omissions.difference.interval.low > 0
    assert "That shows neither a gain nor a loss." in said(few, accept(make_arm))
    assert "That shows a gain." in said(reading(make_arm, groups=10, won=9, lost=0), accept(make_arm))
    assert "That shows a loss." not in said(reading(make_arm, groups=10, won=0, lost=9), accept(make_arm))


def test_held_out_data_without_a_scored_pair_compare_nothing(make_arm: MakeArm) -> None:
    names = [f"g{index}" for index in range(4)]
    ours, theirs = (make_arm({name: {"clean": 0.9, "omit": None} for name in names}) for _ in range(2))
    found = Gate(LowerBound(), Guardrails(None, None, None, None, None), 0.98, 0.05).read(
        ours, theirs, rng=np.random.default_rng(0)
    )
    assert found.decision == "undecided"
    words = said(found, accept(make_arm))
    assert words.startswith(
        "Nothing could be compared on held-out data: there is no observation that is scored in both"
    )
    assert "how optimistic accept was is not known" in words
    assert "nan" not in words


@pytest.mark.parametrize(
    ("share", "words"), [(-0.0001, "+0.0"), (0.0, "+0.0"), (-0.0006, "-0.1"), (0.0271, "+2.7"), (np.nan, "undefined")]
)
def test_a_difference_that_rounds_to_nothing_has_no_sign_of_a_loss(share: float, words: str) -> None:
    assert in_points(share) == words


def test_one_of_a_thing_is_no_plural(make_arm: MakeArm) -> None:
    assert "over 20 groups, 1 pair better and 0 worse" in accept_words(accept(make_arm, won=1, lost=0))


def test_arms_that_agree_in_every_group_have_no_interval_and_exclude_nothing(make_arm: MakeArm) -> None:
    words = said(reading(make_arm, groups=30, won=0, lost=0), accept(make_arm))
    assert "the difference is +0.0 points; it has no interval, and shows nothing: every group has the same" in words
    assert "excluded" not in words


def test_levels_follow_the_number_of_comparisons(make_arm: MakeArm) -> None:
    words = said(reading(make_arm, alpha=0.05 / 4, groups=47, won=5, lost=6), accept(make_arm), comparisons=4)
    assert "98.75% interval [" in words
    assert "], simultaneous over 4 comparisons." in words


def test_accept_was_as_optimistic_as_it_was_above_heldout_data(make_arm: MakeArm) -> None:
    words = said(reading(make_arm, groups=47, won=5, lost=6), accept(make_arm))
    assert "chose the winner among 20 candidates, it gained +10.0 points: accept was optimistic by 12.1." in words
    other = said(reading(make_arm, groups=40, won=20, lost=0), accept(make_arm))
    assert "accept was pessimistic by 40.0." in other


def test_whether_the_gain_could_be_told_from_noise_on_accept_is_said_and_called_optimistic(make_arm: MakeArm) -> None:
    little = accept_words(accept(make_arm, won=3, lost=1))
    assert little.startswith("On accept itself the gain could not be told from noise: 95% interval [")
    assert "3 pairs better and 1 worse (sign test p = 0.625). Both are optimistic" in little
    assert "the gain could be told from noise" in accept_words(accept(make_arm, won=12, lost=0))


def test_the_noise_of_the_baseline_is_beside_the_difference_or_its_absence_is_said(make_arm: MakeArm) -> None:
    found, accepted = reading(make_arm, groups=47, won=5, lost=6), accept(make_arm)
    assert "How far the baseline differs from itself was not measured: one replicate." in said(found, accepted)
    noisy = NoiseFloor(replicates=3, pairs=47, flipped=9, measures={"omissions": Spread((0.5, 0.52, 0.54), 47)})
    assert "0.8 times the noise floor (2.8 points" in said(found, accepted, noise=noisy)
    same = NoiseFloor(replicates=3, pairs=47, measures={"omissions": Spread((0.5,) * 3, 47)}, deterministic=True)
    assert "the judge is deterministic" in said(found, accepted, noise=same)


@pytest.mark.parametrize(("won", "verdict"), [(25, "is still beaten"), (3, "is not shown to be beaten")])
def test_the_baseline_at_equal_budget_is_in_the_words(make_arm: MakeArm, won: int, verdict: str) -> None:
    ours, theirs = (arm.evaluation.pairs() for arm in arms(make_arm, groups=40, won=won, lost=2))
    budget = EqualBudget("bought", 10, 900.0, 50.0)
    second = EqualBudgetReading(budget, compare(ours, theirs, rng=np.random.default_rng(0)), 880.0, 510.0)
    words = said(reading(make_arm, groups=40, won=3, lost=2), accept(make_arm), equal_budget=second)
    assert f"(10 samples, 510.0 a judgement against 880.0), the baseline {verdict}:" in words
    assert "Its budget stays below the winner's: 10 samples is what it was given, 10 is the most." in words


def test_few_groups_and_untested_subgroups_are_said(make_arm: MakeArm) -> None:
    words = said(reading(make_arm, groups=10, won=1, lost=0), accept(make_arm))
    assert "10 held-out groups cannot confirm a moderate gain." in words
    assert "Sub-groups: not tested, as the overall gate must pass first." in words


def test_flags_on_clean_candidates_are_said_to_be_no_false_alarms(make_arm: MakeArm) -> None:
    found = reading(make_arm, groups=20, won=1, lost=0, candidates=[f"g{index:02d}" for index in range(20)])
    words = said(found, accept(make_arm))
    assert "Flag rate on clean candidates (not verified clean) on held-out data: winner 0 of 20 (0.000" in words
    assert "A flag on a clean candidate may be right" in words
    plain = said(reading(make_arm, groups=20, won=1, lost=0), accept(make_arm))
    assert "False-alarm rate on held-out data: winner 0 of 20" in plain
