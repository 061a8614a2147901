"""The judges of a plan, ready to judge: each with its student, its text and its models, and what is registered of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from lineage.errors import PlanError
from lineage.records import Candidate
from optimize.judging.plan import JudgePlan, JudgingPlan
from optimize.model_plan import ModelPlan
from optimize.models import Model, build_student, capabilities_of, open_model
from optimize.plan import Plan
from students import Student, student_hash
from students.baselines import BASELINES
from students.pipeline import FactPipeline

FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "per-fact": ("per-fact", "per-fact-keyed", "two-stage", "three-stage"),
    "per-item": ("checklist", "coverage"),
    "without a model": tuple(baseline.name for baseline in BASELINES),
}
"""Designs that take a document apart, and the baselines; every other judges a document as a whole."""
WHOLE: Final = "whole-note"


@dataclass(frozen=True, slots=True)
class Judge:
    """One row of the table.

    Args:
        name: of the judge, with its budget where there is a ladder.
        budget: label of the budget; None without a ladder.
        student: the student.
        candidate: the text that it judges with.
        model: what it calls; None for a baseline without a language model.
        lister: what its calls about the source alone go to, where that is another model.
    """

    name: str
    budget: str | None
    student: Student
    candidate: Candidate
    model: ModelPlan | None = None
    lister: ModelPlan | None = None

    @property
    def family(self) -> str:
        """Whether it judges a document as a whole, by facts, by items of its own, or without a language model."""
        return next((family for family, names in FAMILIES.items() if self.student.name in names), WHOLE)

    def row(self) -> dict[str, Any]:
        """What is registered of it before the first call."""
        rule = self.student.flag_rule
        return {
            "name": self.name,
            "design": self.student.name,
            "family": self.family,
            "budget": self.budget,
            "student": student_hash(self.student),
            "settings": self.student.settings(),
            "candidate": self.candidate.id,
            "scale": self.student.scale,
            "samples": self.student.samples,
            "rule": None if rule is None else rule.row(),
            "swept": rule is None or rule.swept,
        }


def open_models(plan: JudgingPlan) -> dict[ModelPlan, Model]:
    """Every model that the plan names, each opened once; nothing is called.

    Raises:
        PlanError: a key or a price is missing, or a limit in US dollars could not be held or would limit nothing.
    """
    models = {model: open_model(model) for model in {model: None for _, model in plan.models_named()}}
    if plan.limits.usd is not None:
        free = {model for model in models if model.original.local or model.original.simulated}
        for place, model in plan.models_named():
            if models[model].price is None and model not in free:
                raise PlanError(
                    f"limits.usd needs the price of {place}, which is not known; state it in the plan: price: "
                    "{prompt_usd_per_million: …, completion_usd_per_million: …}"
                )
        if free == set(models):
            raise PlanError("limits.usd has no effect on models without a price; limit calls, tokens or wall_s instead")
    return models


def judges_of(plan: JudgingPlan, models: Mapping[ModelPlan, Model], texts: Mapping[str, str]) -> tuple[Judge, ...]:
    """The judges of a plan, every student at every budget.

    Args:
        plan: the plan.
        models: its models, opened.
        texts: the instruction of each student that names one, by the student's name.

    Raises:
        PlanError: a model does not take what a student asks for; says which student.
    """
    found = []
    for unit in plan.units:
        try:
            student = _student(unit.judge, models)
            candidate = _candidate(student, texts.get(unit.judge.name))
        except PlanError as error:
            raise PlanError(f"student {unit.name}: {error}") from error
        found.append(Judge(unit.name, unit.budget, student, candidate, unit.judge.model, unit.judge.lister))
    return tuple(found)


def baselines() -> tuple[Judge, ...]:
    """The baselines without a language model, which always stand in the table where every group has facts."""
    return tuple(Judge(one.name, None, one, Candidate(dict(one.seed_texts), "seed")) for one in BASELINES)


def without_facts(groups: Iterable[str], facts: Mapping[str, object]) -> tuple[str, ...]:
    """Groups that have no facts."""
    return tuple(group for group in groups if not facts.get(group))


def _student(judge: JudgePlan, models: Mapping[ModelPlan, Model]) -> Student:
    student = build_student(Plan.model_construct(student=judge), models[judge.model])
    if judge.lister is None:
        return student
    if not isinstance(student, FactPipeline):
        raise PlanError(f"lister has no effect on shape {judge.shape}, which makes no list of facts; remove it")
    lister, able = models[judge.lister].identity, capabilities_of(judge.lister)
    return replace(student, lister=lister, lister_capabilities=able)


def _candidate(student: Student, text: str | None) -> Candidate:
    """The text that a student judges with: one that the plan names, or those of its design."""
    texts = dict(student.seed_texts)
    if text is not None:
        if len(texts) != 1:
            raise PlanError(f"instruction is one text, and {student.name} has {', '.join(texts) or 'none'}; remove it")
        texts = dict.fromkeys(texts, text)
    return Candidate(texts, "seed")
