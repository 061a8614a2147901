"""The drawings of a study: every complete trial is a mark, and what is drawn stands in a table as well."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.sweep.picture import _axis, pictures
from lineage.records import Usage
from optimize.sweep import StudyResult, TrialResult
from optimize.sweep.spend import Spent


def study(values: list[tuple[float, ...]], objectives: tuple[Any, ...]) -> StudyResult:
    trials = [
        TrialResult(
            number,
            "complete",
            {},
            {"reading": {"values": dict(zip(objectives, found, strict=True))}, "candidates": 1, "reason": ""},
            str(number),
            "w",
            "e",
        )
        for number, found in enumerate(values, start=1)
    ]
    return StudyResult("s", "f", objectives, "usd", len(trials), tuple(trials), Spent(Usage(), Usage()), False)


def marks(svg: str) -> tuple[int, int]:
    """Filled and hollow marks, those of the legend left out."""
    return svg.count("<rect") - 1, svg.count("<circle") - 1


def test_the_pareto_front_is_filled_and_numbered_and_in_the_table() -> None:
    (picture,) = pictures(study([(0.9, 0.02), (0.5, 0.01), (0.4, 0.03)], ("paired", "cost")))
    assert picture.title == "Paired discrimination on omissions against US dollars a document"
    assert marks(picture.svg) == (2, 1)
    assert re.findall(r">(\d)</text>", picture.svg) == ["1", "2"]
    assert [(row[0], row[-1]) for row in picture.table.rows] == [("1", "yes"), ("2", "yes"), ("3", "no")]
    assert picture.table.rows[0][1:3] == ("0.900", "0.020000")


def test_several_objectives_are_drawn_against_the_first_and_one_against_the_trials() -> None:
    several = pictures(study([(0.9, 0.2, 30.0), (0.5, 0.1, 20.0)], ("paired", "cost", "words")))
    assert [picture.title for picture in several] == [
        "Paired discrimination on omissions against US dollars a document",
        "Paired discrimination on omissions against words of the prompt",
    ]
    (single,) = pictures(study([(0.5,), (0.4,), (0.7,)], ("paired",)))
    assert marks(single.svg) == (2, 1)
    assert [row[-1] for row in single.table.rows] == ["yes", "no", "yes"]


@pytest.mark.parametrize("values", [[(0.5, 0.1)], [(0.5, 0.1), (0.5, 0.1)], [(0.0, 0.0), (1.0, 0.0)]])
def test_trials_that_do_not_differ_can_be_drawn(values: list[tuple[float, ...]]) -> None:
    (picture,) = pictures(study(values, ("paired", "cost")))
    assert sum(marks(picture.svg)) == len(values)
    assert "nan" not in picture.svg
    assert picture.svg == pictures(study(values, ("paired", "cost")))[0].svg


def test_a_study_without_a_complete_trial_draws_nothing() -> None:
    assert pictures(study([], ("paired", "cost"))) == ()


@given(st.lists(st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 6)), min_size=1, max_size=9))
def test_an_axis_spans_its_values_in_few_steps(values: list[float]) -> None:
    ticks = _axis(values)
    assert ticks[0] <= min(values) + 1e-6
    assert ticks[-1] >= max(values) - 1e-6
    assert 2 <= len(ticks) <= 7
    assert all(later > earlier for earlier, later in pairwise(ticks))
