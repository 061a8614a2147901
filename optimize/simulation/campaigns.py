"""Whole simulated campaigns, a block of them at a time: search on reflect, choice on accept, gate on held-out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from optimize.simulation.choosing import choose_winners, ranks_of, wins_in_halves
from optimize.simulation.deciding import Bools, Floats, SimulatedDifferences, SimulatedRule, holds
from optimize.simulation.effects import EffectScale, effect_scale
from optimize.simulation.judge import PromptEffect, SimulatedJudge
from optimize.simulation.notes import SimulatedNotes, draw_notes, score
from optimize.simulation.searching import search
from optimize.simulation.shape import CampaignShape


@dataclass(frozen=True, slots=True)
class SimulatedWorld:
    """What is simulated: a judge, what prompts do to it, and the campaigns that are run with it.

    Build one with `world`.

    Attributes:
        shape: of every campaign.
        judge: the student.
        effect: of prompts, as stated.
        scale: of the judge on notes of the shape.
    """

    shape: CampaignShape
    judge: SimulatedJudge
    effect: PromptEffect
    scale: EffectScale

    @property
    def shown(self) -> PromptEffect:
        """The effect that shows at the shape's effort."""
        return self.effect.at(self.shape.effort)


def world(shape: CampaignShape, judge: SimulatedJudge, effect: PromptEffect) -> SimulatedWorld:
    """A world.

    Raises:
        InputError: the judge does not know a trace or a severity of the shape, or cannot have the effect.
    """
    scale = effect_scale(judge, shape)
    scale.check(effect)
    return SimulatedWorld(shape, judge, effect, scale)


@dataclass(frozen=True, slots=True)
class SimulatedCampaigns:
    """What came of simulated campaigns, one an element; arrays of shape (campaigns,).

    Attributes:
        winners: place of the winner in the pool; 0 is the baseline, and then nothing was found.
        gains: the winner's true gain in paired discrimination over the baseline; 0 for the baseline itself.
        accept_gains: what accept shows as its gain, at least 0.
        differences: what held-out shows; NaN where nothing was found, as held-out is not opened then.
        decisions: where each rule is met, by its name; never where nothing was found.
        paired: the baseline's paired discrimination on held-out.
        ties: share of the baseline's held-out pairs, times replicates, that are level.
        discordant: share of held-out pairs, times replicates, on which winner and baseline differ in credit; NaN where
            nothing was found.
        proposals: proposals of the search.
    """

    winners: npt.NDArray[np.int64]
    gains: Floats
    accept_gains: Floats
    differences: Floats
    decisions: dict[str, Bools]
    paired: Floats
    ties: Floats
    discordant: Floats
    proposals: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.winners)


@dataclass(frozen=True, slots=True)
class SimulatedChoices:
    """Choices of a winner among the first n candidates, for several n; arrays of shape (sizes, campaigns).

    Attributes:
        gains: true gains of the winners.
        accept_gains: what accept shows as their gains.
    """

    gains: Floats
    accept_gains: Floats


def run_campaigns(
    simulated: SimulatedWorld,
    rules: Sequence[SimulatedRule],
    *,
    alpha: float,
    campaigns: int,
    rng: np.random.Generator,
) -> SimulatedCampaigns:
    """Run a block of whole campaigns.

    Args:
        simulated: the world.
        rules: each decides every campaign.
        alpha: two-sided error rate of the held-out comparison.
        campaigns: how many.
        rng: source of all randomness; adding a rule changes nothing in what the others decide.
    """
    shape, judge, scale = simulated.shape, simulated.judge, simulated.scale
    searching, choosing, confirming, *gate = rng.spawn(3 + len(rules))
    choices, proposals, winners = _choose(simulated, (shape.candidates,), campaigns, searching, choosing)
    notes = draw_notes(shape, judge, campaigns=campaigns, groups=shape.heldout, rng=confirming)
    gains, found = choices.gains[0], winners[0] > 0
    present = notes.pairs[:, None]
    judged = notes.pairs.sum(axis=(1, 2)) * shape.replicates
    before, baseline = _openings(simulated, notes, confirming)
    scores = score(notes, judge, scale.shift(gains)[:, None], replicates=shape.replicates, rng=confirming)
    winner = scores.halves(notes)[:, 0]
    noise = _noise(before.sum(axis=(2, 3)) / (2.0 * notes.pairs.sum(axis=(1, 2)))[:, None])
    seen = SimulatedDifferences(
        sums=(winner - baseline).sum(axis=(1, 3), dtype=np.float64) / (2.0 * shape.replicates),
        sizes=notes.pairs.sum(axis=2, dtype=np.float64),
        unit=0.5 / shape.replicates,
    )
    return SimulatedCampaigns(
        winners=winners[0],
        gains=gains,
        accept_gains=choices.accept_gains[0],
        differences=np.where(found, seen.values, np.nan),
        decisions={
            rule.name: found & holds(rule, seen, alpha=alpha, noise=noise, rng=own)
            for rule, own in zip(rules, gate, strict=True)
        },
        paired=baseline.sum(axis=(1, 2, 3)) / (2.0 * judged),
        ties=((baseline == 1) & present).sum(axis=(1, 2, 3)) / judged,
        discordant=np.where(found, ((winner != baseline) & present).sum(axis=(1, 2, 3)) / judged, np.nan),
        proposals=proposals,
    )


