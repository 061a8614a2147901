"""Best of N: the expectation is exact, between drawing and the best, and ties are drawn among."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.steps import ScoredSteps, expected_best, selection_curve
from tests.optimize.steps.conftest import blind, perfect

MakeScored = Callable[..., ScoredSteps]

pools = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=7)


def enumerated(scores: list[int], qualities: list[int], n: int) -> float:
    """The same by going through every draw, each of the level notes taken as often."""
    values = []
    for drawn in combinations(range(len(scores)), n):
        top = max(scores[place] for place in drawn)
        level = [qualities[place] for place in drawn if scores[place] == top]
        values.append(sum(level) / len(level))
    return sum(values) / len(values)


@given(pools, st.data())
def test_the_expectation_is_that_of_every_draw_enumerated(pool: list[tuple[int, int]], data: st.DataObject) -> None:
    scores, qualities = [score for score, _ in pool], [quality for _, quality in pool]
    n = data.draw(st.integers(1, len(pool)))
    assert expected_best(scores, qualities, n) == pytest.approx(enumerated(scores, qualities, n))


@given(pools)
def test_one_drawn_is_the_mean_and_equal_scores_choose_nothing(pool: list[tuple[int, int]]) -> None:
    scores, qualities = [score for score, _ in pool], [quality for _, quality in pool]
    mean = sum(qualities) / len(qualities)
    assert expected_best(scores, qualities, 1) == pytest.approx(mean)
    for n in range(1, len(pool) + 1):
        assert expected_best([1] * len(pool), qualities, n) == pytest.approx(mean)
        assert expected_best(scores, qualities, n) <= expected_best(qualities, qualities, n) + 1e-12


@pytest.mark.parametrize("n", [0, 3])
def test_more_than_there_are_cannot_be_drawn(n: int) -> None:
    with pytest.raises(InputError, match="n must be from 1 to the 2 candidates"):
        expected_best([0.1, 0.2], [0, 1], n)


def test_one_who_knows_reaches_the_best_and_one_who_does_not_gains_nothing(scored: MakeScored) -> None:
    curve = selection_curve(scored(perfect), aggregation="sum")
    assert [point.n for point in curve.points] == [1, 2, 3, 4]
    assert [point.verifier.value for point in curve.points] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert [point.best for point in curve.points] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    level = selection_curve(scored(blind), aggregation="mean")
    assert [point.gain.value for point in level.points] == pytest.approx([0.0] * 4)


def test_groups_with_too_few_notes_are_left_out_of_every_point(scored: MakeScored) -> None:
    curve = selection_curve(scored(perfect, failed=["g00.lost"]), aggregation="sum", most=4)
    assert curve.left_out == 1
    assert {point.verifier.n_groups for point in curve.points} == {3}


def test_drawing_one_gains_exactly_nothing_and_not_the_noise_of_a_sum() -> None:
    scores, qualities = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.1, 0.2, 0.3, 0.1, 0.2, 0.3]
    assert expected_best(scores, qualities, 1) == sum(qualities) / len(qualities)


def test_a_group_without_any_scored_note_is_counted_as_left_out(scored: MakeScored) -> None:
    failed = [f"g00.{name}" for name in ("clean", "changed", "added", "lost")]
    curve = selection_curve(scored(perfect, failed=failed), aggregation="sum", most=2)
    assert curve.left_out == 1


def test_the_largest_n_is_one_that_four_of_five_groups_reach(scored: MakeScored) -> None:
    two_of_nine = ["g00.lost", "g01.lost"]
    assert len(selection_curve(scored(perfect, groups=9, failed=two_of_nine), aggregation="sum").points) == 3
    assert len(selection_curve(scored(perfect, groups=10, failed=two_of_nine), aggregation="sum").points) == 4
