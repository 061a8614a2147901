"""From a study file to everything a study needs, with every defect that can be seen found before any work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, Final

import yaml

from experiments.loading import (
    LoadedPlan,
    _beside,
    _filled,
    _instruction,
    find_plan,
    load_plan_corpus,
    load_plan_models,
)
from experiments.sizing import plan_size
from lineage.errors import PlanError
from optimize.calling import is_free
from optimize.models import price_of_plan
from optimize.plan import Plan, parse_plan
from optimize.sweep import (
    Resolved,
    Space,
    StudyInputs,
    StudyPlan,
    cost_unit,
    parse_study,
    point_words,
    searchable,
)
from optimize.sweep.space import Label
from splits import Corpus, SplitLock, load_lock

SWEEPS: Final = Path(__file__).parents[1] / "plans" / "sweeps"
"""Directory of the bundled studies."""
Defect = tuple[Mapping[str, Label], str]
"""A point at which the settings do not go together, and why."""
TRIED: Final = 512
"""Most points of a space that are checked before a study begins."""


@dataclass(frozen=True, slots=True)
class LoadedStudy:
    """A study with its corpus and its verified lock.

    Attributes:
        path: the study file.
        base_path: the campaign plan's file; the study's own where the plan stands in it.
        base: the campaign plan as it was written, before values are taken from the environment.
        inputs: what the study is about.
        corpus: the whole corpus.
        lock: its split lock.
        points: how many points of the space were checked.
        defects: those among them at which the settings do not go together, with the reason.
        sound: the others, with what they name found.
    """

    path: Path
    base_path: Path
    base: Mapping[str, Any]
    inputs: StudyInputs
    corpus: Corpus
    lock: SplitLock
    points: int
    defects: tuple[Defect, ...]
    sound: tuple[Resolved, ...]

    @property
    def plan(self) -> StudyPlan:
        """The study plan."""
        return self.inputs.plan

    @property
    def simulated(self) -> bool:
        """Whether a judge at any point that was checked is a formula."""
        return any(found.plan.simulated for found in self.sound)

    def calls(self) -> tuple[int, int]:
        """Most calls of one trial, of student and reflector, at the points that need least and most.

        As if every proposal were accepted and nothing were found in the cache; points of a study often share calls.
        """
        sizes = [
            plan_size(LoadedPlan(self.base_path, found.plan, self.corpus, self.lock, found.baseline, seeds=found.seeds))
            for found in self.sound
        ]
        most = [size.calibrate + size.minibatches + size.accept + size.reflector for size in sizes]
        return min(most), max(most)


def find_study(name: str) -> Path:
    """A study file, or the bundled study of that name.

    Raises:
        PlanError: there is neither; suggests the near name.
    """
    for path in (Path(name), SWEEPS / name, SWEEPS / f"{name}.yaml"):
        if path.is_file():
            return path
    bundled = sorted(path.stem for path in SWEEPS.glob("*.yaml"))
    near = get_close_matches(Path(name).stem, bundled, n=1)
    raise PlanError(
        f"there is no study {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"bundled: {', '.join(bundled)}")
    )


def load_study(name: str) -> LoadedStudy:
    """Load a study and all it names.

    Raises:
        InputError: the first defect of study, campaign plan, corpus, lock or instructions.
    """
    path = find_study(name)
    plan = parse_study(_filled(_read(path), str(path)), where=str(path))
    base_path, raw = _base(path, plan)
    filled = _filled(raw, str(base_path))
    base = parse_plan(filled, where=str(base_path))
    space = Space(plan.space, filled, str(path))

    def resolve(point: Plan) -> Resolved:
        found, lock = load_plan_models(point, base_path)
        names = (found.baseline, *found.search.seeds)
        texts = {name: _instruction(base_path, name) for name in names}
        return Resolved(found, texts, None if lock is None else lock.hash)

    points, defects, sound = _checked(space, resolve)
    plans = [found.plan for found in sound]
    texts = {name: text for found in sound for name, text in found.texts.items()}
    unit = cost_unit(plans, where=str(path)) if "cost" in plan.objectives else "tokens"
    _check_limits(plan, plans, where=str(path))
    inputs = StudyInputs(plan, space, resolve(base), resolve, texts, unit)
    _ = inputs.trials  # a grid that is too small is refused here
    corpus = load_plan_corpus(base, base_path)
    lock = load_lock(_beside(base_path, base.splits.lock), corpus)
    return LoadedStudy(path, base_path, raw, inputs, corpus, lock, points, defects, tuple(sound))


def _read(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: is not a readable YAML file: {error}") from error


def _base(path: Path, plan: StudyPlan) -> tuple[Path, dict[str, Any]]:
    """The campaign plan of a study: its file, and what it says."""
    if isinstance(plan.base, str):
        beside = _beside(path, plan.base)
        found = beside if beside.is_file() else find_plan(plan.base)
        raw = _read(found)
    else:
        found, raw = path, _read(path)["base"]
    if not isinstance(raw, dict):
        raise PlanError(f"{found}: a plan is one mapping; see holdgate plan --schema")
    return found, raw


def _checked(space: Space, resolve: Callable[[Plan], Resolved]) -> tuple[int, tuple[Defect, ...], list[Resolved]]:
    """How many points were looked at, those at which the settings do not go together, and what the others come to.

    Raises:
        PlanError: they go together at no point, or at none where a dimension has one of its values.
    """
    defects: list[Defect] = []
    found: list[Resolved] = []
    sound: set[tuple[str, Label]] = set()
    points = list(_points(space))
    for point in points:
        try:
            resolved = resolve(space.plan_at(point))
            searchable(resolved)
        except PlanError as error:
            defects.append((point, str(error)))
        else:
            found.append(resolved)
            sound |= set(point.items())
    whole = space.finite and len(points) < TRIED  # corners do not show what else a value goes with
    for defect, why in defects:
        never = [(path, label) for path, label in defect.items() if (path, label) not in sound]
        if not found or (whole and never):
            which = f"space.{never[0][0]}: there is no point with {never[0][1]}" if never else "there is no point"
            raise PlanError(f"{space.where}: {which} at which a campaign could run; at {point_words(defect)}: {why}")
    return len(points), tuple(defects), found


def _points(space: Space) -> Iterator[dict[str, Label]]:
    """All points of a small space, and the corners of any other."""
    if space.finite:
        first = list(islice(space.points(), TRIED + 1))
        if len(first) <= TRIED:
            return iter(first)
    return space.corners()


def _check_limits(plan: StudyPlan, plans: list[Plan], *, where: str) -> None:
    """Refuse a limit in US dollars that could not be held, or would limit nothing."""
    if plan.limits.usd is None:
        return
    models = [model for point in plans for model in point.roles.values()]
    if all(is_free(model) for model in models):
        raise PlanError(f"{where}: limits.usd has no effect on models without a price; limit calls or tokens instead")
    for model in models:
        if not is_free(model) and price_of_plan(model.original) is None:
            named = model.original.hosted or model.original.name
            raise PlanError(f"{where}: limits.usd needs the price of {named}, which is not known; state it in the plan")