def run_choices(
    simulated: SimulatedWorld, sizes: Sequence[int], *, campaigns: int, rng: np.random.Generator
) -> SimulatedChoices:
    """Search and choose, without held-out data, among the first n candidates for each n of ``sizes``."""
    searching, choosing = rng.spawn(2)
    return _choose(simulated, sizes, campaigns, searching, choosing)[0]


def run_comparisons(
    simulated: SimulatedWorld, *, campaigns: int, rng: np.random.Generator
) -> tuple[SimulatedDifferences, SimulatedDifferences]:
    """Held-out data of one proposal against the baseline, without search and choice.

    Returns:
        The difference between both, and the baseline's own credit in the same form.
    """
    shape, judge = simulated.shape, simulated.judge
    notes = draw_notes(shape, judge, campaigns=campaigns, groups=shape.heldout, rng=rng)
    shifts = np.zeros((campaigns, 2))
    shifts[:, 1] = simulated.scale.shift(simulated.shown.gain)
    scores = score(notes, judge, shifts, replicates=shape.replicates, rng=rng)
    earned = scores.halves(notes).sum(axis=(2, 4), dtype=np.float64) / (2.0 * shape.replicates)
    sizes, unit = notes.pairs.sum(axis=2, dtype=np.float64), 0.5 / shape.replicates
    return SimulatedDifferences(earned[:, 1] - earned[:, 0], sizes, unit), SimulatedDifferences(
        earned[:, 0], sizes, unit
    )


def _openings(
    simulated: SimulatedWorld, notes: SimulatedNotes, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """The baseline's credits in halves in both openings of held-out data; of one replicate, the second alone."""
    replicates = simulated.shape.replicates
    times = replicates if replicates == 1 else 2 * replicates
    shifts = np.zeros((len(notes.clean), 1))
    scores = score(notes, simulated.judge, shifts, replicates=times, rng=rng)
    earned = scores.halves(notes)[:, 0]
    return earned[:, :replicates], earned[:, -replicates:]


def _noise(paired: Floats) -> Floats:
    """SD of the difference between two replicates, as `optimize.noise` has it; NaN where there is one.

    Args:
        paired: shape (campaigns, replicates).
    """
    if paired.shape[1] == 1:
        return np.full(len(paired), np.nan)
    return np.where(np.ptp(paired, axis=1) > 0.0, math.sqrt(2.0) * paired.std(axis=1, ddof=1), 0.0)


def _choose(
    simulated: SimulatedWorld,
    sizes: Sequence[int],
    campaigns: int,
    searching: np.random.Generator,
    choosing: np.random.Generator,
) -> tuple[SimulatedChoices, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Choices by size of the pool, proposals made, and winners by size of the pool."""
    shape, judge, scale = simulated.shape, simulated.judge, simulated.scale
    pool = search(shape, judge, simulated.shown, scale, campaigns=campaigns, rng=searching)
    absent = np.concatenate([np.zeros((campaigns, 1), dtype=np.bool_), np.isnan(pool.gains)], axis=1)
    gains = np.concatenate([np.zeros((campaigns, 1)), np.nan_to_num(pool.gains)], axis=1)
    notes = draw_notes(shape, judge, campaigns=campaigns, groups=shape.accept, rng=choosing)
    scores = score(notes, judge, scale.shift(gains), rng=choosing)
    ranks = ranks_of(scores, notes, absent)
    winners = np.stack([choose_winners(ranks, candidates=size) for size in sizes])
    rows = np.arange(campaigns)
    paired = wins_in_halves(scores, notes) / (2.0 * notes.pairs.sum(axis=(1, 2)))[:, None]
    choices = SimulatedChoices(
        gains=np.stack([gains[rows, winner] for winner in winners]),
        accept_gains=np.stack([paired[rows, winner] - paired[:, 0] for winner in winners]),
    )
    return choices, pool.proposals, winners
