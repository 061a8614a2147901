"""From a plan's model to a transport: the embedded server, an endpoint, a hosted model or the simulation."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from lineage.errors import CallError, PlanError
from optimize.local_model import LocalTransport
from optimize.model_plan import ModelPlan
from optimize.plan import Plan
from optimize.student_plan import StudentPlan
from students import Capabilities, ReasoningBudget, Student, known_capabilities
from students.transport import (
    EndpointTransport,
    HostedTransport,
    Planted,
    PlantedTransport,
    Price,
    RecordedAnswers,
    ReplayTransport,
    SimulatedTransport,
    Transport,
    price_of,
)

GRACE_S: Final = 5.0
"""Seconds that a transport's own time-out is longer than the deadline of a call, which so is the one that acts."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model that a campaign can call.

    ``identity`` is part of the student's hash; ``price`` is None where none applies. ``check`` raises where the model
    cannot be reached. ``recorded`` holds the answers of a replay, where nothing is paid for.
    """

    transport: Transport
    identity: Mapping[str, Any]
    concurrency: int
    price: Price | None
    check: Callable[[], None]
    recorded: RecordedAnswers | None = None


def open_model(plan: ModelPlan) -> Model:
    """The model that a plan names; nothing is called yet.

    Raises:
        PlanError: a key or a price is missing, or the model is that of a role that is not pinned.
        CacheError: the recorded answers of a replay cannot be read.
    """
    transport = open_transport(plan.original, key_of(plan) if plan.replay is None else None)
    price = price_of_plan(plan.original)
    if plan.replay is not None:
        recorded = RecordedAnswers(Path(plan.replay))
        replay = ReplayTransport(
            recorded, identity=transport.identity, serial=transport.serial, simulated=transport.simulated
        )
        return Model(replay, replay.identity, plan.concurrency, price, lambda: None, recorded)
    if isinstance(transport, LocalTransport):
        return Model(transport, transport.identity, 1, None, lambda: _discard(transport.check()))
    return Model(transport, transport.identity, plan.concurrency, price, lambda: _discard(reach(plan)))


def open_transport(plan: ModelPlan, key: str | None = None) -> Transport:
    """The transport to a model that is no replay; nothing is called, and no price is looked up.

    Raises:
        PlanError: the model is that of a role.
    """
    if plan.local is not None:
        return LocalTransport(plan.local, deadline_s=plan.deadline_s + GRACE_S)
    if (simulated := plan.simulated) is not None:
        if simulated.planted is not None:
            return PlantedTransport(Planted(**simulated.planted.model_dump(), noise=simulated.noise))
        return SimulatedTransport(noise=simulated.noise)
    if plan.endpoint is not None:
        assert plan.name is not None
        return EndpointTransport(plan.endpoint, model=plan.name, api_key=key, deadline_s=plan.deadline_s + GRACE_S)
    if plan.hosted is not None:
        return HostedTransport(plan.hosted, deadline_s=plan.deadline_s + GRACE_S)
    raise PlanError(
        f"the model of role {plan.role!r} is in a model lock that this plan was not resolved through: load the plan "
        "with load_plan, or give it to resolve_models first"
    )


def key_of(plan: ModelPlan) -> str | None:
    """The key of an endpoint, from the environment.

    Raises:
        PlanError: the variable that the plan names is not set.
    """
    if plan.key_env is None:
        return None
    if not (key := os.environ.get(plan.key_env)):
        raise PlanError(f"key_env: the environment variable {plan.key_env} is not set")
    return key


def price_of_plan(plan: ModelPlan) -> Price | None:
    """What a model's tokens cost: as the plan states it, or else as litellm's map does; None where no price applies.

    Raises:
        PlanError: neither knows the price of a hosted model.
    """
    if (stated := plan.price) is not None:
        cached = stated.cached_usd_per_million
        return Price(
            stated.prompt_usd_per_million / 1e6,
            stated.completion_usd_per_million / 1e6,
            None if cached is None else cached / 1e6,
        )
    if plan.hosted is None:
        return None
    try:
        return price_of(plan.hosted)
    except CallError as error:
        raise PlanError(str(error)) from error


def reach(plan: ModelPlan) -> Mapping[str, Any]:
    """Ask an endpoint for its models, which costs nothing.

    Returns:
        What it says about the model of that name; empty where it says nothing, and for a model that is no endpoint.

    Raises:
        CallError: nothing answers, or the key is refused.
    """
    if plan.endpoint is None:
        return {}
    address, key = plan.endpoint, key_of(plan)
    url = f"{address.rstrip('/')}/models"
    try:
        answer = httpx.get(url, headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=10)
    except httpx.HTTPError as error:
        raise CallError(
            f"endpoint {address} cannot be reached ({type(error).__name__}); start it, or correct the plan's endpoint",
            reason="transport",
            transient=False,
        ) from error
    if answer.status_code in (401, 403):
        raise CallError(f"endpoint {address} refuses the key ({answer.status_code})", reason="refused", transient=False)
    try:
        listed = answer.json()["data"]
        return next((dict(item) for item in listed if item.get("id") == plan.name), {})
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}  # a list of models is no part of what a judge needs


def _discard(found: object) -> None:
    """A check has no result."""
    del found


def capabilities_of(plan: ModelPlan) -> Capabilities:
    """What the model that a plan names, or replays, accepts; nothing is called."""
    plan = plan.original
    if plan.hosted is not None:
        return known_capabilities(plan.hosted, place="hosted")
    if plan.endpoint is not None:
        return known_capabilities(plan.name or "", place="endpoint")
    if plan.local is not None:
        return known_capabilities(plan.local, place="local")
    planted = plan.simulated is not None and plan.simulated.planted is not None
    return known_capabilities("the planted judge" if planted else "the simulated judge", place="simulated")


def build_student(plan: Plan, model: Model) -> Student:
    """The student that a plan describes.

    Raises:
        PlanError: the model does not take what the plan asks for; names model, parameter and what is accepted.
    """
    return student_of(plan.student, model.identity)


def student_of(settings: StudentPlan, identity: Mapping[str, Any]) -> Student:
    """The student that the part of a plan describes, with a model of this identity.

    Raises:
        PlanError: the model does not take what the plan asks for; names model, parameter and what is accepted.
    """
    return settings.design.build(
        settings.options,
        model=identity,
        budget=ReasoningBudget(**settings.budget.model_dump()),
        prompt_cache=settings.prompt_cache,
        capabilities=capabilities_of(settings.model),
    )
