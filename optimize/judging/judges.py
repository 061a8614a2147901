"""The judges of a plan, ready to judge: each with its student, its text and its models, and what is registered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from lineage.errors import PlanError
from lineage.records import Candidate
from optimize.calling import is_free
from optimize.judging.costs import JudgePrices
from optimize.judging.plan import JudgePlan, JudgingPlan
from optimize.model_plan import ModelPlan
from optimize.models import Model, capabilities_of, open_model, student_of
from students import Student, student_hash
from students.baselines import BASELINES
from students.pipeline import FactPipeline

WHOLE_NOTE: Final = "whole-note"
PER_FACT: Final = "per-fact"
PER_ITEM: Final = "per-item"
NO_MODEL: Final = "without a model"
FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    PER_FACT: ("per-fact", "per-fact-keyed", "two-stage", "three-stage"),
    PER_ITEM: ("checklist", "coverage", "step-verifier", "grounding", "grounding-score"),
    NO_MODEL: tuple(baseline.name for baseline in BASELINES),
}
"""Designs that take a document apart, and the baselines; every other judges a document as a whole."""


@dataclass(frozen=True, slots=True)
class Judge:
    """One row of the table.

    Args:
        name: of the judge, with its budget where there is a ladder.
        student: the student.
        candidate: the text that it judges with.
        budget: label of the budget; None without a ladder.
        plan: its part of the plan; None for a baseline without a language model.
    """

    name: str
    student: Student
    candidate: Candidate
    budget: str | None = None
    plan: JudgePlan | None = None

    @property
    def model(self) -> ModelPlan | None:
        """What it calls; a baseline calls nothing."""
        return None if self.plan is None else self.plan.model

    @property
    def lister(self) -> ModelPlan | None:
        """What its calls about the source alone go to, where that is another model."""
        return None if self.plan is None else self.plan.lister

    @property
    def family(self) -> str:
        """Whether it judges a document as a whole, by facts, by items of its own, or without a language model."""
        return next((family for family, names in FAMILIES.items() if self.student.name in names), WHOLE_NOTE)

    @property
    def needs_facts(self) -> bool:
        """Whether it is given the facts of the corpus."""
        return self.plan is None or self.plan.needs_facts

    @property
    def asked(self) -> dict[str, Any]:
        """Its part of the plan as a row, but for its models and its name."""
        if self.plan is None:
            return {}
        return self.plan.model_dump(mode="json", exclude={"name", "instruction", "model", "lister"})

    def row(self) -> dict[str, Any]:
        """What is registered of it before the first call."""
        rule = self.student.flag_rule
        return {
            "name": self.name,
            "design": self.student.name,
            "family": self.family,
            "budget": self.budget,
            "student": student_hash(self.student),
            "asked": self.asked,
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
        free = {model for model in models if is_free(model)}
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
        found.append(Judge(unit.name, student, candidate, unit.budget, unit.judge))
    return tuple(found)


def baselines() -> tuple[Judge, ...]:
    """The baselines without a language model, which always stand in the table where every group has facts."""
    return tuple(Judge(one.name, one, Candidate(dict(one.seed_texts), "seed")) for one in BASELINES)


def prices_of(judge: Judge, models: Mapping[ModelPlan, Model]) -> JudgePrices:
    """What the tokens of a judge's models cost."""
    if judge.model is None:
        return JudgePrices(None, None, known=True)  # it costs nothing
    used = [judge.model] if judge.lister is None else [judge.model, judge.lister]
    prices = [models[model].price for model in used]
    stated = any(price is not None for price in prices)
    lacking = any(price is None and not is_free(model) for model, price in zip(used, prices, strict=True))
    return JudgePrices(prices[0], prices[-1], known=stated and not lacking)


def _student(judge: JudgePlan, models: Mapping[ModelPlan, Model]) -> Student:
    student = student_of(judge, models[judge.model].identity)
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
