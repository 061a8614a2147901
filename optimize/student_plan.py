"""The part of a plan that describes the judge under test."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema, field_validator, model_validator

from optimize.model_plan import ModelPlan, Section
from students.budget import Effort
from students.designs import DESIGNS, Design
from students.per_fact import Aggregator
from students.pipeline import CREDITS, WEIGHTS, FactRuleName, FactSource
from students.steps import Aggregation, Read
from students.student import PromptCache


class BudgetPlan(Section):
    """Reasoning budget and answer cap; what the model does not take is refused before anything is called."""

    effort: Effort = Field("none", description="Reasoning effort; none means no reasoning.")
    thinking_tokens: int | None = Field(
        None,
        ge=1,
        description="Thinking budget, with effort none; a scratchpad before the answer where a model has none.",
    )
    answer_tokens: int = Field(
        64, ge=1, description="Cap of the answer in tokens; with an effort, of reasoning and answer together."
    )


Shape = Annotated[str, WithJsonSchema({"type": "string", "enum": list(DESIGNS)})]
"""Name of a design (see :data:`students.designs.DESIGNS`)."""


class StudentPlan(Section):
    """The judge under test; the same settings score every candidate."""

    shape: Shape
    model: ModelPlan
    budget: BudgetPlan = BudgetPlan()
    samples: int = Field(
        1, ge=1, le=10, description="Answers a judgement (whole-note, g-eval, program), or votes (step-verifier)."
    )
    aggregator: Aggregator = Field("soft", description="How a per-fact student's verdicts become a score.")
    max_facts: int | None = Field(None, ge=1, description="Most facts checked a document, core facts first.")
    block: str | None = Field(None, description="Prompt whose instruction evolves, where a design has several.")
    list_tokens: int = Field(1024, ge=1, description="Cap in tokens of a list that a design makes for itself.")
    facts_from: FactSource = Field("source", description="Whether a pipeline's facts are the source's or the corpus's.")
    audit: bool = Field(False, description="Whether a two-stage pipeline's list is audited; three stages always do.")
    second_look: bool = Field(False, description="Whether facts that are absent are looked for once more.")
    sections: bool = Field(False, description="Whether a document's sections are checked apart, and mentions counted.")
    rule: FactRuleName | None = Field(None, description="Decision rule over verdicts (pipelines); null: none.")
    rule_count: int | None = Field(None, ge=1, description="Absent facts that rule: count-absent flags from.")
    weights: dict[str, float] = Field(
        default_factory=lambda: dict(WEIGHTS), description="Weight of each severity (three-stage)."
    )
    credits: dict[str, float] = Field(
        default_factory=lambda: dict(CREDITS), description="Credit of each grade (three-stage)."
    )
    granularity: str = Field(
        "fine", description="Steps of a note: fine, sentence, problem, note, or kinds joined by + (step-verifier)."
    )
    step_aggregation: Aggregation = Field("sum", description="How steps make a note's score (step-verifier).")
    step_read: Read = Field(
        "auto", description="votes for an endpoint that gives no log-probabilities; auto: where they are stated."
    )
    step_threshold: float = Field(0.5, gt=0, lt=1, description="Least P(+) of a step that is not bad (step-verifier).")
    most_steps: int = Field(200, ge=1, description="Steps above which a note fails (step-verifier).")
    program: str | None = Field(None, description="Where a dspy program is made: package.module:function (program).")
    program_state: str | None = Field(None, description="File that dspy's save wrote of it (program).")
    inputs: dict[str, str] = Field(
        default_factory=lambda: {"source": "source", "document": "document"},
        description="Which of source, document and facts each argument of the program is.",
    )
    output: str = Field("score", description="Field of the program's prediction with the score, of 10.")
    flag_below: float | None = Field(None, description="Scores of the program below this are flagged; null: no rule.")
    pass_mark: float = Field(0.7, gt=0, le=1, description="Least rating of a statement that passes (grounding).")
    temperature: float | None = Field(0.0, ge=0, description="Sampling temperature (not per-fact); null sends none.")
    prompt_cache: PromptCache = Field(
        "unset", description="Prompt cache of llama.cpp's server; exact makes repeats equal."
    )

    @model_validator(mode="before")
    @classmethod
    def _defaults_of_the_design(cls, data: Any) -> Any:
        """What a design sets where the plan is silent, so that the plan's own row says what is used."""
        design = DESIGNS.get(str(data.get("shape"))) if isinstance(data, Mapping) else None
        if design is None:
            return data
        plain = Design("", design.judge, design.scale, {})
        own = {
            name: getattr(design, name)
            for name in ("samples", "temperature", "block")
            if name in design.options and getattr(design, name) != getattr(plain, name)
        }
        filled = {**own, **design.defaults, **data}
        budget = filled.get("budget", {})
        if design.answer_tokens != plain.answer_tokens and isinstance(budget, Mapping):
            filled["budget"] = {"answer_tokens": design.answer_tokens, **budget}
        return filled

    @field_validator("shape")
    @classmethod
    def _known(cls, shape: str) -> str:
        if shape not in DESIGNS:
            near = get_close_matches(shape, DESIGNS, n=1, cutoff=0.5)
            raise ValueError(
                f"there is no design {shape!r}; "
                + (f"did you mean {near[0]!r}?" if near else f"there are {', '.join(DESIGNS)}")
            )
        return shape

    @model_validator(mode="after")
    def _no_idle_setting(self) -> StudentPlan:
        design = DESIGNS[self.shape]
        some_only = {name for each in DESIGNS.values() for name in each.options}
        idle = self.model_fields_set & (some_only - set(design.options))
        if idle:
            raise ValueError(f"{', '.join(sorted(idle))} has no effect on shape {self.shape}; remove it")
        if self.shape == "program" and self.program is None:
            raise ValueError("shape program needs program: package.module:function")
        model = self.model.original
        if not design.simulated and model.simulated is not None:
            named = ", ".join(name for name, each in DESIGNS.items() if each.simulated)
            raise ValueError(f"the simulated judge answers shapes {named} only")
        if self.shape != "per-fact" and model.simulated is not None and model.simulated.planted is not None:
            raise ValueError("the simulated judge with a planted improvement answers shape per-fact only")
        if self.prompt_cache != "unset" and model.local is None and model.endpoint is None and model.role is None:
            raise ValueError("prompt_cache has no effect on this model; remove it")
        if self.prompt_cache == "exact" and model.local is None and model.role is None:
            raise ValueError("prompt_cache: exact needs a server that takes one call at a time: a local model")
        return self

    @property
    def design(self) -> Design:
        """The design of that name."""
        return DESIGNS[self.shape]

    @property
    def needs_facts(self) -> bool:
        """Whether it is given the facts of the corpus, so that every group must have some."""
        design = self.design
        given = "facts" in self.inputs.values()
        return design.facts or given or ("facts_from" in design.options and self.facts_from == "corpus")

    @property
    def clauses(self) -> str:
        """Name of the operator reflector's clause bank; the design's own name where there may be none."""
        return self.design.clauses or self.shape

    @property
    def options(self) -> dict[str, Any]:
        """The settings that have an effect on the design, and not on every one."""
        return {name: getattr(self, name) for name in self.design.options}
