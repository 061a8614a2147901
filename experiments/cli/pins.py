"""``holdgate models``: the model lock, which says which model a role stands for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import click
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from experiments.loading import find_plan, read_plan
from lineage.errors import PlanError
from optimize.model_lock import ModelLock, load_model_lock
from optimize.model_plan import ModelPlan, PricePlan
from optimize.pinning import ROLES, pin_model, place_of, write_pin
from optimize.plan import Plan

LOCK: Final = "models.lock.json"
"""Name of a model lock where the plan names none."""


@click.group("models")
def models_group() -> None:
    """Pin models to roles: holdgate models pin PLAN. The embedded models themselves are under holdgate model."""


@models_group.command("pin")
@click.argument("plan", required=False)
@click.option("--role", type=click.Choice(ROLES), help="The one role to pin; without it, every role of the plan.")
@click.option("--hosted", metavar="PROVIDER/MODEL", help="A hosted model, named as in litellm.")
@click.option("--endpoint", metavar="ADDRESS", help="An OpenAI-compatible endpoint, up to and with /v1.")
@click.option("--name", help="The model that the endpoint is asked for.")
@click.option("--local", metavar="NAME", help="An embedded model (see holdgate model list).")
@click.option("--key-env", metavar="VARIABLE", help="Environment variable that holds the endpoint's key.")
@click.option(
    "--price",
    nargs=2,
    type=click.FloatRange(min=0),
    metavar="PROMPT COMPLETION",
    help="US dollars for a million tokens, where litellm does not know them.",
)
@click.option("--concurrency", type=click.IntRange(min=1), help="Most calls under way at once.")
@click.option(
    "--lock", type=click.Path(path_type=Path), help=f"The lock file; by default the plan's, or {LOCK} beside the plan."
)
@click.option("--update", is_flag=True, help="Replace what is pinned already; the difference is shown.")
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    default=Path("runs") / "calls.sqlite",
    help="Call cache in which the version that the provider last stated is looked for.",
)
def pin_command(plan: str | None, role: str | None, lock: Path | None, update: bool, cache: Path, **given: Any) -> None:
    """Write which model a role is, with today's price, capabilities and context length.

    With a PLAN and no --role, every model of the plan is pinned, and one that is pinned already is looked at again. A
    plan then names its models by role: models: models.lock.json, student: {model: {role: student}}.
    """
    if plan is None and role is None:
        raise click.UsageError("name a plan, or give --role and a model")
    place = None if plan is None else find_plan(plan)
    read = None if place is None else read_plan(place)
    if lock is None:
        beside = Path() if place is None else place.parent
        lock = beside / (read.models if read is not None and read.models is not None else LOCK)
    model = _model(given)
    if model is not None and role is None:
        raise click.UsageError("--role says what the model is for")
    kept = load_model_lock(lock) if lock.exists() else ModelLock()
    if role is not None:
        planned = None if read is None else read.roles.get(role)
        wanted = {role: model or _known(role, planned, kept, str(lock))}
    else:
        assert read is not None
        wanted = dict(_planned(read, kept, str(lock)))
    for name, chosen in wanted.items():
        settings = _settings(read, name) if read is not None else {}
        pin = pin_model(name, chosen, settings=settings, seen=cache)
        new = name not in kept.pins
        changed = write_pin(lock, pin, update=update)
        context = "context length not known" if pin.context_tokens is None else f"context {pin.context_tokens:,} tokens"
        said = f"{lock}: {name} = {' '.join(place_of(chosen))}, {context}"
        click.echo(said + ("" if new or changed else " (as it was)"))
        for line in changed:
            click.echo(f"    {line}")
    if read is not None and all(found.role is None for found in read.roles.values()):
        named = ", ".join(f"{name}.model: {{role: {name}}}" for name in wanted)
        click.echo(f"to run what is pinned, the plan says: models: {lock.name}, {named}")


@models_group.command("list")
@click.argument("lock", type=click.Path(path_type=Path), default=Path(LOCK))
def list_command(lock: Path) -> None:
    """Print what is pinned, after checking the lock's hashes."""
    found = load_model_lock(lock)
    table = Table()
    for column in ("role", "model", "US$ a million: prompt, completion", "context", "version", "pinned"):
        table.add_column(column)
    for role, pin in sorted(found.pins.items()):
        price = pin.price
        table.add_row(
            role,
            " ".join(place_of(pin.model)),
            "none" if price is None else f"{price.prompt_usd_per_million:g}, {price.completion_usd_per_million:g}",
            "unknown" if pin.context_tokens is None else f"{pin.context_tokens:,}",
            pin.version or "not seen",
            pin.pinned_at,
        )
    Console(width=None if sys.stdout.isatty() else 110).print(table)
    click.echo(f"lock hash {found.hash}")


def _model(given: dict[str, Any]) -> ModelPlan | None:
    """The model that the options describe."""
    price = given.pop("price")
    data = {key: value for key, value in given.items() if value is not None}
    if price is not None:
        data["price"] = PricePlan(prompt_usd_per_million=price[0], completion_usd_per_million=price[1])
    if not data:
        return None
    try:
        return ModelPlan.model_validate(data)
    except ValidationError as error:
        raise PlanError("; ".join(issue["msg"].removeprefix("Value error, ") for issue in error.errors())) from error


def _planned(plan: Plan, lock: ModelLock, where: str) -> list[tuple[str, ModelPlan]]:
    """Each role that a plan's models stand for, with its model."""
    found = [(model.original.role or role, model) for role, model in plan.roles.items()]
    return [(role, _known(role, model, lock, where)) for role, model in found]


def _known(role: str, planned: ModelPlan | None, lock: ModelLock, where: str) -> ModelPlan:
    """The model of a role as the plan has it inline, or else as it is pinned."""
    if planned is not None and planned.original.role is None:
        return planned.original
    if role in lock.pins:
        return lock.pins[role].model
    raise PlanError(
        f"{where}: {role} is not pinned, and the plan names no model for it; say which: --role {role} --hosted "
        "PROVIDER/MODEL (or --endpoint ADDRESS --name NAME, or --local NAME)"
    )


def _settings(plan: Plan, role: str) -> dict[str, Any]:
    """Budget and temperature with which the plan uses the model of a role."""
    if role == "student":
        row = plan.student.model_dump(mode="json")
    elif role == "reflector":
        row = plan.reflector.model_dump(mode="json")
    else:
        return {}
    return {"budget": row["budget"], "temperature": row["temperature"]}
