"""The simulated search: proposals are made until enough of them beat the baseline on a minibatch of reflect groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from optimize.simulation.effects import EffectScale
from optimize.simulation.judge import PromptEffect, SimulatedJudge
from optimize.simulation.notes import SimulatedNotes, SimulatedScores, draw_notes, score
from optimize.simulation.shape import MOST_OMISSIONS, CampaignShape

MOST_PROPOSALS: Final = 60
"""Proposals for one place of the pool; if none of them is accepted, the place stays empty."""
MARGIN: Final = 0.1
"""The margin of the reward, as a share of the scale; the default of a plan."""


@dataclass(frozen=True, slots=True)
class SimulatedPool:
    """What a search came to.

    Attributes:
        gains: true gains of the accepted candidates, shape (campaigns, candidates); NaN where none was accepted.
        proposals: proposals made, shape (campaigns,).
    """

    gains: npt.NDArray[np.float64]
    proposals: npt.NDArray[np.int64]


def search(
    shape: CampaignShape,
    judge: SimulatedJudge,
    effect: PromptEffect,
    scale: EffectScale,
    *,
    campaigns: int,
    rng: np.random.Generator,
) -> SimulatedPool:
    """Search for the candidates of each campaign.

    The parent of every proposal is the baseline, and what is compared is the reward on flawed notes: acceptance on a
    minibatch enriches the pool in what helps, and no more than a few groups allow.

    Args:
        shape: of the campaign.
        judge: the student.
        effect: the one that shows at the shape's effort.
        scale: of the judge.
        campaigns: how many.
        rng: source of all randomness.
    """
    notes = draw_notes(shape, judge, campaigns=campaigns, groups=shape.reflect, rng=rng)
    baseline = score(notes, judge, np.zeros((campaigns, 1)), rng=rng)
    gains = np.full(campaigns * shape.candidates, np.nan)
    proposals = np.zeros(campaigns, dtype=np.int64)
    open_places = np.arange(len(gains))
    for _ in range(MOST_PROPOSALS):
        if not len(open_places):
            break
        owner = open_places // shape.candidates
        proposals += np.bincount(owner, minlength=campaigns)
        drawn = draw_gains(effect, scale, len(open_places), rng)
        # Groups are drawn independently, so a run of them from a random start is a random minibatch.
        start = rng.integers(shape.reflect, size=len(open_places))
        batch = (start[:, None] + np.arange(shape.minibatch_groups)) % shape.reflect
        place = owner[:, None], batch
        seen = SimulatedNotes(notes.clean[place], notes.flawed[place], notes.present[place])
        child = score(seen, judge, scale.shift(drawn)[:, None], rng=rng)
        # Indexing replicate and arm by 0 and groups by an array puts the groups behind the places.
        parent = SimulatedScores(
            baseline.clean[:, 0, 0][place][:, None, None], baseline.flawed[:, 0, 0][place][:, None, None]
        )
        better = _reward(child, seen, judge) > _reward(parent, seen, judge)
        gains[open_places[better]] = drawn[better]
        open_places = open_places[~better]
    return SimulatedPool(gains.reshape(campaigns, shape.candidates), proposals)


def draw_gains(
    effect: PromptEffect, scale: EffectScale, count: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """True gains of proposals, cut to what the judge can reach."""
    gains = np.full(count, effect.gain)
    if effect.spread:
        gains += effect.spread * rng.standard_normal(count)
    if effect.share < 1.0:
        gains[rng.random(count) >= effect.share] = 0.0
    return np.asarray(np.clip(gains, scale.values[0] - scale.baseline, scale.values[-1] - scale.baseline))


def _reward(scores: SimulatedScores, notes: SimulatedNotes, judge: SimulatedJudge) -> npt.NDArray[np.int64]:
    """Summed reward of flawed notes in units that make it a whole number, shape (campaigns,)."""
    margin = max(1, round(MARGIN * judge.levels))
    below = scores.clean[:, 0, 0, :, None].astype(np.int64) - scores.flawed[:, 0, 0]
    # DESIGN: reward 0.5 credit + 0.5 margin, times four margins.
    credit = (below >= 0).astype(np.int64) + (below > 0)
    reward = margin * credit + 2 * np.clip(below, 0, margin)
    assert notes.present.shape[-1] >= MOST_OMISSIONS, "slots of omissions come first"
    return np.asarray(np.where(notes.present, reward, 0).sum(axis=(1, 2)))
