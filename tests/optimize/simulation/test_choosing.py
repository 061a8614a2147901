"""The choice of the winner for arrays against the choice that a campaign makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from lineage.records import Candidate
from optimize.choice import choose, standing
from optimize.evaluation import Evaluation
from optimize.search import PoolEntry
from optimize.simulation import PER_FACT, CampaignShape, SimulatedJudge
from optimize.simulation.choosing import choose_winners, detected, ranks_of, wins_in_halves
from optimize.simulation.notes import SimulatedNotes, SimulatedScores, draw_notes, score

COARSE = replace(PER_FACT, levels=6, clean=5.0, consultation=0.7)
"""Ties everywhere, so that every tie-break of the choice is used."""


@pytest.mark.parametrize(("judge", "seed"), [(PER_FACT, 0), (COARSE, 1)])
@pytest.mark.parametrize(("groups", "campaigns"), [(20, 4), (5, 30)])
def test_the_winner_is_the_one_that_a_campaign_chooses(
    evaluation: Callable[[SimulatedNotes, SimulatedScores, int, int], Evaluation],
    candidate_of: Callable[[int], Candidate],
    judge: SimulatedJudge,
    seed: int,
    groups: int,
    campaigns: int,
) -> None:
    rng = np.random.default_rng(seed)
    notes = draw_notes(CampaignShape(), judge, campaigns=campaigns, groups=groups, rng=rng)
    scores = score(notes, judge, np.zeros((campaigns, 6)), rng=rng)
    ranks = ranks_of(scores, notes, np.zeros((campaigns, 6), dtype=np.bool_))
    winners, few = choose_winners(ranks, candidates=5), choose_winners(ranks, candidates=2)
    halves, flagged = wins_in_halves(scores, notes), detected(scores, notes)
    for campaign in range(campaigns):
        pool = [
            PoolEntry(candidate_of(arm), evaluation(notes, scores, campaign, arm), {}, str(arm)) for arm in range(6)
        ]
        assert choose(pool)[0].entry.name == str(winners[campaign])
        assert choose(pool[:3])[0].entry.name == str(few[campaign])
        for arm, entry in enumerate(pool):
            place = standing(entry)
            assert place.paired.value * place.paired.n * 2 == pytest.approx(halves[campaign, arm])
            assert place.detection.detected == flagged[campaign, arm]


def test_an_absent_candidate_never_wins() -> None:
    notes = draw_notes(CampaignShape(), PER_FACT, campaigns=50, groups=20, rng=np.random.default_rng(0))
    scores = score(notes, PER_FACT, np.zeros((50, 6)), rng=np.random.default_rng(1))
    absent = np.ones((50, 6), dtype=np.bool_)
    absent[:, 0] = absent[:, 3] = False
    assert set(choose_winners(ranks_of(scores, notes, absent), candidates=5)) == {0, 3}
