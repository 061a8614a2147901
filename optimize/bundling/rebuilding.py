"""The plan of a recorded campaign, out of the row that its ledger holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from lineage.canonical import canonical_json
from lineage.errors import BundleError, PlanError
from optimize.plan import Plan, _section, parse_plan


def recorded_plan(registered: Mapping[str, Any]) -> Plan:
    """The plan of a campaign, with its models as they were resolved, and without limits.

    Args:
        registered: body of the ledger's ``plan`` event.

    Raises:
        BundleError: this version does not come to the recorded plan.
    """
    try:
        plan = parse_plan(_stated(registered["plan"], Plan), where="the recorded plan")
    except PlanError as error:
        raise BundleError(f"this version of Holdgate does not take the recorded plan ({error}); use its own") from error
    if plan.hash != registered["plan_hash"]:
        raise BundleError(
            f"the recorded plan has the hash {registered['plan_hash'][:12]}, and comes to {plan.hash[:12]} in this "
            "version of Holdgate, which has other settings; use the version that wrote it"
        )
    return plan


def _stated(row: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """A row without what is a default anyway: a plan refuses settings that have no effect, even where they are that."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        field = model.model_fields.get(name)
        if field is None:
            found[name] = value  # parsing says that it does not know it
            continue
        if not field.is_required() and _same(field.get_default(call_default_factory=True), value):
            continue
        inner = _section(field.annotation)
        if inner is not None and isinstance(value, Mapping):
            value = _stated(value, inner)
        elif inner is not None and isinstance(value, list):
            value = [_stated(item, inner) if isinstance(item, Mapping) else item for item in value]
        found[name] = value
    return found


def _same(default: Any, value: Any) -> bool:
    plain = default.model_dump(mode="json") if isinstance(default, BaseModel) else default
    try:
        return canonical_json(plain) == canonical_json(value)
    except (TypeError, ValueError):
        return False
