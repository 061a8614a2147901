"""The simulated search on minibatches of reflect groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from optimize.simulation import PER_FACT, CampaignShape, PromptEffect
from optimize.simulation.campaigns import run_campaigns, world
from optimize.simulation.effects import effect_scale
from optimize.simulation.searching import MOST_PROPOSALS, draw_gains, search
from optimize.stats.credit import reward


def test_acceptance_on_a_minibatch_enriches_the_pool() -> None:
    shape, effect = CampaignShape(candidates=5), PromptEffect(spread=0.08)
    scale = effect_scale(PER_FACT, shape)
    pool = search(shape, PER_FACT, effect, scale, campaigns=300, rng=np.random.default_rng(0))
    proposed = draw_gains(effect, scale, 20_000, np.random.default_rng(1))
    assert proposed.mean() == pytest.approx(0.0, abs=0.01)
    assert pool.gains.mean() > 0.01
    assert (pool.proposals >= 5).all()
    assert pool.proposals.mean() < 5 * MOST_PROPOSALS / 10


def test_under_the_null_fewer_than_half_of_the_proposals_enter_because_some_are_level() -> None:
    shape = CampaignShape()
    pool = search(
        shape, PER_FACT, PromptEffect(), effect_scale(PER_FACT, shape), campaigns=100, rng=np.random.default_rng(0)
    )
    assert (pool.gains == 0.0).all()
    assert 0.4 < shape.candidates / pool.proposals.mean() < 0.5


def test_a_share_of_prompts_without_effect_has_none() -> None:
    scale = effect_scale(PER_FACT, CampaignShape())
    gains = draw_gains(PromptEffect(gain=0.05, share=0.25), scale, 10_000, np.random.default_rng(0))
    assert set(gains) == {0.0, 0.05}
    assert (gains > 0).mean() == pytest.approx(0.25, abs=0.02)


def test_a_search_that_finds_nothing_ends_with_the_baseline_and_no_emission() -> None:
    blind = replace(
        PER_FACT,
        document=0.0,
        ability=dict.fromkeys(PER_FACT.ability, 0.0),
        commission=0.0,
        visibility=0.0,
        prompt=0.0,
        prompt_visibility=0.0,
    )
    from optimize.gate import LowerBound, Point

    here = world(CampaignShape(candidates=3), blind, PromptEffect())
    found = run_campaigns(here, [Point(), LowerBound()], alpha=0.05, campaigns=20, rng=np.random.default_rng(0))
    assert (found.winners == 0).all()
    assert (found.proposals == 3 * MOST_PROPOSALS).all()
    assert (found.accept_gains == 0.0).all()
    assert np.isnan(found.differences).all()
    assert not any(decided.any() for decided in found.decisions.values())


def test_the_reward_compared_is_that_of_the_search() -> None:
    from optimize.simulation.notes import SimulatedNotes, SimulatedScores
    from optimize.simulation.searching import MARGIN, _reward

    rng = np.random.default_rng(0)
    clean = rng.integers(25, 36, size=(200, 1, 1, 3)).astype(np.int16)
    flawed = rng.integers(25, 36, size=(200, 1, 1, 3, 6)).astype(np.int16)
    present = rng.random((200, 3, 6)) < 0.7
    notes = SimulatedNotes(clean[:, 0, 0].astype(np.float32), flawed[:, 0, 0].astype(np.float32), present)
    margin = round(MARGIN * PER_FACT.levels)
    found = _reward(SimulatedScores(clean, flawed), notes, PER_FACT)
    for campaign in range(200):
        expected = sum(
            reward(float(flawed[campaign, 0, 0, g, s]), float(clean[campaign, 0, 0, g]), scale=35, margin=margin)
            for g, s in zip(*np.nonzero(present[campaign]), strict=True)
        )
        assert found[campaign] == pytest.approx(4 * margin * expected)
