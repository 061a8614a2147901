"""Effects in points against simulation by brute force."""

from __future__ import annotations

import numpy as np
import pytest

from lineage.errors import InputError
from optimize.simulation import PER_FACT, WHOLE_NOTE, CampaignShape, PromptEffect, SimulatedJudge
from optimize.simulation.effects import effect_scale
from optimize.simulation.notes import draw_notes, score


@pytest.mark.parametrize("judge", [PER_FACT, WHOLE_NOTE])
@pytest.mark.parametrize("gain", [-0.05, 0.0, 0.08])
def test_a_shift_gives_the_gain_it_stands_for(judge: SimulatedJudge, gain: float) -> None:
    scale, rng = effect_scale(judge, CampaignShape()), np.random.default_rng(3)
    notes = draw_notes(CampaignShape(), judge, campaigns=200, groups=200, rng=rng)
    scores = score(notes, judge, np.full((200, 1), scale.shift(gain)), rng=rng)
    seen = scores.halves(notes)[:, 0, 0][notes.pairs].mean() / 2
    assert seen == pytest.approx(scale.baseline + gain, abs=0.005)
    assert float(scale.gain(scale.shift(gain))) == pytest.approx(gain, abs=1e-9)


def test_more_ability_never_discriminates_less_and_no_shift_is_the_baseline() -> None:
    scale = effect_scale(PER_FACT, CampaignShape())
    assert (np.diff(scale.values) >= 0).all()
    assert float(scale.shift(0.0)) == 0.0
    assert float(scale.gain(0.0)) == 0.0


def test_an_effect_beyond_what_any_ability_reaches_is_refused() -> None:
    scale = effect_scale(PER_FACT, CampaignShape())
    with pytest.raises(InputError, match=r"gain must be in \(-0\.\d+, \+0\.20\d\) for this judge, got \+0.5"):
        scale.check(PromptEffect(gain=0.5))
