"""The campaign plan: a frozen, typed model whose hash is in the ledger before the first call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lineage.canonical import digest
from lineage.errors import PlanError
from students.budget import Effort
from students.per_fact import Aggregator
from students.student import PromptCache


class Section(BaseModel):
    """A part of a plan: frozen, and closed to keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CorpusPlan(Section):
    """Which corpus: one that comes with Holdgate, or files of the user's."""

    bundled: str | None = Field(None, description="Name of a bundled corpus, such as consults.")
    path: str | None = Field(None, description="Path of a corpus.jsonl, from the plan's directory.")
    facts: str | None = Field(None, description="Path of its facts.jsonl; needed by per-fact students.")

    @model_validator(mode="after")
    def _one_source(self) -> CorpusPlan:
        if (self.bundled is None) == (self.path is None) or (self.bundled and self.facts):
            raise ValueError("give either bundled, or path and perhaps facts")
        return self


class SplitsPlan(Section):
    """Which split lock."""

    lock: str = Field(description="Path of a committed split lock, from the plan's directory.")


class PricePlan(Section):
    """Price of a hosted model, where litellm's map does not have it. US dollars for a million tokens."""

    prompt_usd_per_million: float = Field(ge=0)
    completion_usd_per_million: float = Field(ge=0)


class SimulatedPlan(Section):
    """The simulated judge: a formula, marked as such everywhere."""

    noise: float = Field(2.0, ge=0, description="Standard deviation of its noise, in nats of margin.")


class ModelPlan(Section):
    """Where a model is: the embedded one, an OpenAI-compatible endpoint, a hosted one, or a simulation."""

    local: str | None = Field(None, description="Name of an embedded model (see holdgate model list).")
    endpoint: str | None = Field(None, description="Address of an OpenAI-compatible endpoint, up to and with /v1.")
    name: str | None = Field(None, description="Model name that the endpoint is asked for.")
    hosted: str | None = Field(None, description="provider/model, as litellm names it; keys from the environment.")
    simulated: SimulatedPlan | None = None
    key_env: str | None = Field(None, description="Environment variable that holds the endpoint's key.")
    price: PricePlan | None = None
    concurrency: int = Field(8, ge=1, description="Most calls under way at once.")

    @model_validator(mode="after")
    def _one_place(self) -> ModelPlan:
        places = [name for name in ("local", "endpoint", "hosted", "simulated") if getattr(self, name) is not None]
        if len(places) != 1:
            raise ValueError(
                f"give exactly one of local, endpoint, hosted, simulated; got {', '.join(places) or 'none'}"
            )
        if (self.name is not None) != (self.endpoint is not None):
            raise ValueError("endpoint and name go together")
        if self.key_env is not None and self.endpoint is None:
            raise ValueError("key_env goes with endpoint; hosted models take their provider's own variable")
        if self.price is not None and self.hosted is None and self.endpoint is None:
            raise ValueError("price goes with hosted or endpoint")
        return self


class BudgetPlan(Section):
    """Reasoning budget and answer cap."""

    effort: Effort = "none"
    thinking_tokens: int | None = Field(None, ge=1)
    answer_tokens: int = Field(64, ge=1)


class StudentPlan(Section):
    """The judge under test; the same settings score every candidate."""

    shape: Literal["per-fact", "whole-note"]
    model: ModelPlan
    budget: BudgetPlan = BudgetPlan()
    samples: int = Field(1, ge=1, le=10, description="Answers a judgement (whole-note).")
    aggregator: Aggregator = Field("soft", description="How a per-fact student's verdicts become a score.")
    max_facts: int | None = Field(None, ge=1, description="Most facts checked a document, core facts first.")
    temperature: float | None = Field(0.0, ge=0, description="Sampling temperature (whole-note); null sends none.")
    prompt_cache: PromptCache = Field(
        "unset", description="Prompt cache of llama.cpp's server; exact makes repeats equal."
    )

    @model_validator(mode="after")
    def _no_idle_setting(self) -> StudentPlan:
        given = self.model_fields_set
        idle = given & ({"samples", "temperature"} if self.shape == "per-fact" else {"aggregator", "max_facts"})
        if idle:
            raise ValueError(f"{', '.join(sorted(idle))} has no effect on shape {self.shape}; remove it")
        if self.prompt_cache != "unset" and self.model.local is None and self.model.endpoint is None:
            raise ValueError("prompt_cache has no effect on this model; remove it")
        if self.prompt_cache == "exact" and self.model.local is None:
            raise ValueError("prompt_cache: exact needs a server that takes one call at a time: a local model")
        return self


class ReflectorPlan(Section):
    """What reads the failures: the offline edit operators, or a model."""

    kind: Literal["operators", "llm"] = "operators"
    model: ModelPlan | None = None
    budget: BudgetPlan = BudgetPlan(answer_tokens=4096)
    temperature: float | None = Field(1.0, ge=0)

    @model_validator(mode="after")
    def _model_for_llm(self) -> ReflectorPlan:
        if (self.kind == "llm") != (self.model is not None):
            raise ValueError("kind llm needs a model, and only it takes one")
        if self.kind == "operators" and self.model_fields_set & {"budget", "temperature"}:
            raise ValueError("budget and temperature have no effect on kind operators; remove them")
        return self


