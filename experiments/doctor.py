"""The doctor: everything a campaign needs, looked at before anything is spent, with the place and the fix."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from experiments.costing import (
    Range,
    RoleCost,
    longest_request,
    reflector_parameters,
    role_costs,
    tokens_needed,
)
from experiments.loading import LoadedPlan, find_plan, load_plan, load_plan_models, read_plan
from experiments.model_checks import (
    Check,
    State,
    check_context,
    check_parameters,
    check_pin,
    check_price,
    check_reach,
    looked_at,
)
from lineage.errors import HoldgateError
from lineage.ledger import read_events
from optimize.calling import check_limits
from optimize.model_plan import ModelPlan
from optimize.models import Model, build_student, open_transport, price_of_plan
from optimize.plan import Plan
from splits.register import confirming_campaigns
from students import Student
from students.transport import cache_stats

BYTES_A_CALL: Final = 6_000
"""Bytes on disk that an answer takes besides its prompt: cache, judgement and ledger together."""
SPARE_BYTES: Final = 500_000_000


@dataclass(frozen=True, slots=True)
class Examination:
    """What the doctor found: checks in order, and what each role may take, empty where that cannot be told."""

    checks: tuple[Check, ...]
    costs: tuple[RoleCost, ...]

    @property
    def failed(self) -> bool:
        """Whether a campaign could not run as it is."""
        return any(check.state == "fail" for check in self.checks)


def examine(name: str, directory: Path | None = None) -> Examination:
    """Look at everything that a campaign of this plan needs. Nothing is called that costs anything.

    Args:
        name: a plan file, or a bundled plan.
        directory: the run directory; by default the one that ``holdgate run`` would take.

    Raises:
        PlanError: the plan itself cannot be read.
    """
    path = find_plan(name)
    read = read_plan(path)
    directory = (directory or Path("runs") / read.name).absolute()
    try:
        plan, models = load_plan_models(read, path)
    except HoldgateError as error:
        fix = "holdgate models pin --role ROLE …, or name the models in the plan"
        named = {role: model for role, model in read.roles.items() if model.original.role is None}
        checks = [Check("model lock", "fail", str(path), str(error), fix), *_models(read, named)]
        return Examination((*checks, _cache_check(directory)), ())
    checks = [*_models(plan, plan.roles)]
    if models is not None:
        lock = str(path.parent / str(plan.models))
        checks.insert(0, Check("model lock", "ok", lock, f"hash {models.hash[:12]}…, roles {', '.join(models.pins)}"))
        for role, model in read.roles.items():
            if model.original.role is not None:
                pin = models.pins[model.original.role]
                checks += check_pin(role, pin, _settings(plan, role), place=lock)
    try:
        loaded = load_plan(name)
    except HoldgateError as error:
        fix = "holdgate split verify, or mend the file that the message names"
        bad = Check("corpus and splits", "fail", plan.splits.lock, str(error), fix)
        return Examination((*checks, bad, _cache_check(directory)), ())
    words = f"{loaded.lock.describe()}; verified against the corpus"
    checks.append(Check("corpus and splits", "ok", str(loaded.lock.path), words))
    more, costs = _of_loaded(loaded, directory)
    return Examination((*checks, *more, _cache_check(directory)), costs)


def _models(plan: Plan, models: Mapping[str, ModelPlan]) -> Iterator[Check]:
    for role, model in models.items():
        in_usd = plan.limits.usd is not None or getattr(plan.limits, role).usd is not None
        yield check_reach(role, model)
        yield check_price(role, model, in_usd=in_usd)


def _unopened(model: ModelPlan) -> Model:
    """A model for looking at: its key is not needed, and nothing can be called with it."""
    transport = open_transport(model.original)
    return Model(transport, transport.identity, 1, price_of_plan(model.original), lambda: None)


def _settings(plan: Plan, role: str) -> dict[str, Any]:
    row = (plan.student if role == "student" else plan.reflector).model_dump(mode="json")
    return {"budget": row["budget"], "temperature": row["temperature"]}


def _of_loaded(loaded: LoadedPlan, directory: Path) -> tuple[list[Check], tuple[RoleCost, ...]]:
    """What can be told once corpus, locks and baseline are there."""
    plan = loaded.plan
    checks: list[Check] = [_heldout(loaded, directory)]
    built: list[Student] = []

    def student_sends() -> Mapping[str, Any]:
        built.append(build_student(plan, _unopened(plan.student.model)))
        return longest_request(loaded, built[0])[1].sent

    checks.append(check_parameters("student", plan.student.model, student_sends))
    if plan.reflector.model is not None:
        checks.append(check_parameters("reflector", plan.reflector.model, lambda: reflector_parameters(loaded)))
    if any(check.state == "fail" for check in checks[1:]):
        return checks, ()
    longest, request = longest_request(loaded, built[0])
    checks.append(check_context("student", plan.student.model, longest, tokens_needed(loaded, request)))
    try:
        costs = role_costs(loaded, built[0])
    except HoldgateError:
        return checks, ()  # a price that is not known has its own check
    checks += [*_limits(plan, costs), _disk(directory, costs)]
    try:
        check_limits(plan, {role: _unopened(model) for role, model in plan.roles.items()})
    except HoldgateError as error:
        checks.append(Check("limits", "fail", "limits.usd", str(error), "change the plan as the message says"))
    return checks, costs


def _heldout(loaded: LoadedPlan, directory: Path) -> Check:
    """Whether the register has a confirmatory comparison left."""
    lock, place = loaded.lock, str(loaded.lock.path)
    if loaded.plan.simulated or loaded.plan.replayed:
        return Check("held-out", "ok", place, "a simulation or a replay takes no confirmatory comparison")

    def look() -> str:
        taken = confirming_campaigns(lock)
        left = lock.comparisons - len(taken)
        ledger = directory / "ledger.jsonl"
        if left < 1 and not (ledger.is_file() and read_events(ledger)[0].hash in taken):
            raise HoldgateError(f"all {lock.comparisons} confirmatory comparisons on this held-out split are taken")
        return f"{left} of {lock.comparisons} confirmatory comparisons are left, each at alpha {lock.spend:g}"

    fix = "resume the campaign that has it, give run --exploratory REASON, or commit a lock on fresh groups"
    return looked_at("held-out", place, look, fix=fix)


def _limits(plan: Plan, costs: tuple[RoleCost, ...]) -> Iterator[Check]:
    """Whether the plan's limits leave room for it."""
    parts = {"limits": (plan.limits, costs)} | {
        f"limits.{cost.role}": (getattr(plan.limits, cost.role), (cost,)) for cost in costs
    }
    for place, (limits, some) in parts.items():
        totals = {
            "calls": sum((cost.calls for cost in some), Range(0, 0)),
            "tokens": sum((cost.prompt_tokens + cost.completion_tokens for cost in some), Range(0, 0)),
            "usd": sum((cost.usd for cost in some if cost.usd is not None), Range(0, 0)),
            "wall_s": sum((cost.seconds for cost in some), Range(0, 0)),
        }
        for name, total in totals.items():
            limit = getattr(limits, name)
            if limit is None or (name == "usd" and total.high == 0):
                continue
            words = f"{limit:g} {name}; about {total.low:,.6g} to {total.high:,.6g} are needed"
            fix = f"raise {place}.{name}; a campaign that stops at a limit can be resumed"
            state: State = "ok" if limit >= total.high else "warn"
            yield Check("limits", state, f"{place}.{name}", words, "" if state == "ok" else fix)


