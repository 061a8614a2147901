"""From an experiment's plan file to everything it needs, its base campaign among it."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import yaml

from experiments.loading import PLANS, LoadedPlan, _filled, load_plan
from lineage.errors import PlanError
from optimize.crossing import CrossedPlan, parse_crossed_plan

EXPERIMENTS: Final = PLANS / "experiments"
"""Directory of the bundled experiments, and of the campaigns that they are made of."""


@dataclass(frozen=True, slots=True)
class LoadedExperiment:
    """An experiment's plan with its base campaign."""

    path: Path
    plan: CrossedPlan
    base: LoadedPlan


def load_experiment_plan(name: str) -> LoadedExperiment:
    """Load an experiment's plan and all it names.

    Raises:
        InputError: the first defect of plan, base campaign, corpus, lock or baseline.
    """
    path = _find(name)
    plan = parse_crossed_plan(_read(path), where=str(path))
    beside = path.parent / plan.campaign
    found = next((str(each) for each in (beside, beside.with_name(f"{beside.name}.yaml")) if each.is_file()), None)
    return LoadedExperiment(path, plan, load_plan(found or plan.campaign))


def _find(name: str) -> Path:
    for path in (Path(name), EXPERIMENTS / name, EXPERIMENTS / f"{name}.yaml"):
        if path.is_file():
            return path
    bundled = sorted(path.stem for path in EXPERIMENTS.glob("*.yaml") if "settings" in (_mapping(path) or {}))
    near = get_close_matches(Path(name).stem, bundled, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"bundled: {', '.join(bundled)}"
    raise PlanError(f"there is no experiment {name!r}; {hint}")


def _mapping(path: Path) -> dict[str, Any] | None:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data if isinstance(data, dict) else None


def _read(path: Path) -> Any:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: is not a readable YAML file: {error}") from error
    if isinstance(data, dict) and "settings" not in data and "student" in data:
        raise PlanError(f"{path}: is the plan of one campaign; run it with holdgate run, or name it in an experiment")
    return _filled(data, str(path))
