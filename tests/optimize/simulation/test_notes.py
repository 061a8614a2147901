"""Simulated notes and scores: what ties, what is shared within a group, what is drawn anew in each replicate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lineage.errors import InputError
from optimize.simulation import PER_FACT, WHOLE_NOTE, CampaignShape, SimulatedJudge
from optimize.simulation.notes import draw_notes, score
from optimize.simulation.shape import MOST_OMISSIONS


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def scored(judge: SimulatedJudge, *, replicates: int = 1, groups: int = 40):  # type: ignore[no-untyped-def]  # inspected below
    notes = draw_notes(CampaignShape(), judge, campaigns=50, groups=groups, rng=rng())
    return notes, score(notes, judge, np.zeros((50, 2)), replicates=replicates, rng=rng(1))


def test_groups_have_one_to_four_omissions_and_the_mean_that_was_asked_for() -> None:
    notes = draw_notes(CampaignShape(pairs=2.8), PER_FACT, campaigns=100, groups=100, rng=rng())
    counts = notes.pairs.sum(axis=2)
    assert set(np.unique(counts)) == {1, 2, 3, 4}
    assert counts.mean() == pytest.approx(2.8, abs=0.05)
    assert notes.present[..., MOST_OMISSIONS:].all()


@pytest.mark.parametrize("judge", [PER_FACT, WHOLE_NOTE])
def test_scores_are_whole_steps_on_the_judges_scale(judge: SimulatedJudge) -> None:
    _, scores = scored(judge)
    assert scores.clean.dtype == scores.flawed.dtype == np.int16
    assert 0 <= scores.flawed.min() <= scores.clean.max() <= judge.levels


def test_fewer_levels_make_more_ties() -> None:
    coarse = replace(PER_FACT, levels=1, clean=0.5)
    ties = []
    for judge in (PER_FACT, coarse):
        notes, scores = scored(judge)
        ties.append((scores.halves(notes)[:, 0, 0][notes.pairs] == 1).mean())
    assert ties[1] > ties[0] + 0.3


def test_a_consultation_shifts_all_its_notes_and_no_pair() -> None:
    calm = replace(PER_FACT, consultation=0.0, levels=1000, clean=500.0)
    wild = replace(calm, consultation=20.0)
    (notes, low), (_, high) = scored(calm), scored(wild)
    assert high.clean.std() > 10 * low.clean.std()
    assert high.halves(notes).mean() == pytest.approx(low.halves(notes).mean(), abs=0.02)
    assert (low.halves(notes) == high.halves(notes)).mean() > 0.85, "only where rounding falls otherwise"


def test_a_deterministic_judge_repeats_itself_and_another_does_not() -> None:
    _, same = scored(replace(PER_FACT, replicate_share=0.0), replicates=3)
    assert (same.flawed == same.flawed[:, :, :1]).all()
    _, other = scored(PER_FACT, replicates=3)
    assert (other.flawed != other.flawed[:, :, :1]).any()


def test_replicates_of_one_prompt_differ_less_than_two_prompts() -> None:
    notes, scores = scored(PER_FACT, replicates=2)
    halves = scores.halves(notes)
    pairs = notes.pairs
    replicates = (halves[:, 0, 0] != halves[:, 0, 1])[pairs].mean()
    prompts = (halves[:, 0, 0] != halves[:, 1, 0])[pairs].mean()
    assert 0.02 < replicates < prompts - 0.03


def test_pair_outcomes_of_a_group_are_correlated() -> None:
    notes, scores = scored(PER_FACT, groups=200)
    halves = scores.halves(notes)
    difference = np.where(notes.pairs, halves[:, 1, 0] - halves[:, 0, 0].astype(float), np.nan)
    first, second = difference[..., 0].ravel(), difference[..., 1].ravel()
    both = ~np.isnan(second)
    assert np.corrcoef(first[both], second[both])[0, 1] > 0.2


def test_a_shift_lowers_omissions_and_nothing_else() -> None:
    notes = draw_notes(CampaignShape(), PER_FACT, campaigns=20, groups=20, rng=rng())
    plain, shifted = (score(notes, PER_FACT, np.full((20, 1), shift), rng=rng(1)) for shift in (0.0, 2.0))
    assert (plain.clean == shifted.clean).all()
    assert (plain.flawed[..., MOST_OMISSIONS:] == shifted.flawed[..., MOST_OMISSIONS:]).all()
    assert (shifted.flawed[..., :MOST_OMISSIONS] <= plain.flawed[..., :MOST_OMISSIONS]).all()
    assert shifted.flawed.mean() < plain.flawed.mean()


def test_complete_omissions_are_seen_better_than_partial_strong_ones() -> None:
    won = {}
    for trace in ("complete", "partial-strong"):
        notes = draw_notes(CampaignShape(traces={trace: 1.0}), PER_FACT, campaigns=20, groups=50, rng=rng())
        scores = score(notes, PER_FACT, np.zeros((20, 1)), rng=rng(1))
        won[trace] = scores.halves(notes)[:, 0, 0][notes.pairs].mean() / 2
    assert won["complete"] > won["partial-strong"] + 0.1


def test_a_trace_that_the_judge_does_not_know_is_refused() -> None:
    with pytest.raises(InputError, match="no ability for trace faint; it has"):
        draw_notes(CampaignShape(traces={"faint": 1.0}), PER_FACT, campaigns=1, groups=2, rng=rng())
