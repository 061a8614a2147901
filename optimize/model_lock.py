"""The model lock: which model a role stands for, with the price and the capabilities that it had when it was pinned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from lineage.canonical import digest
from lineage.errors import PlanError
from optimize.model_plan import ModelPlan, PricePlan
from optimize.plan import Plan

FORMAT: Final = "holdgate model lock 1"


@dataclass(frozen=True, slots=True)
class Pin:
    """One role's model, as it was on the day it was pinned.

    Args:
        role: the role.
        model: the model, in full: place, name, key variable, concurrency, and a price that the user stated.
        price: its price that day, stated or litellm's; None where none applies.
        settings: budget and temperature of the plan that it was pinned from; empty where none was named.
        capabilities: what was known that it accepts.
        context_tokens: tokens of prompt and answer together, where known.
        version: the version that the provider last stated, where one was seen.
        pinned_at: date and time, UTC.
    """

    role: str
    model: ModelPlan
    price: PricePlan | None
    settings: Mapping[str, Any]
    capabilities: Mapping[str, Any]
    context_tokens: int | None
    version: str | None
    pinned_at: str

    def row(self) -> dict[str, Any]:
        """The JSON form, with the hash of all the rest."""
        content = {
            "model": self.model.model_dump(mode="json", exclude_unset=True),
            "price": None if self.price is None else self.price.model_dump(mode="json"),
            "settings": dict(self.settings),
            "capabilities": dict(self.capabilities),
            "context_tokens": self.context_tokens,
            "version": self.version,
            "pinned_at": self.pinned_at,
        }
        return {**content, "hash": digest({"role": self.role, **content})}

    @property
    def resolved(self) -> ModelPlan:
        """The model as a plan has it inline, at the pinned price."""
        return self.model if self.price is None else self.model.model_copy(update={"price": self.price})


@dataclass(frozen=True, slots=True)
class ModelLock:
    """The pins of a project, by role; ``hash`` covers them all."""

    pins: Mapping[str, Pin] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """SHA-256 of the JSON form without the hash itself."""
        return digest(self._content())

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {**self._content(), "lock_hash": self.hash}

    def _content(self) -> dict[str, Any]:
        return {"format": FORMAT, "roles": {role: self.pins[role].row() for role in sorted(self.pins)}}


def load_model_lock(path: Path) -> ModelLock:
    """Read a model lock and check its hashes.

    Raises:
        PlanError: there is none, it is something else, or it was edited.
    """
    if not path.is_file():
        raise PlanError(f"{path}: there is no model lock; write one with: holdgate models pin PLAN")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        pins = {
            role: Pin(
                role=role,
                model=ModelPlan.model_validate(row["model"]),
                price=None if row["price"] is None else PricePlan.model_validate(row["price"]),
                settings=row["settings"],
                capabilities=row["capabilities"],
                context_tokens=row["context_tokens"],
                version=row["version"],
                pinned_at=row["pinned_at"],
            )
            for role, row in data["roles"].items()
        }
        lock = ModelLock(pins)
        edited = [role for role, pin in pins.items() if pin.row() != data["roles"][role]]
    except (ValueError, LookupError, TypeError, AttributeError, ValidationError) as error:
        raise PlanError(f"{path}: is not a model lock ({type(error).__name__}: {error})") from error
    if edited or lock.row() != data:
        raise PlanError(
            f"{path}: was edited ({', '.join(edited) or 'its format or hash'}); restore it, or pin again: "
            "holdgate models pin --role ROLE … --update"
        )
    return lock


def resolve_models(plan: Plan, lock: ModelLock | None, *, where: str) -> Plan:
    """The plan with every model that is named by role replaced by the one that is pinned, at its pinned price.

    Raises:
        PlanError: a role is not pinned, naming the command that pins it; or the plan's lock has no effect.
    """
    named = {role: model for role, model in plan.roles.items() if model.original.role is not None}
    if plan.models is not None and not named:
        raise PlanError(f"{where}: models has no effect, as no model is named by role; remove it")
    found: dict[str, ModelPlan] = {}
    for role, model in named.items():
        wanted = str(model.original.role)
        if lock is None or wanted not in lock.pins:
            why = "the plan names no model lock (models: models.lock.json)" if lock is None else "it is not pinned"
            raise PlanError(
                f"{where}: {role}.model is that of role {wanted!r}, but {why}; a role that is not pinned cannot run: "
                f"holdgate models pin {where} --role {wanted} --hosted PROVIDER/MODEL (or --endpoint, --local)"
            )
        pinned = lock.pins[wanted].resolved
        found[role] = pinned if model.of is None else model.model_copy(update={"of": pinned})
    return plan.with_models(found) if found else plan
