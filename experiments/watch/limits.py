"""The limits of a campaign, which are no part of what it registers: from its plan file, or from where it stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.loading import find_plan, load_plan_models, read_plan
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


def known_limits(events: Sequence[Event]) -> Mapping[str, Any] | None:
    """The limits in force when a campaign ended or stopped last; else those of the bundled plan that it is; else None.

    A plan of one's own is known by its file alone.
    """
    for event in reversed(events):
        if event.type in ("spend", "stopped") and "limits" in event.body[VOLATILE]:
            limits: Mapping[str, Any] = event.body[VOLATILE]["limits"]
            return limits
    try:
        return limits_of(events[0].body["plan"]["name"], events[0].body) if events else None
    except (InputError, KeyError):
        return None
