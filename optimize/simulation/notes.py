"""Simulated notes of many campaigns at once, and the scores that arms give them.

Axes, in this order: campaigns, arms, replicates, groups, notes of a group. Among the flawed notes of a group omissions
come first, then commissions; a slot without a note is False in ``present``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError
from optimize.simulation.judge import SimulatedJudge
from optimize.simulation.shape import MOST_OMISSIONS, CampaignShape

Latent = npt.NDArray[np.float32]
Steps = npt.NDArray[np.int16]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SimulatedNotes:
    """Notes of one split.

    Attributes:
        clean: latent scores of clean notes, shape (campaigns, groups), in steps.
        flawed: latent scores of flawed notes as the baseline's ability sees them, shape (campaigns, groups, slots).
        present: which slots hold a note, shape (campaigns, groups, slots).
    """

    clean: Latent
    flawed: Latent
    present: Bools

    @property
    def pairs(self) -> Bools:
        """Which slots hold an omission, shape (campaigns, groups, 4)."""
        return self.present[..., :MOST_OMISSIONS]


@dataclass(frozen=True, slots=True)
class SimulatedScores:
    """Scores in whole steps.

    Attributes:
        clean: shape (campaigns, arms, replicates, groups).
        flawed: shape (campaigns, arms, replicates, groups, slots); without meaning where no note is present.
    """

    clean: Steps
    flawed: Steps

    def halves(self, notes: SimulatedNotes) -> npt.NDArray[np.int8]:
        """Credit of each omission in halves: 2, 1 or 0, and 0 where there is none.

        Returns:
            Shape (campaigns, arms, replicates, groups, 4).
        """
        twin, flawed = self.clean[..., None], self.flawed[..., :MOST_OMISSIONS]
        # DESIGN: credit 1 / 0.5 / 0 for below / level with / above its twin.
        found: npt.NDArray[np.int8] = (flawed <= twin).astype(np.int8) + (flawed < twin)
        return np.where(notes.pairs[:, None, None], found, np.int8(0))


def draw_notes(
    shape: CampaignShape, judge: SimulatedJudge, *, campaigns: int, groups: int, rng: np.random.Generator
) -> SimulatedNotes:
    """Draw the notes of one split of each campaign."""
    place = (campaigns, groups)
    omissions = 1 + rng.binomial(MOST_OMISSIONS - 1, (shape.pairs - 1.0) / (MOST_OMISSIONS - 1), size=place)
    slots = MOST_OMISSIONS + shape.commissions
    present = np.ones((*place, slots), dtype=np.bool_)
    present[..., :MOST_OMISSIONS] = np.arange(MOST_OMISSIONS) < omissions[..., None]
    shift = judge.consultation * normal(rng, place)
    seen = judge.visibility * normal(rng, (*place, 1)) + drawn_ability(
        shape, judge, rng.random((2, *place, MOST_OMISSIONS), dtype=np.float32)
    )
    clean = np.float32(judge.clean) + shift
    flawed = clean[..., None] + judge.document * normal(rng, (*place, slots))
    flawed[..., :MOST_OMISSIONS] -= seen
    flawed[..., MOST_OMISSIONS:] -= np.float32(judge.commission)
    return SimulatedNotes(clean, flawed, present)


def drawn_ability(shape: CampaignShape, judge: SimulatedJudge, uniform: npt.NDArray[Any]) -> Latent:
    """Steps by which omissions lower the score, from uniform draws of trace and severity.

    Args:
        shape: whose mixes of traces and severities are drawn from.
        judge: whose ability it is.
        uniform: shape (2, ...), in [0, 1): of the trace, of the severity.

    Raises:
        InputError: the shape has a trace or a severity that the judge has no ability for.
    """
    steps = _drawn(shape.traces, judge.ability, "trace", uniform[0])
    factor = _drawn(shape.severities, judge.severity, "severity", uniform[1])
    return steps * factor


def score(
    notes: SimulatedNotes,
    judge: SimulatedJudge,
    shifts: npt.NDArray[np.float64],
    *,
    replicates: int = 1,
    rng: np.random.Generator,
) -> SimulatedScores:
    """Score all notes with each arm.

    Args:
        notes: of one split.
        judge: the student.
        shifts: shape (campaigns, arms), what the arm's prompt adds to the ability on omissions, in steps.
        replicates: repetitions; the persistent part of an arm's deviations is the same in all.
        rng: source of the deviations.
    """
    campaigns, arms = shifts.shape
    groups, slots = notes.flawed.shape[1:]
    unit = (campaigns, arms, replicates, groups)
    clean = _rounded(notes.clean[:, None, None] + _deviations(judge, judge.prompt, unit, rng), judge)
    latent = notes.flawed[:, None, None] + _deviations(judge, judge.prompt, (*unit, slots), rng)
    seen = shifts.astype(np.float32)[:, :, None, None] + _deviations(judge, judge.prompt_visibility, unit, rng)
    latent[..., :MOST_OMISSIONS] -= seen[..., None]
    return SimulatedScores(clean, _rounded(latent, judge))


def normal(rng: np.random.Generator, size: tuple[int, ...]) -> Latent:
    """Standard normal draws."""
    return rng.standard_normal(size, dtype=np.float32)


def _deviations(judge: SimulatedJudge, sd: float, size: tuple[int, ...], rng: np.random.Generator) -> Latent:
    """What is an arm's own: a part that stays, and a part drawn anew in each replicate (axis 2)."""
    if size[2] == 1:
        return np.float32(sd) * normal(rng, size)
    stays = np.float32(sd * (1.0 - judge.replicate_share) ** 0.5) * normal(rng, (*size[:2], 1, *size[3:]))
    return stays + np.float32(sd * judge.replicate_share**0.5) * normal(rng, size)


def _rounded(latent: Latent, judge: SimulatedJudge) -> Steps:
    return np.clip(np.rint(latent), 0, judge.levels).astype(np.int16)


def _drawn(mix: Mapping[str, float], values: Mapping[str, float], name: str, uniform: npt.NDArray[Any]) -> Latent:
    if missing := sorted(mix.keys() - values.keys()):
        raise InputError(f"the simulated judge has no ability for {name} {', '.join(missing)}; it has {sorted(values)}")
    shares = np.array(list(mix.values()))
    edges = np.cumsum(shares / shares.sum())[:-1]
    return np.array([values[key] for key in mix], dtype=np.float32)[np.searchsorted(edges, uniform, side="right")]
