"""Drawings that pages share."""

from __future__ import annotations

import math
import re

import pytest

from experiments.report.blocks import Table
from experiments.report.charts import LOOKS, RIGHT, Dot, DotRow, Operating, dots_picture, mark, plane_picture, thinned

NUMBERS = Table("Numbers.", ("What", "Value"), (("one", "1"),))


def test_every_series_has_a_mark_and_a_line_of_its_own() -> None:
    marks = [re.sub(r'[\d.,-]+|class="\w+"', "", mark(10.0, 10.0, number)) for number in range(4)]
    assert len(set(LOOKS)) == 4
    assert marks[0] != marks[1] != marks[2]
    assert mark(10.0, 10.0, 2).count(",") == 3  # a triangle
    assert mark(10.0, 10.0, 3).count(",") == 4  # a diamond


def test_an_interval_wider_than_any_share_ends_at_the_edge() -> None:
    row = DotRow("few groups", (Dot(0.5, -5.853, 6.853),))
    picture = dots_picture("Title", "Words.", [row], series=("one",), key="k", table=NUMBERS)
    ends = [float(x) for x in re.findall(r'class="accept span" x1="([\d.-]+)" x2="([\d.-]+)"', picture.svg)[0]]
    assert 0 < ends[0] < ends[1] <= RIGHT


def test_a_value_that_is_undefined_is_not_drawn() -> None:
    assert Dot.of(None) is None
    assert Dot.of({"value": None, "low": None, "high": None}) is None
    row = DotRow("nothing", (None,))
    picture = dots_picture("Title", "Words.", [row], series=("one",), key="k", table=NUMBERS)
    assert picture.svg.count("<circle") == 1  # the legend's


def test_a_plane_has_the_line_without_signal_and_what_each_mark_means() -> None:
    judge = Operating("mine", ((0.0, 0.0), (0.1, 0.6), (1.0, 1.0)), (0.1, 0.6), (0.02, 0.3), (math.nan, math.nan))
    picture = plane_picture("Title", "Words.", [judge], key="k", table=NUMBERS)
    assert 'class="nothing"' in picture.svg
    assert "no signal" in picture.svg
    assert "hollow circles, dashed lines: mine" in picture.svg
    assert picture.svg.count('class="accept span"') == 1  # the undefined interval is not drawn


def test_names_are_never_markup() -> None:
    row = DotRow("<script>", (Dot(0.5),))
    picture = dots_picture("<b>", "<i>", [row], series=("<u>",), key="k", table=NUMBERS)
    assert not re.search(r"<(script|b|i|u)>", picture.svg)


@pytest.mark.parametrize("points", [2, 3, 5000])
def test_a_thinned_curve_keeps_its_ends(points: int) -> None:
    curve = [(place / (points - 1), place / (points - 1)) for place in range(points)]
    kept = thinned(curve)
    assert (kept[0], kept[-1]) == (curve[0], curve[-1])
    assert len(kept) <= 502
