"""The models of a judging plan that are named by role, resolved through the model lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lineage.errors import PlanError
from optimize.judging.plan import JudgingPlan, parse_judging_plan
from optimize.model_lock import ModelLock
from optimize.model_plan import ModelPlan


def resolve_judging_models(plan: JudgingPlan, lock: ModelLock | None, *, where: str) -> JudgingPlan:
    """The plan with every model that is named by role replaced by the one that is pinned, at its pinned price.

    Raises:
        PlanError: a role is not pinned, or the plan's lock has no effect.
    """
    named = [model for _, model in plan.models_named() if model.original.role is not None]
    if plan.models is not None and not named:
        raise PlanError(f"{where}: models has no effect, as no model is named by role; remove it")

    def pinned(model: ModelPlan, place: str) -> ModelPlan:
        role = model.original.role
        if role is None:
            return model
        if lock is None or role not in lock.pins:
            why = "the plan names no model lock (models: models.lock.json)" if lock is None else "it is not pinned"
            raise PlanError(
                f"{where}: {place} is the model of role {role!r}, but {why}; a role that is not pinned cannot run: pin "
                "it with holdgate models pin"
            )
        found = lock.pins[role].resolved
        return found if model.of is None else model.model_copy(update={"of": found})

    return with_models(plan, pinned, where=where) if named else plan


def with_models(plan: JudgingPlan, change: Callable[[ModelPlan, str], ModelPlan], *, where: str) -> JudgingPlan:
    """The plan with every model changed, checked again.

    Args:
        plan: the plan.
        change: is given a model and where the plan names it.
        where: the plan's place, for messages.

    Raises:
        PlanError: a setting of a student does not go with its model.
    """
    data: dict[str, Any] = plan.model_dump(mode="json", exclude_unset=True, exclude={"model"})
    for row, judge in zip(data["students"], plan.students, strict=True):
        for key, model in (("model", judge.model), ("lister", judge.lister)):
            if model is not None:
                row[key] = change(model, f"students.{judge.name}.{key}").model_dump(mode="json", exclude_unset=True)
    return parse_judging_plan(data, where=where)