def _disk(directory: Path, costs: tuple[RoleCost, ...]) -> Check:
    existing = _existing(directory)
    free = shutil.disk_usage(existing).free
    needed = sum(cost.calls.high * BYTES_A_CALL + 4 * cost.prompt_tokens.high for cost in costs)
    words = f"{free / 1e9:,.1f} GB free, about {needed / 1e6:,.0f} MB needed at most"
    fix = "free some space, or give --out on another disk"
    if free < needed:
        return Check("disk", "fail", str(existing), words, fix)
    if free < needed + SPARE_BYTES:
        return Check("disk", "warn", str(existing), words, fix)
    return Check("disk", "ok", str(existing), words)


def _cache_check(directory: Path) -> Check:
    path = directory.parent / "calls.sqlite"

    def look() -> str:
        if not path.exists():
            beside = _existing(path.parent)
            if not os.access(beside, os.W_OK):
                raise HoldgateError(f"{beside} cannot be written")
            return "will be made"
        if not os.access(path, os.W_OK):
            raise HoldgateError(f"{path} cannot be written")
        return f"{cache_stats(path).answers} answers"

    return looked_at("call cache", str(path), look, fix="make it writable, restore it, or give another --out")


def _existing(path: Path) -> Path:
    """The nearest directory that exists."""
    return next(place for place in (path, *path.parents) if place.is_dir())
