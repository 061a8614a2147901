"""The part of a plan that describes the search."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, model_validator

from optimize.model_plan import Section
from optimize.search_budget import SearchBudgetPlan

Acceptance = Literal["promiscuous", "full"]
Frontier = Literal["examples", "objectives", "both"]

MERGED_SHARE: Final = 0.4
"""Share of the published iterations on a pool of six candidates or more that merged: 6 of 15, in two searches."""


class MergePlan(Section):
    """When two candidates of the frontier are crossed over, rather than one of them mutated."""

    from_candidates: int = Field(6, ge=2, description="Fewest candidates in the pool, seeds among them.")
    at_most: int = Field(4, ge=1, description="Most merges proposed, whatever becomes of them.")
    chance: float = Field(MERGED_SHARE, gt=0, le=1, description="Chance of a proposal to be a merge where it may be.")


class SearchPlan(Section):
    """The search on gepa's engine."""

    engine: Literal["gepa", "dspy-gepa", "mipro"] = Field("gepa", description="Our own search on gepa, or a rival.")
    iterations: int = Field(ge=0, description="Most iterations; each makes as many proposals as parallel says.")
    minibatch_groups: int = Field(2, ge=1, description="Reflect groups a minibatch.")
    seed: int = Field(0, ge=0, description="Seed of every random choice, and of the calls.")
    acceptance: Acceptance = Field(
        "promiscuous",
        description="promiscuous: better than its parent on the minibatch. full: on the whole of accept as well.",
    )
    frontier: Frontier = Field(
        "examples", description="What parents are drawn by: accept examples led, objectives as a whole, or both."
    )
    merge: MergePlan | None = Field(None, description="Crossovers of two candidates; null makes none.")
    seeds: tuple[str, ...] = Field(
        (), description="Further instructions that the search begins at, beside the baseline: bundled names or files."
    )
    parallel: int = Field(1, ge=1, le=32, description="Proposals an iteration, each of its own parent and minibatch.")
    rare_traces: bool = Field(False, description="Let every minibatch hold one of the rarer traces of omissions.")
    budget: SearchBudgetPlan = SearchBudgetPlan()

    @model_validator(mode="after")
    def _each_seed_once(self) -> SearchPlan:
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds names one twice: {', '.join(self.seeds)}; a text enters the search once")
        return self
