"""From a plan's model to a transport: the embedded server, an endpoint, a hosted model or the simulation."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import httpx

from lineage.errors import CallError, PlanError
from optimize.plan import ModelPlan, Plan
from students import PerFactChecker, ReasoningBudget, Student, WholeNoteScorer
from students.local import LocalServer, known_model, require_model
from students.transport import (
    CallRequest,
    CallResult,
    EndpointTransport,
    HostedTransport,
    Price,
    SimulatedTransport,
    Transport,
    price_of,
)


@dataclass(frozen=True, slots=True)
class Model:
    """A model that a campaign can call.

    ``identity`` is part of the student's hash; ``price`` is None where none applies. ``check`` raises where the model
    cannot be reached.
    """

    transport: Transport
    identity: Mapping[str, Any]
    concurrency: int
    price: Price | None
    check: Callable[[], None]


class LocalTransport:
    """The embedded model: its server starts at the first call and stops when the transport is closed."""

    serial: Final = True
    simulated: Final = False

    def __init__(self, name: str) -> None:
        model = known_model(name)
        self.identity = {"local": model.name, "sha256": model.sha256, "runtime": f"xllamacpp {version('xllamacpp')}"}
        self._name = name
        self._server: LocalServer | None = None
        self._endpoint: EndpointTransport | None = None

    def check(self) -> Path:
        """Path of the model file.

        Raises:
            ModelError: it is not on this machine, or is not the right file.
        """
        return require_model(self._name)

    async def complete(self, request: CallRequest) -> CallResult:
        """Make one call (see :class:`~students.transport.base.Transport`)."""
        endpoint = self._started()
        try:
            return await endpoint.complete(request)
        except CallError:
            if self._server is not None:
                self._server.ensure_alive()
            raise

    async def prime(self, request: CallRequest) -> None:
        """Bring the server's prompt cache into the state after ``request``."""
        await self._started().prime(request)

    async def aclose(self) -> None:
        """Stop the server."""
        if self._endpoint is not None:
            await self._endpoint.aclose()
        if self._server is not None:
            self._server.stop()
        self._endpoint = self._server = None

    def _started(self) -> EndpointTransport:
        if self._endpoint is None:
            self._server = LocalServer(self.check())
            self._server.start()
            self._endpoint = EndpointTransport(
                self._server.base_url, model=self._name, identity=self.identity, serial=True
            )
        return self._endpoint


def open_model(plan: ModelPlan) -> Model:
    """The model that a plan names; nothing is called yet.

    Raises:
        PlanError: a key or a price is missing.
    """
    if plan.local is not None:
        local = LocalTransport(plan.local)
        return Model(local, local.identity, 1, None, lambda: _discard(local.check()))
    if plan.simulated is not None:
        simulated = SimulatedTransport(noise=plan.simulated.noise)
        return Model(simulated, simulated.identity, plan.concurrency, None, lambda: None)
    if plan.endpoint is not None:
        assert plan.name is not None
        key = None
        if plan.key_env is not None:
            key = os.environ.get(plan.key_env)
            if not key:
                raise PlanError(f"key_env: the environment variable {plan.key_env} is not set")
        stated = _stated_price(plan)
        endpoint = EndpointTransport(plan.endpoint, model=plan.name, api_key=key)
        address = plan.endpoint
        return Model(endpoint, endpoint.identity, plan.concurrency, stated, lambda: _reach(address, key))
    assert plan.hosted is not None
    try:
        price = _stated_price(plan) or price_of(plan.hosted)
    except CallError as error:
        raise PlanError(str(error)) from error
    hosted = HostedTransport(plan.hosted)
    return Model(hosted, hosted.identity, plan.concurrency, price, lambda: None)


def _stated_price(plan: ModelPlan) -> Price | None:
    if plan.price is None:
        return None
    return Price(plan.price.prompt_usd_per_million / 1e6, plan.price.completion_usd_per_million / 1e6)


def _reach(address: str, key: str | None) -> None:
    """Ask an endpoint for its models, which costs nothing.

    Raises:
        CallError: nothing answers, or the key is refused.
    """
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


def _discard(path: Path) -> None:
    """A check has no result."""
    del path


def build_student(plan: Plan, model: Model) -> Student:
    """The student that a plan describes."""
    settings = plan.student
    budget = ReasoningBudget(**settings.budget.model_dump())
    if settings.shape == "per-fact":
        return PerFactChecker(
            model=model.identity,
            aggregator=settings.aggregator,
            max_facts=settings.max_facts,
            budget=budget,
            prompt_cache=settings.prompt_cache,
        )
    return WholeNoteScorer(
        model=model.identity,
        budget=budget,
        temperature=settings.temperature,
        samples=settings.samples,
        prompt_cache=settings.prompt_cache,
    )
