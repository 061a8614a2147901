"""From a judging plan's file to everything a run needs, with every defect found before any work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from experiments.loading import PLANS, load_named_corpus, read_filled
from lineage.errors import PlanError
from optimize.judging import JudgingPlan, parse_judging_plan
from optimize.judging.resolving import resolve_judging_models, with_models
from optimize.model_lock import ModelLock, load_model_lock
from splits import Corpus, SplitLock, load_lock
from students import load_instruction

JUDGING_PLANS: Final = PLANS / "judging"
"""Directory of the bundled judging plans."""


@dataclass(frozen=True, slots=True)
class LoadedJudging:
    """A judging plan whose roles are resolved, with its corpus, its verified locks and the texts that it names."""

    path: Path
    plan: JudgingPlan
    corpus: Corpus
    lock: SplitLock | None
    texts: Mapping[str, str]
    models: ModelLock | None = None

    @property
    def models_hash(self) -> str | None:
        """Hash of the model lock that the plan's models were resolved through."""
        return None if self.models is None else self.models.hash


def find_judging_plan(name: str) -> Path:
    """The file of a judging plan, or the bundled one of that name.

    Raises:
        PlanError: there is neither; suggests the near name.
    """
    for path in (Path(name), JUDGING_PLANS / name, JUDGING_PLANS / f"{name}.yaml"):
        if path.is_file():
            return path
    bundled = sorted(path.stem for path in JUDGING_PLANS.glob("*.yaml"))
    near = get_close_matches(Path(name).stem, bundled, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"bundled: {', '.join(bundled)}"
    raise PlanError(f"there is no judging plan {name!r}; {hint}")


def load_judging_plan(name: str, *, students: Sequence[str] = ()) -> LoadedJudging:
    """Load a judging plan and all it names.

    Args:
        name: a file, or the name of a bundled plan.
        students: names of the students that judge; none stands for all.

    Raises:
        InputError: the first defect of plan, corpus, lock or a text.
    """
    path = find_judging_plan(name)
    plan = parse_judging_plan(read_filled(path), where=str(path))
    plan = plan.only(students) if students else plan
    models = None if plan.models is None else load_model_lock(_beside(path, plan.models))
    plan = resolve_judging_models(plan, models, where=str(path))
    if plan.replayed:
        plan = with_models(
            plan,
            lambda model, _: (
                model if model.replay is None else model.model_copy(update={"replay": str(_beside(path, model.replay))})
            ),
            where=str(path),
        )
    corpus = load_named_corpus(plan.corpus, path)
    lock = None if plan.splits is None else load_lock(_beside(path, plan.splits.lock), corpus)
    texts = {judge.name: _text(path, judge.instruction) for judge in plan.students if judge.instruction is not None}
    return LoadedJudging(path, plan, corpus, lock, texts, models)


def _text(path: Path, named: str) -> str:
    """An instruction from a file beside the plan, or the bundled one of that name."""
    beside = _beside(path, named)
    return load_instruction(str(beside) if beside.is_file() else named)


def _beside(plan: Path, name: str) -> Path:
    """A path that a plan names, from the plan's own directory."""
    return (plan.parent / name).resolve()
