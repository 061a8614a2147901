"""Plans of step verifiers: judging plans whose students cut notes into steps."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Final

from experiments.judging import find_judging_plan, load_judging_plan
from experiments.judging.loading import LoadedJudging
from experiments.loading import PLANS
from lineage.errors import PlanError, SealError

STEPS_PLANS: Final = PLANS / "steps"
"""Directory of the bundled plans of step verifiers."""
SHAPE: Final = "step-verifier"


def find_steps_plan(name: str) -> Path:
    """The file of a plan, or the bundled one of that name.

    Raises:
        PlanError: there is neither; suggests the near name.
    """
    for path in (STEPS_PLANS / name, STEPS_PLANS / f"{name}.yaml"):
        if path.is_file() and not Path(name).is_file():
            return path
    try:
        return find_judging_plan(name)
    except PlanError as error:
        bundled = sorted(path.stem for path in STEPS_PLANS.glob("*.yaml"))
        near = get_close_matches(Path(name).stem, bundled, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"bundled: {', '.join(bundled)}"
        raise PlanError(f"there is no plan {name!r} of step verifiers; {hint}") from error


def load_steps_plan(name: str, *, only: tuple[str, ...] = ()) -> LoadedJudging:
    """A plan with its step verifiers alone.

    Args:
        name: a file, or the name of a bundled plan.
        only: names of its verifiers; none for all.

    Raises:
        InputError: the first defect of plan, corpus or lock.
        PlanError: it has no step verifier.
        SealError: it is about held-out notes.
    """
    path = find_steps_plan(name)
    loaded = load_judging_plan(str(path))
    names = verifiers_of(loaded)
    if loaded.plan.split == "heldout":
        raise SealError(
            f"{path}: split: heldout stays behind the seal, and steps are cut and labelled outside of it; evaluate "
            "steps on reflect, on accept, or on the test part of a build"
        )
    if not names:
        raise PlanError(f"{path}: no student is of shape {SHAPE}, and only such judge steps; add one")
    return load_judging_plan(str(path), students=[name for name in names if not only or name in only] or list(only))


def verifiers_of(loaded: LoadedJudging) -> tuple[str, ...]:
    """Names of the step verifiers of a plan, in order."""
    return tuple(judge.name for judge in loaded.plan.students if judge.shape == SHAPE)
