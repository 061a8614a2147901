"""The part of a plan that describes the judge under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field, model_validator

from optimize.model_plan import ModelPlan, Section
from students.budget import Effort
from students.per_fact import Aggregator
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


Shape = Literal["per-fact", "per-fact-keyed", "whole-note"]
_SHAPED: Final[Mapping[str, frozenset[str]]] = {
    "per-fact": frozenset({"aggregator", "max_facts"}),
    "per-fact-keyed": frozenset({"max_facts", "temperature"}),
    "whole-note": frozenset({"samples", "temperature"}),
}
"""Settings that have an effect on some shapes only."""


class StudentPlan(Section):
    """The judge under test; the same settings score every candidate."""

    shape: Shape
    model: ModelPlan
    budget: BudgetPlan = BudgetPlan()
    samples: int = Field(1, ge=1, le=10, description="Answers a judgement (whole-note).")
    aggregator: Aggregator = Field("soft", description="How a per-fact student's verdicts become a score.")
    max_facts: int | None = Field(None, ge=1, description="Most facts checked a document, core facts first.")
    temperature: float | None = Field(0.0, ge=0, description="Sampling temperature (not per-fact); null sends none.")
    prompt_cache: PromptCache = Field(
        "unset", description="Prompt cache of llama.cpp's server; exact makes repeats equal."
    )

    @model_validator(mode="after")
    def _no_idle_setting(self) -> StudentPlan:
        idle = self.model_fields_set & (frozenset[str]().union(*_SHAPED.values()) - _SHAPED[self.shape])
        if idle:
            raise ValueError(f"{', '.join(sorted(idle))} has no effect on shape {self.shape}; remove it")
        model = self.model.original
        if self.shape == "per-fact-keyed" and model.simulated is not None:
            raise ValueError("the simulated judge answers shapes per-fact and whole-note only")
        if self.shape != "per-fact" and model.simulated is not None and model.simulated.planted is not None:
            raise ValueError("the simulated judge with a planted improvement answers shape per-fact only")
        if self.prompt_cache != "unset" and model.local is None and model.endpoint is None and model.role is None:
            raise ValueError("prompt_cache has no effect on this model; remove it")
        if self.prompt_cache == "exact" and model.local is None and model.role is None:
            raise ValueError("prompt_cache: exact needs a server that takes one call at a time: a local model")
        return self
