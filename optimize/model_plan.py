"""The models of a plan: where each one is, what it costs, and how fast it may be called."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Section(BaseModel):
    """A part of a plan: frozen, closed to keys it does not know, and to numbers that are none or infinite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class PricePlan(Section):
    """Price of a hosted model, where litellm's map does not have it. US dollars for a million tokens."""

    prompt_usd_per_million: float = Field(ge=0)
    completion_usd_per_million: float = Field(ge=0)
    cached_usd_per_million: float | None = Field(None, ge=0, description="Cached prompt tokens; null: as the others.")


PLACES: Final = ("local", "endpoint", "hosted", "simulated", "role", "replay")
"""Keys of a model of which exactly one is given."""


class PlantedPlan(Section):
    """An improvement that was put into the simulated judge: it needs both clauses, and a reasoning budget."""

    fragment: str = Field(
        "The whole fact must be there: a fragment or a hint is not enough.",
        min_length=1,
        description="Clause without which the judge takes a fragment for the fact.",
    )
    restated: str = Field(
        "Every detail of the fact must be found, such as number, side, dose, time or person.",
        min_length=1,
        description="Clause without which the judge takes a vaguer restatement for the fact.",
    )
    effect: float = Field(3.0, ge=0, description="What both do to its margin on such facts, in nats; 0: nothing does.")

    @model_validator(mode="after")
    def _two_clauses(self) -> PlantedPlan:
        if self.fragment in self.restated or self.restated in self.fragment:
            raise ValueError("fragment and restated must be two clauses, neither of which holds the other")
        return self


class SimulatedPlan(Section):
    """The simulated judge: a formula, marked as such everywhere."""

    noise: float = Field(2.0, ge=0, description="Standard deviation of its noise, in nats of margin.")
    planted: PlantedPlan | None = Field(None, description="Another formula, in which an improvement is planted.")


class RatePlan(Section):
    """What an endpoint admits besides so many calls at once; null sets none. Roles at one endpoint share it."""

    requests_per_minute: int | None = Field(None, ge=1)
    tokens_per_minute: int | None = Field(None, ge=1, description="Tokens of prompt and answer together.")


OPERATIONAL: Final = ("concurrency", "limits", "deadline_s")
"""Settings of a model that can change no answer: how fast it is called, and when a call is given up."""


class ModelPlan(Section):
    """Where a model is: embedded, an OpenAI-compatible endpoint, hosted, simulated, pinned by role, or recorded."""

    local: str | None = Field(None, description="Name of an embedded model (see holdgate model list).")
    endpoint: str | None = Field(None, description="Address of an OpenAI-compatible endpoint, up to and with /v1.")
    name: str | None = Field(None, description="Model name that the endpoint is asked for.")
    hosted: str | None = Field(None, description="provider/model, as litellm names it; keys from the environment.")
    simulated: SimulatedPlan | None = None
    role: str | None = Field(None, description="Role that the plan's model lock pins (see holdgate models pin).")
    replay: str | None = Field(None, description="Recorded call cache, or its export, that stands in for the model.")
    of: ModelPlan | None = Field(None, description="The model that replay stands in for, as in the recorded plan.")
    key_env: str | None = Field(None, description="Environment variable that holds the endpoint's key.")
    price: PricePlan | None = None
    concurrency: int = Field(8, ge=1, description="Most calls under way at once.")
    limits: RatePlan = RatePlan()
    deadline_s: float = Field(120.0, gt=0, description="Seconds that one request may take before it is cancelled.")

    @model_validator(mode="after")
    def _one_place(self) -> ModelPlan:
        places = [name for name in PLACES if getattr(self, name) is not None]
        if len(places) != 1:
            raise ValueError(f"give exactly one of {', '.join(PLACES)}; got {', '.join(places) or 'none'}")
        if (self.of is not None) != (self.replay is not None):
            raise ValueError("replay and of go together: of is the recorded plan's model")
        if self.of is not None and self.of.replay is not None:
            raise ValueError("of is the model that was recorded, not another replay")
        if self.role is not None and self.model_fields_set != {"role"}:
            raise ValueError("everything about a role is in the model lock; remove the other settings")
        if (self.name is not None) != (self.endpoint is not None):
            raise ValueError("endpoint and name go together")
        if self.key_env is not None and self.endpoint is None:
            raise ValueError("key_env goes with endpoint; hosted models take their provider's own variable")
        if self.price is not None and self.hosted is None and self.endpoint is None:
            raise ValueError("price goes with hosted or endpoint")
        return self

    @property
    def original(self) -> ModelPlan:
        """The model itself, where a replay stands in for it."""
        return self.of or self
