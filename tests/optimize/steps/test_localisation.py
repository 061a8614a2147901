"""Localisation: the first bad step, the lowest one, and detection of wrong steps."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from optimize.steps import ScoredSteps, first_bad, localisation, step_detection
from splits.steps import LabelledNote
from tests.optimize.steps.conftest import blind, perfect

MakeScored = Callable[..., ScoredSteps]


def test_one_who_knows_every_label_finds_the_first_wrong_step(scored: MakeScored) -> None:
    found = localisation(scored(perfect))
    assert (found.first.value, found.lowest.value, found.unflagged.value) == (1.0, 1.0, 1.0)
    assert found.unknown == 0
    whole = found.steps[0]
    assert (whole.kinds, whole.recall.value, whole.alarms.value, whole.auc.value) == ("all steps", 1.0, 0.0, 1.0)
    assert {part.kinds for part in found.steps[1:]} == {
        *("problem", "sentence", "problem-complete", "note-complete", "end")
    }


def test_level_steps_share_the_credit_and_chance_stands_beside_it(scored: MakeScored) -> None:
    found = localisation(scored(blind))
    assert found.first.value == 0.0, "no step is bad"
    assert found.lowest.value == pytest.approx(found.lowest_chance)
    assert found.steps[0].auc.value == 0.5


def test_a_step_before_the_first_wrong_one_counts_against_it(scored: MakeScored) -> None:
    def early(labelled: LabelledNote) -> list[float]:
        return [0.2, *perfect(labelled)[1:]]

    found = localisation(scored(early))
    assert (found.first.value, found.unflagged.value, found.lowest.value) == (0.0, 0.0, 1.0)


def test_detection_is_of_steps_with_a_label_alone(scored: MakeScored) -> None:
    made = scored(perfect)
    found = step_detection(made, kinds=("problem-complete",))
    assert (found.wrong, found.right) == (4, 4 * (2 + 1 + 2 + 1)), "beside a changed statement it is not labelled"
    nothing = step_detection(made.part("clean", lambda _: False))
    assert nothing.wrong == 0
    assert math.isnan(nothing.recall.value)
    assert nothing.recall.reason


def test_the_first_bad_step_is_below_the_threshold() -> None:
    assert first_bad((0.9, 0.5, 0.4), 0.5) == 2
    assert first_bad((0.9, 0.5), 0.5) is None


def test_a_step_of_which_nothing_is_known_is_not_the_lowest(scored: MakeScored) -> None:
    def unsure(labelled: LabelledNote) -> list[float]:
        return [0.05 if label is None else p for p, label in zip(perfect(labelled), labelled.labels, strict=True)]

    made = scored(unsure)
    assert any(None in note.labelled.labels for note in made.notes if note.labelled.first_wrong is not None)
    assert localisation(made).lowest.value == 1.0
    assert localisation(scored(blind)).lowest.value == pytest.approx(localisation(scored(blind)).lowest_chance)
