"""How the point of a trial is chosen: an Optuna sampler made anew for each trial, from the study's seed and its number.

A sampler's own generator is not kept between processes. Made anew, it gives an interrupted study of one worker the same
points as an uninterrupted one; with several workers, points depend on what is known when they are chosen.

A search at a point that was searched before would find the same again. So a point that the sampler comes back to is
chosen anew, a few times, with other randomness and the same knowledge, and then among those that are left.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler

from lineage.canonical import canonical_json, digest
from lineage.errors import PlanError
from optimize.sweep.plan import SamplerPlan
from optimize.sweep.space import Label, Space

TRIES: Final = 16
"""Draws of a point that was not searched before, until one of those that are left is taken."""
MOST: Final = 4096
"""Most points that are looked through for one that is left."""
_DRAWN: Final = frozenset({"tpe", "random"})
"""Samplers whose draws can be made apart from the study; a generation of nsga2 lives in it, and a grid repeats none."""


def sampler_of(
    plan: SamplerPlan,
    space: Space,
    number: int,
    *,
    tried: Collection[str],
    known: Sequence[Any],
    directions: Sequence[Any],
) -> BaseSampler:
    """The sampler that chooses the point of one trial.

    Args:
        plan: which kind, and the seed.
        space: of the study.
        number: of the trial, from 1.
        tried: keys of the points of other trials (see :func:`point_key`).
        known: what Optuna knows of other trials.
        directions: of the objectives, as Optuna has them.
    """
    if plan.kind not in _DRAWN:
        return _sampler(plan, space, number, 0)
    for draw in range(TRIES):
        apart = optuna.create_study(directions=directions, sampler=_sampler(plan, space, number, draw))
        apart.add_trials(known)
        point = space.suggest(apart.ask())
        if point_key(point) not in tried:
            return GivenPoint(point)
    left = [each for each in islice(space.points(), MOST) if point_key(each) not in tried] if space.finite else []
    if left:
        point = left[int(np.random.default_rng(int(digest([plan.seed, number, "left"])[:16], 16)).integers(len(left)))]
    return GivenPoint(point)


def point_key(point: Mapping[str, Label]) -> str:
    """What tells points apart."""
    return canonical_json(dict(point))


def _sampler(plan: SamplerPlan, space: Space, number: int, draw: int) -> BaseSampler:
    seed = int(digest([plan.seed, number, "sampler", *([draw] if draw else [])])[:8], 16)
    if plan.kind == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    if plan.kind == "nsga2":
        return optuna.samplers.NSGAIISampler(population_size=plan.population, seed=seed)
    if plan.kind == "grid":
        return GivenPoint(grid(space, seed=plan.seed)[number - 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # constant_liar, in earlier versions
        return optuna.samplers.TPESampler(n_startup_trials=plan.startup, seed=seed, constant_liar=True)


def grid(space: Space, *, seed: int) -> list[dict[str, Label]]:
    """Every point of a space once, in an order that a stopped study has seen a fair part of.

    Raises:
        PlanError: there is no end of them.
    """
    points = list(space.points())
    order = np.random.default_rng(int(digest([seed, "grid"])[:16], 16)).permutation(len(points))
    return [points[int(place)] for place in order]


def trials_of(trials: int | None, plan: SamplerPlan, space: Space) -> int:
    """Trials of a study.

    Raises:
        PlanError: a grid has fewer points.
    """
    if plan.kind != "grid":
        assert trials is not None, "the plan was checked"
        return trials
    size = len(grid(space, seed=plan.seed))
    if trials is not None and trials > size:
        raise PlanError(f"{space.where}: trials: the grid has {size} points, and {trials} trials would repeat some")
    return trials or size


class GivenPoint(BaseSampler):  # type: ignore[misc]  # optuna is not followed by the type checker
    """Chooses a point that is given.

    Args:
        point: the point.
    """

    def __init__(self, point: dict[str, Label]) -> None:
        self._point = point

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, BaseDistribution]:
        """Nothing is sampled together."""
        del study, trial
        return {}

    def sample_relative(self, study: Any, trial: Any, search_space: dict[str, BaseDistribution]) -> dict[str, Any]:
        """Nothing is sampled together."""
        del study, trial, search_space
        return {}

    def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: BaseDistribution) -> Any:
        """The value of the given point."""
        del study, trial, param_distribution
        return self._point[param_name]
