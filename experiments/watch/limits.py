"""The limits of a campaign, which are no part of what it registers: from its plan file, or from where it stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.loading import find_plan, load_plan_models, read_plan
from experiments.watch.spending import last_spend
from lineage.errors import InputError, PlanError
from lineage.ledger import Event
from lineage.records import VOLATILE


def limits_of(plan: str, registered: Mapping[str, Any]) -> Mapping[str, Any]:
    """The limits in a plan file.

    Args:
        plan: the file, or the name of a bundled plan.
        registered: body of the campaign's ``plan`` event.

    Raises:
        PlanError: the file cannot be read, or is not the plan that was registered.
    """
    path = find_plan(plan)
    found, _ = load_plan_models(read_plan(path), path)
    if found.hash != registered["plan_hash"]:
        raise PlanError(f"{path}: is not the plan of this run, which is {registered['plan_hash'][:12]}; name that one")
    return found.limits.model_dump(mode="json")


def recorded_limits(events: Sequence[Event]) -> Mapping[str, Any] | None:
    """The limits that were in force when a run ended or stopped last; None if it did neither, or has gone on since."""
    last = last_spend(events)
    return None if last is None else last.body[VOLATILE].get("limits")


def bundled_limits(registered: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The limits of a campaign of a bundled plan; None for any other, which is known by its file alone.

    Args:
        registered: body of the campaign's ``plan`` event.
    """
    try:
        return limits_of(f"{registered['plan']['name']}.yaml", registered)
    except (InputError, KeyError):
        return None
