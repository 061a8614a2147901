"""The sets of campaigns that can be compared: ablation plans, accept sizes of one plan, and optimisers on one plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from experiments.crossing.loading import EXPERIMENTS
from experiments.crossing.members import Member
from experiments.loading import PLANS, LoadedPlan, load_plan
from lineage.errors import PlanError
from optimize.engines import ENGINES
from optimize.plan import RIVAL_SETTINGS, parse_plan

ABLATIONS: Final = PLANS / "ablations"
"""Directory of the bundled ablation plans."""


def load_bundled_campaign(name: str) -> LoadedPlan:
    """A campaign plan: a file, or a bundled one, those of ablations and experiments among them.

    Raises:
        InputError: the first defect of the plan, or there is none of that name.
    """
    bundled = (folder / f"{name}.yaml" for folder in (ABLATIONS, EXPERIMENTS))
    return load_plan(name if Path(name).is_file() else next((str(path) for path in bundled if path.is_file()), name))


def ablation_members(names: Sequence[str]) -> tuple[Member, ...]:
    """Plans by name or file, or every bundled ablation; what each shows is the comment that its file begins with.

    Raises:
        InputError: the first defect of a plan.
    """
    loaded = [load_bundled_campaign(name) for name in names or map(str, sorted(ABLATIONS.glob("*.yaml")))]
    return tuple(Member(each.plan.name, comment_of(each.path), each) for each in loaded)


def curve_members(loaded: LoadedPlan, sizes: Sequence[int]) -> tuple[Member, ...]:
    """One plan with growing, nested parts of its accept split.

    Raises:
        PlanError: accept has fewer groups than a size asks for.
    """
    most = len(loaded.lock.splits["accept"])
    if wrong := [size for size in sizes if not 1 <= size <= most]:
        raise PlanError(f"sizes must be from 1 to the {most} groups of accept, got {', '.join(map(str, wrong))}")
    members = []
    for size in sorted(set(sizes)):
        data = loaded.plan.model_dump(mode="json", exclude_unset=True) | {"controls": {"accept_groups": size}}
        plan = parse_plan(data, where=loaded.plan.name)
        members.append(Member(f"accept-{size}", f"{size} of {most} accept groups", replace(loaded, plan=plan)))
    return tuple(members)


def optimiser_members(loaded: LoadedPlan, engines: Sequence[str]) -> tuple[Member, ...]:
    """One plan searched by each engine, with the same student, splits, reflector model, seed and budget.

    Raises:
        PlanError: the plan states no budget at which they are equal, or asks no model for its prompts.
    """
    if unknown := sorted(set(engines) - set(ENGINES)):
        raise PlanError(f"engines must be among {', '.join(ENGINES)}, got {', '.join(unknown)}")
    if loaded.plan.search.budget.unit is None:
        raise PlanError(
            f"{loaded.plan.name}: say at what amount the optimisers are equal, in search.budget: calls, tokens or usd"
        )
    members = []
    for engine in engines:
        data = loaded.plan.model_dump(mode="json", exclude_unset=True)
        search = data["search"]
        if engine != "gepa":
            search = {name: value for name, value in search.items() if name in RIVAL_SETTINGS}
            data.get("reflector", {}).pop("memory", None)
        data |= {"name": f"{loaded.plan.name}-{engine}", "search": {**search, "engine": engine}}
        plan = parse_plan(data, where=f"{loaded.plan.name}, engine {engine}")
        seeds = loaded.seeds if engine == "gepa" else {}
        members.append(Member(engine, ENGINES[engine], replace(loaded, plan=plan, seeds=seeds)))
    return tuple(members)


def comment_of(path: Path) -> str:
    """The comment at the beginning of a plan file, on one line."""
    said = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        said.append(line.lstrip("# ").strip())
    return " ".join(said)
