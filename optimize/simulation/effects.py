"""Effects in paired discrimination, as people state them, and as shifts of a simulated judge's ability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.stats import qmc

from lineage.errors import InputError
from optimize.simulation.judge import PromptEffect, SimulatedJudge
from optimize.simulation.notes import drawn_ability
from optimize.simulation.shape import CampaignShape

_BITS = 14
_REACH = 6.0


@dataclass(frozen=True, slots=True)
class EffectScale:
    """Expected paired discrimination of a judge by the shift of its ability.

    The expectation is over all notes, groups and deviations, by a fixed quasi-random sum: no draw of a simulation moves
    it. It is right to about 0.001.

    Attributes:
        shifts: ascending, in steps; 0 is the baseline.
        values: expected paired discrimination at each shift.
        baseline: expected paired discrimination without a shift.
    """

    shifts: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    baseline: float

    def shift(self, gain: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Shifts that have these gains over the baseline; a gain beyond the scale's ends is cut there."""
        return np.interp(np.asarray(gain, dtype=np.float64) + self.baseline, self.values, self.shifts)

    def gain(self, shift: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Gains over the baseline of these shifts; exactly 0 without a shift."""
        return np.interp(np.asarray(shift, dtype=np.float64), self.shifts, self.values) - self.baseline

    def check(self, effect: PromptEffect) -> None:
        """Refuse an effect that the judge cannot have.

        Raises:
            InputError: the baseline and the gain lie outside what any ability reaches.
        """
        low, high = self.values[0] - self.baseline, self.values[-1] - self.baseline
        if not low < effect.gain < high:
            raise InputError(
                f"gain must be in ({low:+z.3f}, {high:+z.3f}) for this judge, got {effect.gain:+g}: its baseline has a "
                f"paired discrimination of {self.baseline:.3f}"
            )


def effect_scale(judge: SimulatedJudge, shape: CampaignShape) -> EffectScale:
    """The scale of a judge on notes of this shape.

    Raises:
        InputError: the judge has no ability for a trace or a severity of the shape.
    """
    # Sobol points lie on multiples of 2**-bits; half a cell up, none of them is 0.
    points = qmc.Sobol(d=8, scramble=False, rng=None).random_base2(_BITS) + 2.0 ** -(_BITS + 1)
    draws = special.ndtri(points[:, 2:]).T
    clean = judge.clean + judge.consultation * draws[0]
    flawed = clean + judge.document * draws[1] + judge.prompt * draws[2]
    flawed -= judge.visibility * draws[3] + judge.prompt_visibility * draws[4]
    flawed -= drawn_ability(shape, judge, points[:, :2].T)
    twin = _rounded(clean + judge.prompt * draws[5], judge)
    shifts = np.linspace(-_REACH, _REACH, 193)
    assert shifts[96] == 0.0, "the baseline is a point of the scale"
    scores = _rounded(flawed - shifts[:, None], judge)
    values = ((scores < twin) + 0.5 * (scores == twin)).mean(axis=1)
    return EffectScale(shifts, values, float(values[96]))


def _rounded(latent: npt.NDArray[np.float64], judge: SimulatedJudge) -> npt.NDArray[np.float64]:
    return np.clip(np.rint(latent), 0, judge.levels)
