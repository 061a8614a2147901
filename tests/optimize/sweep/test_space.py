from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage.errors import PlanError
from optimize.sweep import Space, point_words

SpaceOf = Callable[..., Space]


class Drawing:
    """Draws each value at random, as a sampler would."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        return self._random.choice(choices)

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        return self._random.choice(range(low, high + 1, step))

    def suggest_float(
        self, name: str, low: float, high: float, *, step: float | None = None, log: bool = False
    ) -> float:
        assert step is not None
        return round(low + step * self._random.randint(0, round((high - low) / step)), 12)


@given(seed=st.integers(0, 10_000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_suggested_is_one_of_the_points(seed: int, mixed: Space) -> None:
    assert mixed.suggest(Drawing(seed)) in list(mixed.points())


def test_a_dimension_is_varied_only_where_the_others_are_as_it_asks(mixed: Space) -> None:
    points = list(mixed.points())
    assert len(points) == 2 * 3 + 2 * 2 * 3
    assert all(("objective.clean_weight" in point) == (point["student.aggregator"] == "share") for point in points)
    assert len({repr(point) for point in points}) == len(points)


def test_corners_hold_every_value_and_every_end_of_a_range(space_of: SpaceOf) -> None:
    space = space_of(student__aggregator=["soft", "share"], objective__margin={"low": 0.1, "high": 0.4, "log": True})
    assert not space.finite
    corners = list(space.corners())
    assert {point["student.aggregator"] for point in corners} == {"soft", "share"}
    assert {point["objective.margin"] for point in corners} == {0.1, 0.4}
    with pytest.raises(PlanError, match=r"space.objective.margin: a grid needs choices or a step"):
        list(space.points())


def test_the_plan_at_a_point_has_its_values_and_otherwise_those_of_the_base(space_of: SpaceOf) -> None:
    space = space_of(
        student__budget={"choices": {"short": {"answer_tokens": 1}, "long": {"answer_tokens": 8}}},
        student__budget__answer_tokens={"choices": [16, 32], "when": {"student.budget": "long"}},
        student__max_facts=[None, 3],
    )
    plan = space.plan_at({"student.budget": "long", "student.budget.answer_tokens": 32, "student.max_facts": None})
    assert (plan.student.budget.answer_tokens, plan.student.max_facts) == (32, None)
    assert space.plan_at({"student.budget": "short", "student.max_facts": 3}).student.budget.answer_tokens == 1
    assert plan.search.iterations == 2
    assert space.base["student"]["max_facts"] == 5, "the base itself stays as it was"


def test_choices_that_are_mappings_without_labels_stand_for_themselves(space_of: SpaceOf) -> None:
    space = space_of(student__budget=[{"answer_tokens": 1}, {"answer_tokens": 2}])
    first, second = space.points()
    assert space.plan_at(second).student.budget.answer_tokens == 2
    assert point_words(first) == 'budget {"answer_tokens":1}'


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("splits.lock", "splits cannot be varied: all searches of a study are compared on the same accept groups"),
        ("gate.rule", "gate cannot be varied: a study opens no held-out group"),
        ("controls.accept_groups", "a control makes a campaign that confirms nothing"),
        ("serach.seed", "unknown setting 'serach'; did you mean 'search'"),
        ("search.minibatch_group", "unknown setting 'minibatch_group'; did you mean 'minibatch_groups'"),
        ("student.budget.effort.more", "unknown setting 'more'; see holdgate plan --schema"),
    ],
)
def test_a_setting_that_is_not_there_or_may_not_be_varied_is_refused(
    path: str, message: str, space_of: SpaceOf
) -> None:
    with pytest.raises(PlanError, match=message):
        space_of(**{path: [1, 2]})


def test_a_condition_that_can_never_hold_is_refused(space_of: SpaceOf) -> None:
    with pytest.raises(PlanError, match=r"student.aggregator never is 'sfot'; it is one of soft, share"):
        space_of(
            student__aggregator=["soft", "share"],
            search__seed={"choices": [1, 2], "when": {"student.aggregator": "sfot"}},
        )


def test_dimensions_that_depend_on_each_other_are_refused(space_of: SpaceOf) -> None:
    space = space_of(
        search__seed={"choices": [1, 2], "when": {"search.iterations": 3}},
        search__iterations={"choices": [2, 3], "when": {"search.seed": 1}},
    )
    with pytest.raises(PlanError, match=r"search.seed, search.iterations depend on each other"):
        list(space.points())


def test_settings_that_do_not_go_together_are_refused_at_their_point(space_of: SpaceOf) -> None:
    space = space_of(student__shape=["per-fact", "whole-note"])
    with pytest.raises(PlanError, match=r"at shape whole-note: .*max_facts has no effect on shape whole-note"):
        space.plan_at({"student.shape": "whole-note"})
