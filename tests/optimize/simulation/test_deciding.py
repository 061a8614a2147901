"""The gate's rules for arrays against the rules themselves, on thousands of random campaigns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimize.evaluation import Evaluation
from optimize.gate import BeyondNoise, Finding, LowerBound, Permutation, Point, Rule
from optimize.noise import noise_floor
from optimize.objectives import compare
from optimize.simulation import PER_FACT, CampaignShape
from optimize.simulation.campaigns import _noise, run_campaigns, world
from optimize.simulation.deciding import (
    Bools,
    OwnNoise,
    SimulatedDifferences,
    SimulatedRule,
    holds,
    linearised,
    sign_flip_p,
)
from optimize.simulation.judge import PromptEffect
from optimize.simulation.notes import SimulatedNotes, SimulatedScores, draw_notes, score
from optimize.stats import Comparison, compare_values, sign_flip_test

RULES: tuple[LowerBound | Point | Permutation, ...] = (LowerBound(), LowerBound(margin=0.02), Point(), Permutation())


def drawn(campaigns: int, groups: int, *, replicates: int = 1, shift: float = 0.3, seed: int = 0):  # type: ignore[no-untyped-def]  # inspected below
    """Credits of the baseline and a candidate, and the notes."""
    rng = np.random.default_rng(seed)
    notes = draw_notes(CampaignShape(), PER_FACT, campaigns=campaigns, groups=groups, rng=rng)
    shifts = np.stack([np.zeros(campaigns), rng.choice([0.0, shift], campaigns)], axis=1)
    halves = score(notes, PER_FACT, shifts, replicates=replicates, rng=rng).halves(notes)
    return notes, halves / 2.0


def differences(notes, halves) -> SimulatedDifferences:  # type: ignore[no-untyped-def]  # from drawn
    replicates = halves.shape[2]
    sums = (halves[:, 1] - halves[:, 0]).sum(axis=(1, 3)) / replicates
    return SimulatedDifferences(sums, notes.pairs.sum(axis=2).astype(float), 0.5 / replicates)


def comparison(notes, halves, campaign: int) -> Comparison:  # type: ignore[no-untyped-def]  # from drawn
    """The comparison that a campaign makes of the same credits."""
    groups, slots = np.nonzero(notes.pairs[campaign])
    arms = halves[campaign].mean(axis=1)[:, groups, slots]
    return compare_values(arms[1], arms[0], groups, resamples=100, rng=np.random.default_rng(0))


def decided(rule: SimulatedRule, seen: SimulatedDifferences) -> Bools:
    return holds(rule, seen, alpha=0.05, noise=np.full(len(seen.sums), np.nan), rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("campaigns", "groups", "replicates"),
    [
        (300, 47, 1),
        (200, 20, 3),
        (200, 2, 1),
        (100, 9, 3),
        pytest.param(3_000, 47, 1, marks=pytest.mark.integration),
        pytest.param(2_000, 12, 1, marks=pytest.mark.integration),
    ],
)
def test_rules_decide_as_the_gate_does(campaigns: int, groups: int, replicates: int) -> None:
    notes, halves = drawn(campaigns, groups, replicates=replicates)
    seen = differences(notes, halves)
    intervals = linearised(seen, level=0.95)
    found = {rule: decided(rule, seen) for rule in RULES if groups < 16 or not isinstance(rule, Permutation)}
    passed = 0
    for campaign in range(campaigns):
        real = comparison(notes, halves, campaign)
        assert seen.values[campaign] == pytest.approx(real.difference.value, abs=1e-12)
        ends = real.difference.interval
        assert (intervals.low[campaign], intervals.high[campaign]) == pytest.approx(
            (ends.low, ends.high), abs=1e-12, nan_ok=True
        )
        for rule, holding in found.items():
            if isinstance(rule, Point) and abs(real.difference.value) < 1e-12:
                # Sums of thirds of credits may end a last bit off zero; level arms pass no rule here.
                assert not holding[campaign]
                continue
            finding: Finding = rule.read(real, 0.05)
            assert bool(holding[campaign]) == finding.holds, (campaign, finding.words)
            passed += finding.holds
    assert 0 < passed < len(found) * campaigns or groups == 2, "both decisions came up"


def test_the_sign_flip_p_is_exact_where_the_test_lists_every_pattern() -> None:
    notes, halves = drawn(60, 11)
    seen = differences(notes, halves)
    p = sign_flip_p(seen, rng=np.random.default_rng(0))
    assert p == pytest.approx([comparison(notes, halves, campaign).sign_flip.p for campaign in range(60)], abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(st.integers(-8, 8), min_size=1, max_size=10))
def test_the_sign_flip_p_of_any_differences_equals_that_of_the_test(steps: list[int]) -> None:
    seen = SimulatedDifferences(np.array([steps]) / 2, np.ones((1, len(steps))), 0.5)
    expected = sign_flip_test(np.array(steps) / 2, range(len(steps)), rng=np.random.default_rng(0)).p
    assert sign_flip_p(seen, rng=np.random.default_rng(0))[0] == pytest.approx(expected, abs=1e-12)


def test_the_sign_flip_p_of_many_groups_has_the_law_of_the_test() -> None:
    notes, halves = drawn(20, 47)
    seen = differences(notes, halves)
    assert (np.count_nonzero(seen.sums, axis=1) > 16).sum() > 10
    p = sign_flip_p(seen, rng=np.random.default_rng(0))
    for campaign in range(20):
        differing = seen.sums[campaign]
        real = sign_flip_test(differing, range(47), rng=np.random.default_rng(campaign)).p
        assert p[campaign] == pytest.approx(real, abs=5 * np.sqrt(2 * 0.25 / 10_000))


def test_what_is_undefined_passes_no_rule() -> None:
    flat = SimulatedDifferences(np.full((1, 30), 0.5), np.ones((1, 30)), 0.5)
    assert np.isnan(linearised(flat, level=0.95).low[0])
    assert not decided(LowerBound(), flat)[0]
    assert not decided(OwnNoise(), flat)[0], "one replicate has no noise floor"
    assert decided(Point(), flat)[0]


def test_beyond_noise_decides_as_the_gate_does(
    evaluation: Callable[[SimulatedNotes, SimulatedScores, int, int], Evaluation],
) -> None:
    rng = np.random.default_rng(5)
    notes = draw_notes(CampaignShape(), PER_FACT, campaigns=60, groups=12, rng=rng)
    shifts = np.stack([np.zeros(60), rng.choice([0.0, 0.4], 60)], axis=1)
    scores = score(notes, PER_FACT, shifts, replicates=3, rng=rng)
    halves = scores.halves(notes) / 2.0
    noise = _noise(halves[:, 0].sum(axis=(2, 3)) / notes.pairs.sum(axis=(1, 2))[:, None])
    found = holds(OwnNoise(), differences(notes, halves), alpha=0.05, noise=noise, rng=rng)
    for campaign in range(60):
        arms = [evaluation(notes, scores, campaign, arm) for arm in (0, 1)]
        floor = noise_floor(arms[0])
        assert noise[campaign] == pytest.approx(floor.difference_sd, abs=1e-12)
        real = compare(arms[1].pairs("omission"), arms[0].pairs("omission"), resamples=100, rng=rng)
        assert BeyondNoise(floor).read(real, 0.05).holds == found[campaign]
    assert 0 < found.sum() < 60


def test_adding_a_rule_changes_nothing_in_what_others_decide() -> None:
    here = world(CampaignShape(heldout=12), PER_FACT, PromptEffect(gain=0.05))
    one = run_campaigns(here, [Permutation()], alpha=0.2, campaigns=100, rng=np.random.default_rng(0))
    two = run_campaigns(
        here, [Permutation(), LowerBound(), Point()], alpha=0.2, campaigns=100, rng=np.random.default_rng(0)
    )
    assert (one.decisions["permutation"] == two.decisions["permutation"]).all()
    assert one.decisions["permutation"].any()


def test_the_rules_read_are_rules_of_the_gate() -> None:
    rules: tuple[Rule, ...] = RULES
    assert {rule.name for rule in rules} == {"lower-bound", "point", "permutation"}
