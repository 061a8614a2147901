"""The judging plan: which judges, at which budgets, over which examples; frozen, and hashed before the first call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import Field, model_validator

from lineage.canonical import digest
from lineage.errors import PlanError
from optimize.corpus_plan import CorpusPlan
from optimize.model_plan import OPERATIONAL, ModelPlan, Section
from optimize.plan import RoleLimitsPlan, SplitsPlan, parse_section
from optimize.student_plan import BudgetPlan, StudentPlan
from splits.selection import Selection
from students.baselines import BASELINES

JudgedSplit = Literal["reflect", "accept", "heldout", "all"]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]

_REASONING: Final = ("effort", "thinking_tokens")


class SelectionPlan(Section):
    """Part of a corpus without a split lock, for a look that is small."""

    groups: int | None = Field(None, ge=1, description="Groups, drawn from the strata in proportion; null: all.")
    flawed_per_group: int | None = Field(
        None, ge=1, description="Flawed documents of each, a complete omission first, then others in turn; null: all."
    )
    seed: int = Field(0, ge=0, description="Seed of the draw.")

    @property
    def selection(self) -> Selection:
        """The selection itself."""
        return Selection(self.groups, self.flawed_per_group, self.seed)


class JudgePlan(StudentPlan):
    """One judge of a judging plan: a student with a name and its own text."""

    name: Name = Field(description="What it is called in the table.")
    instruction: str | None = Field(
        None, description="Text of its evolving block: a bundled seed's name or a file; null: the design's own."
    )
    lister: ModelPlan | None = Field(
        None,
        description="Model that makes the list of facts where it is another than the checker's (pipelines): with the "
        "same lister only the checker is swapped.",
    )

    def at(self, rung: BudgetPlan) -> JudgePlan:
        """The judge at another reasoning budget, with the same text; its answer cap stays unless the rung has one."""
        data = self.model_dump(mode="json", exclude_unset=True)
        own = {key: value for key, value in data.get("budget", {}).items() if key not in _REASONING}
        budget = {**own, **rung.model_dump(mode="json", exclude_unset=True)}
        return JudgePlan.model_validate({**data, "budget": budget})


class Unit(Section):
    """One row of the table: a judge at one budget."""

    name: str
    judge: JudgePlan
    budget: str | None = Field(description="Label of the budget where there is a ladder.")


class JudgingPlan(Section):
    """What ``holdgate judge`` does."""

    name: Name
    corpus: CorpusPlan
    splits: SplitsPlan | None = Field(None, description="The committed split lock; without it the corpus is judged.")
    split: JudgedSplit = Field(
        "all", description="Which split is judged; held-out goes through the seal, as exploratory. all: without a lock."
    )
    selection: SelectionPlan | None = Field(None, description="Fewer groups; without a lock only.")
    model: ModelPlan | None = Field(None, description="Model of every student that names none.")
    students: list[JudgePlan] = Field(min_length=1, description="The judges.")
    budgets: list[BudgetPlan] = Field(
        default_factory=list, description="A ladder: every student at each of these budgets, with the same text."
    )
    replicates: int = Field(1, ge=1, le=9, description="Repetitions of the whole.")
    seed: int = Field(0, ge=0, description="Seed of the calls.")
    limits: RoleLimitsPlan = Field(RoleLimitsPlan(), description="Hard limits of the run.")
    models: str | None = Field(None, description="Path of a model lock, from the plan's directory, for models by role.")

    @model_validator(mode="before")
    @classmethod
    def _default_model(cls, data: Any) -> Any:
        """The plan's model in every student that names none."""
        if not isinstance(data, Mapping) or data.get("model") is None or not isinstance(data.get("students"), Sequence):
            return data
        students = [
            {"model": data["model"], **student} if isinstance(student, Mapping) else student
            for student in data["students"]
        ]
        return {**data, "students": students}

    @model_validator(mode="after")
    def _parts_fit(self) -> JudgingPlan:
        if (self.splits is None) != (self.split == "all"):
            raise ValueError("splits goes with split: reflect, accept or heldout; without a lock everything is judged")
        if self.selection is not None and self.splits is not None:
            raise ValueError("selection has no effect with a split lock, which has its own; remove it")
        if self.replicates % 2 == 0:
            raise ValueError(f"replicates must be odd, so that flags have a majority; got {self.replicates}")
        names = Counter(student.name for student in self.students)
        for name, count in names.items():
            if count > 1:
                raise ValueError(f"two students are called {name!r}; a name is a row of the table")
            if name in {baseline.name for baseline in BASELINES}:
                raise ValueError(f"{name!r} is a baseline that is always there; call the student otherwise")
        if repeated := [label for label, count in Counter(self.labels).items() if count > 1]:
            raise ValueError(f"budgets has {repeated[0]!r} twice; remove one")
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the rungs: the effort or the thinking tokens, with the answer cap where that alone differs."""
        plain = [
            rung.effort if rung.thinking_tokens is None else f"thinking-{rung.thinking_tokens}" for rung in self.budgets
        ]
        count = Counter(plain)
        return tuple(
            label
            if count[label] == 1 or "answer_tokens" not in rung.model_fields_set
            else f"{label}-{rung.answer_tokens}"
            for label, rung in zip(plain, self.budgets, strict=True)
        )

    @property
    def units(self) -> tuple[Unit, ...]:
        """Every judge at every budget, in the order in which they are judged."""
        if not self.budgets:
            return tuple(Unit(name=judge.name, judge=judge, budget=None) for judge in self.students)
        return tuple(
            Unit(name=f"{judge.name}@{label}", judge=judge.at(rung), budget=label)
            for judge in self.students
            for label, rung in zip(self.labels, self.budgets, strict=True)
        )

    def models_named(self) -> Iterator[tuple[str, ModelPlan]]:
        """Every model that is called, with where the plan names it."""
        for judge in self.students:
            yield f"students.{judge.name}.model", judge.model
            if judge.lister is not None:
                yield f"students.{judge.name}.lister", judge.lister

    @property
    def simulated(self) -> bool:
        """Whether any judge is a simulation."""
        return any(model.original.simulated is not None for _, model in self.models_named())

    @property
    def replayed(self) -> tuple[str, ...]:
        """Where a model stands whose answers come from a recorded run."""
        return tuple(place for place, model in self.models_named() if model.replay is not None)

    def only(self, names: Sequence[str]) -> JudgingPlan:
        """The plan with some of its students.

        Raises:
            PlanError: it has no student of a name.
        """
        known = [judge.name for judge in self.students]
        if unknown := [name for name in names if name not in known]:
            raise PlanError(f"the plan has no student {unknown[0]!r}; it has {', '.join(known)}")
        kept = [judge for judge in self.students if judge.name in names]
        return self.model_copy(update={"students": kept})

    def row(self) -> dict[str, Any]:
        """The JSON form, defaults included; limits and speed are no part of it, nor of the hash (see ``Plan.row``)."""
        row = self.model_dump(mode="json", exclude={"limits", "model"})
        for student in row["students"]:
            for key in ("model", "lister"):
                if (model := student[key]) is not None:
                    model = model["of"] or model
                    student[key] = {k: v for k, v in model.items() if k not in ("replay", "of", *OPERATIONAL)}
        return row

    @property
    def hash(self) -> str:
        """SHA-256 of the JSON form."""
        return digest(self.row())


def parse_judging_plan(data: Any, *, where: str) -> JudgingPlan:
    """Check a judging plan read from a file.

    Raises:
        PlanError: naming the place, the rule, and the near name of a misspelt key.
    """
    return parse_section(data, JudgingPlan, where=where, schema="holdgate judge --schema")