class ObjectivePlan(Section):
    """The reward that minibatch and frontier see (DESIGN: reward)."""

    margin: float = Field(0.1, gt=0, description="m of the margin term, in units of the student's score.")
    clean_weight: float = Field(0.25, ge=0, le=1, description="Weight of a clean example's reward.")


class SearchPlan(Section):
    """The search on gepa's engine."""

    engine: Literal["gepa"] = "gepa"
    iterations: int = Field(ge=0, description="Most proposals.")
    minibatch_groups: int = Field(2, ge=1, description="Reflect groups a minibatch.")
    seed: int = Field(0, ge=0, description="Seed of every random choice, and of the calls.")


class LimitsPlan(Section):
    """Hard limits; null sets none."""

    calls: int | None = Field(None, ge=0)
    tokens: int | None = Field(None, ge=0)
    usd: float | None = Field(None, ge=0)
    wall_s: float | None = Field(None, gt=0)


class GatePlan(Section):
    """The rule that reads the held-out comparison, fixed before the search. Its level is the lock's share of alpha."""

    rule: Literal["lower-bound", "permutation", "point"] = "lower-bound"
    margin: float = Field(0.0, description="Difference in paired discrimination that must be exceeded.")
    coverage: float = Field(0.98, gt=0, le=1, description="Least share of pairs scored in both arms.")


class GuardrailsPlan(Section):
    """Conditions that must all hold beside the rule; null leaves one out."""

    false_alarm_margin: float | None = Field(0.10, ge=0, description="Most rise of the false-alarm rate (upper bound).")
    commission_margin: float | None = Field(0.10, ge=0, description="Most fall on commissions (lower bound).")
    prompt_words: int | None = Field(400, ge=1, description="Most words of an emitted instruction.")


class Plan(Section):
    """A campaign, pre-registered."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    corpus: CorpusPlan
    splits: SplitsPlan
    student: StudentPlan
    baseline: str = Field(
        description="The incumbent instruction: a bundled seed's name or a file. The search starts at it."
    )
    reflector: ReflectorPlan = ReflectorPlan()
    objective: ObjectivePlan = ObjectivePlan()
    search: SearchPlan
    replicates: int = Field(1, ge=1, le=9, description="Held-out repetitions in both arms.")
    limits: LimitsPlan = LimitsPlan()
    gate: GatePlan = GatePlan()
    guardrails: GuardrailsPlan = GuardrailsPlan()

    @model_validator(mode="after")
    def _odd_replicates(self) -> Plan:
        if self.replicates % 2 == 0:
            raise ValueError(f"replicates must be odd, so that flags have a majority; got {self.replicates}")
        return self

    @property
    def simulated(self) -> bool:
        """Whether the student is a simulation."""
        return self.student.model.simulated is not None

    def row(self) -> dict[str, Any]:
        """The JSON form, defaults included."""
        return self.model_dump(mode="json")

    @property
    def hash(self) -> str:
        """SHA-256 of the JSON form."""
        return digest(self.row())


def parse_plan(data: Any, *, where: str) -> Plan:
    """Check a plan read from a file.

    Raises:
        PlanError: naming the place, the rule, and the near name of a misspelt key.
    """
    if not isinstance(data, Mapping):
        raise PlanError(f"{where}: a plan is one mapping; see holdgate plan --schema")
    for path, key, near in _unknown_keys(data, Plan):
        place = ".".join((*path, key))
        hint = f"did you mean {near!r}?" if near else "see holdgate plan --schema"
        raise PlanError(f"{where}: unknown key {place!r}; {hint}")
    try:
        return Plan.model_validate(dict(data))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in issue['loc']) or 'plan'}: "
            f"{issue['msg'].removeprefix('Value error, ')}" + _got(issue.get("input"))
            for issue in error.errors()
        )
        raise PlanError(f"{where}: {problems}") from error


def _got(value: object) -> str:
    return f" (got {value!r})" if isinstance(value, str | int | float | bool) or value is None else ""


def _unknown_keys(
    data: Mapping[str, Any], model: type[BaseModel], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, str | None]]:
    for key, value in data.items():
        if key not in model.model_fields:
            yield path, str(key), next(iter(get_close_matches(str(key), model.model_fields, n=1, cutoff=0.5)), None)
            continue
        inner = _section(model.model_fields[key].annotation)
        if inner is not None and isinstance(value, Mapping):
            yield from _unknown_keys(value, inner, (*path, key))


def _section(annotation: Any) -> type[BaseModel] | None:
    """The plan section that an annotation stands for, if it is one or an optional one."""
    options = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return next((option for option in options if isinstance(option, type) and issubclass(option, BaseModel)), None)
