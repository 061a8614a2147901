"""What a trial searches with, as a campaign would: whether its plan can be searched at all, and its search space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lineage.errors import PlanError
from lineage.ledger import Ledger
from lineage.records import Candidate
from optimize.calling import CallLayer, check_limits
from optimize.contamination import ContaminationRecord
from optimize.engine import run_search
from optimize.engines import Engine, rival
from optimize.models import Model, build_student, open_model
from optimize.plan import Plan
from optimize.reflecting import build_reflector, check_reflector, feedback_of
from optimize.search import SearchSpace
from optimize.sweep.data import StudyData
from optimize.texts import candidate_of
from optimize.watching import Unwatched
from students import Bench, Student


@dataclass(frozen=True, slots=True)
class Resolved:
    """A campaign plan with everything that it names found.

    Attributes:
        plan: with its models by role resolved.
        texts: of the instructions that the search begins at, by the names that the plan gives them.
        models_hash: of the model lock that its models were resolved through, or None.
    """

    plan: Plan
    texts: Mapping[str, str]
    models_hash: str | None = None

    @property
    def baseline(self) -> str:
        """Text of the incumbent instruction."""
        return self.texts[self.plan.baseline]

    @property
    def seeds(self) -> dict[str, str]:
        """Further texts that the search begins at, by name."""
        return {name: self.texts[name] for name in self.plan.search.seeds}


@dataclass(frozen=True, slots=True)
class Searchable:
    """A plan that can be searched: its models by role, none of them called yet, and its student."""

    models: Mapping[str, Model]
    student: Student


def searchable(resolved: Resolved) -> Searchable:
    """The models and the student of a plan.

    Raises:
        PlanError: settings do not go together, a model does not take them, or a person would have to be asked.
    """
    plan = resolved.plan
    if plan.reflector.kind == "human":
        raise PlanError("reflector.kind: human: nobody can be asked in every search of a study; take another kind")
    if (control := plan.controls.reason) is not None:
        raise PlanError(f"controls have no place in a study, whose best point is to be confirmed ({control})")
    models = {"student": open_model(plan.student.model)}
    if (asked := plan.reflector.model) is not None:
        models["reflector"] = models["student"] if asked == plan.student.model else open_model(asked)
    check_limits(plan, models)
    check_reflector(plan)
    student = build_student(plan, models["student"])
    for text in resolved.texts.values():
        candidate_of(student, text)
    return Searchable(models, student)


def engine_of(plan: Plan) -> Engine:
    """The engine that a plan names."""
    return run_search if plan.search.engine == "gepa" else rival(plan.search.engine)


def search_space(
    resolved: Resolved,
    model: Model | None,
    *,
    student: Student,
    seed: Candidate,
    data: StudyData,
    contamination: ContaminationRecord,
    bench: Bench,
    layer: CallLayer,
    ledger: Ledger,
) -> SearchSpace:
    """What the search of a trial may see.

    Args:
        resolved: its plan.
        model: the one that its reflector asks, where it asks one.
        student: with its threshold set on accept.
        seed: the baseline.
        data: the examples of the study.
        contamination: looks through candidates and requests.
        bench: on whose event loop the reflector calls.
        layer: the calls of the trial.
        ledger: of the trial.
    """
    plan = resolved.plan
    return SearchSpace(
        student=student,
        seed_candidate=seed,
        reflect=data.reflect,
        accept=data.accept,
        reflector=build_reflector(plan, model, bench=bench, layer=layer, ledger=ledger, watcher=Unwatched()),
        forbidden=data.forbidden,
        contamination=contamination,
        settings=plan.search,
        seeds=tuple(candidate_of(student, text) for text in resolved.seeds.values()),
        feedback=feedback_of(plan),
        margin=plan.objective.margin,
        clean_weight=plan.objective.clean_weight,
        coverage=plan.gate.coverage,
    )
