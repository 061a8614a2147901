"""Calibration of P(+): bins share the steps among them, and the error is bounded by them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimize.steps import ScoredSteps, scored_steps, step_calibration
from splits.steps import LabelledNote
from tests.optimize.steps.conftest import documents, judgements_of, perfect, settings_of

MakeScored = Callable[..., ScoredSteps]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 15))
def test_bins_share_all_labelled_steps_and_bound_the_error(seed: int, bins: int) -> None:
    rng = np.random.default_rng(seed)
    corpus = documents(2)
    judged = judgements_of(corpus, lambda note: [float(p) for p in rng.uniform(0.01, 0.99, len(note.labels))])
    made = scored_steps("x", corpus, judged, settings_of())
    found = step_calibration(made, bins=bins)
    labelled = [label for note in made.notes for label in note.labelled.labels if label is not None]
    assert found.n == sum(each.n for each in found.bins) == len(labelled)
    assert sum(each.came_true for each in found.bins) == labelled.count("+")
    gaps = [abs(each.mean_probability - each.rate) for each in found.bins]
    assert 0 <= found.ece <= max(gaps) + 1e-12 <= 1 + 1e-12
    assert found.ece == pytest.approx(sum(gap * each.n for gap, each in zip(gaps, found.bins, strict=True)) / found.n)
    assert all(each.low <= each.mean_probability <= each.high for each in found.bins)


def test_one_who_states_the_rate_is_calibrated_and_one_who_is_sure_and_wrong_is_not(scored: MakeScored) -> None:
    made = scored(perfect)
    labels = [label for note in made.notes for label in note.labelled.labels if label is not None]
    rate = labels.count("+") / len(labels)
    assert step_calibration(scored(lambda note: [rate] * len(note.labels))).ece == pytest.approx(0.0, abs=1e-6)

    def turned(labelled: LabelledNote) -> list[float]:
        return [1 - p for p in perfect(labelled)]

    assert step_calibration(scored(turned)).ece > 0.7


def test_kinds_are_calibrated_apart(scored: MakeScored) -> None:
    made = scored(perfect)
    assert step_calibration(made, kinds=("end",)).n == 16
    assert step_calibration(made, kinds=("end",)).base_rate == 0.25
    assert step_calibration(made.part("none", lambda _: False), kinds=("sentence",)).base_rate == 1.0
