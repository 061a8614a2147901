from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import PlanError
from optimize.sweep import Space, StudyStorage
from optimize.sweep.plan import SamplerPlan
from optimize.sweep.sampling import grid, point_key, sampler_of, trials_of

SpaceOf = Callable[..., Space]


def drawn(
    plan: SamplerPlan, space: Space, name: str, place: Path, *, interrupted: bool, trials: int = 8
) -> list[dict[str, Any]]:
    """The points of a study; an interrupted one is opened anew now and then."""
    points = []
    storage = StudyStorage(f"sqlite:///{place / 'studies.sqlite'}", name)
    study = storage.optuna_study(["maximize", "minimize"])
    for number in range(1, trials + 1):
        if interrupted and number == 5:
            storage.close()
            storage = StudyStorage(f"sqlite:///{place / 'studies.sqlite'}", name)
            study = storage.optuna_study(["maximize", "minimize"])
        study.sampler = sampler_of(
            plan,
            space,
            number,
            tried=set(map(point_key, points)),
            known=study.get_trials(deepcopy=False),
            directions=study.directions,
        )
        trial = study.ask()
        point: dict[str, Any] = dict(space.suggest(trial))
        points.append(point)
        study.tell(trial, [float(point["student.aggregator"] == "share"), float(point.get("objective.margin", 0))])
    storage.close()
    return points


@pytest.mark.integration
@pytest.mark.parametrize(
    "plan", [SamplerPlan(startup=3), SamplerPlan(kind="random"), SamplerPlan(kind="nsga2", population=4)]
)
def test_points_depend_on_the_seed_and_on_earlier_trials_alone(
    plan: SamplerPlan, space_of: SpaceOf, tmp_path: Path
) -> None:
    ranged = space_of(student__aggregator=["soft", "share"], objective__margin={"low": 0.05, "high": 0.4, "log": True})
    once = drawn(plan, ranged, "once", tmp_path, interrupted=False)
    assert once == drawn(plan, ranged, "again", tmp_path, interrupted=True)
    other = plan.model_copy(update={"seed": 9})
    assert once != drawn(other, ranged, "other", tmp_path, interrupted=False)
    assert len({point["objective.margin"] for point in once}) > 4, "each trial is drawn by a seed of its own"


@pytest.mark.integration
@pytest.mark.parametrize("plan", [SamplerPlan(startup=3), SamplerPlan(kind="random")])
def test_no_point_is_searched_twice_as_long_as_there_are_others(
    plan: SamplerPlan, space_of: SpaceOf, tmp_path: Path
) -> None:
    small = space_of(student__aggregator=["soft", "share"], search__minibatch_groups={"low": 1, "high": 4})
    size = len(list(small.points()))
    found = drawn(plan, small, "small", tmp_path, interrupted=False, trials=size)
    assert len(set(map(point_key, found))) == size == 8
    more = drawn(plan, small, "more", tmp_path, interrupted=True, trials=size + 1)
    assert more[:size] == found, "and then one again"


def test_a_grid_tries_every_point_once_and_refuses_to_repeat_one(mixed: Space, tmp_path: Path) -> None:
    plan = SamplerPlan(kind="grid", seed=4)
    size = trials_of(None, plan, mixed)
    found = drawn(plan, mixed, "grid", tmp_path, interrupted=False, trials=size)
    assert sorted(map(repr, found)) == sorted(map(repr, mixed.points()))
    assert found != list(mixed.points()), "a stopped study has seen a fair part of it"
    assert grid(mixed, seed=4) != grid(mixed, seed=5)
    assert trials_of(3, plan, mixed) == 3
    with pytest.raises(PlanError, match=rf"the grid has {size} points, and {size + 1} trials would repeat some"):
        trials_of(size + 1, plan, mixed)
