"""From a plan's reflector to one that reflects: who is asked, with what model, and where a person answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from lineage.ledger import Ledger
from optimize.calling import CallLayer
from optimize.models import Model, capabilities_of
from optimize.plan import Plan
from optimize.watching import Watcher
from reflectors import (
    Feedback,
    HumanReflector,
    LlmReflector,
    OperatorReflector,
    RandomEditReflector,
    Reflector,
    ReplayReflector,
    SimulatedDiagnosisReflector,
    Waiting,
    reflector_sending,
)
from reflectors.llm import Ask
from students import Bench, Capabilities, ReasoningBudget
from students.transport import CallFailure, CallRequest, CallResult, Tags

REQUESTS: Final = "reflections"
"""Folder of a run directory in which a person finds the requests."""


def check_reflector(plan: Plan) -> None:
    """Refuse a reflector that could not be built, before anything is called.

    Raises:
        PlanError: its model does not take its settings, its student has no clause bank, or its recording is not there.
    """
    settings = plan.reflector
    if settings.model is not None:
        reflector_sending(*_of_model(plan), temperature=settings.temperature)
    elif settings.kind != "human":
        build_offline(plan)


def build_reflector(
    plan: Plan,
    model: Model | None,
    *,
    bench: Bench,
    layer: CallLayer,
    ledger: Ledger,
    watcher: Watcher,
    wait: bool = True,
) -> Reflector:
    """The reflector of a campaign.

    Args:
        plan: the campaign's plan.
        model: the model that it asks, where it asks one.
        bench: on whose event loop it is asked.
        layer: the calls of the campaign.
        ledger: that of the campaign, in its run directory.
        watcher: is told of a person's answer that is waited for.
        wait: whether a person's answer is waited for, where the plan says so.

    Raises:
        PlanError: as :func:`check_reflector`.
    """
    settings = plan.reflector
    if settings.kind == "llm":
        assert model is not None
        budget, capabilities = _of_model(plan)
        return LlmReflector(
            _asking(bench=bench, layer=layer, ledger=ledger),
            model=model.identity,
            budget=budget,
            temperature=settings.temperature,
            capabilities=capabilities,
            feedback=feedback_of(plan),
            memory=settings.memory,
        )
    if settings.kind == "human":
        waiting = Waiting(wait=wait and settings.wait, poll_s=settings.poll_s, tell=watcher.waiting)
        return HumanReflector(
            ledger.path.parent / REQUESTS, feedback=feedback_of(plan), memory=settings.memory, waiting=waiting
        )
    return build_offline(plan)


def feedback_of(plan: Plan) -> Feedback:
    """What the reflector is told; a reflector that reads no words has no use for documents."""
    told = plan.reflector.feedback.feedback()
    return told if plan.reflector.kind not in ("operators", "random-edits") else replace(told, document=False)


def build_offline(plan: Plan) -> Reflector:
    """A reflector that asks nobody.

    Raises:
        PlanError: the student has no clause bank, or the recording is not there.
    """
    settings = plan.reflector
    if settings.kind == "replay":
        assert settings.ledger is not None
        return ReplayReflector(Path(settings.ledger), traces=settings.traces)
    bank = plan.student.clauses
    if settings.kind == "random-edits":
        return RandomEditReflector(bank)
    if settings.kind == "simulated-diagnosis":
        return SimulatedDiagnosisReflector(bank, feedback=feedback_of(plan))
    return OperatorReflector(bank)


def _of_model(plan: Plan) -> tuple[ReasoningBudget, Capabilities]:
    settings = plan.reflector
    budget = ReasoningBudget(**settings.budget.model_dump())
    return budget, Capabilities() if settings.model is None else capabilities_of(settings.model)


def _asking(*, bench: Bench, layer: CallLayer, ledger: Ledger) -> Ask:
    """The way to a reflector's model, on the event loop of the bench."""
    calls = layer.calls("reflector")
    tags = Tags(ledger.campaign, "reflector", "search")

    async def asked(requests: Sequence[CallRequest]) -> list[CallResult | CallFailure]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(calls.run([request], tags)) for request in requests]
            return [task.result()[0] for task in tasks]
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        finally:
            await calls.finish()

    return lambda requests: bench.run(asked(requests))
