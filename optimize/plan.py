"""The campaign plan: a frozen, typed model whose hash is in the ledger before the first call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError, model_validator

from lineage.canonical import digest
from lineage.errors import PlanError
from optimize.controls_plan import ControlsPlan
from optimize.corpus_plan import CorpusPlan
from optimize.equal_budget import no_equal_budget
from optimize.gate_plan import GatePlan, GuardrailsPlan
from optimize.model_plan import OPERATIONAL, ModelPlan, Section
from optimize.reflector_plan import ReflectorPlan
from optimize.search_plan import SearchPlan
from optimize.student_plan import StudentPlan
from optimize.studied_plan import StudiedPlan

RIVAL_SETTINGS: Final = frozenset({"engine", "iterations", "seed", "budget"})
"""Settings of a search that engines other than our own have; the others are theirs."""

Parsed = TypeVar("Parsed", bound=Section)


class SplitsPlan(Section):
    """Which split lock."""

    lock: str = Field(description="Path of a committed split lock, from the plan's directory.")


class ObjectivePlan(Section):
    """The reward that minibatch and frontier see (DESIGN: reward)."""

    margin: float = Field(0.1, gt=0, description="m of the margin term, in units of the student's score.")
    clean_weight: float = Field(0.25, ge=0, le=1, description="Weight of a clean example's reward.")


class RoleLimitsPlan(Section):
    """Hard limits of one role; null sets none."""

    calls: int | None = Field(None, ge=0, description="Paid calls.")
    tokens: int | None = Field(None, ge=0, description="Tokens of prompts and answers, reasoning among them.")
    usd: float | None = Field(None, ge=0, description="US dollars.")
    wall_s: float | None = Field(None, gt=0, description="Seconds of one process; of a role, while it is called.")


class LimitsPlan(RoleLimitsPlan):
    """Hard limits of the campaign, and further ones of its roles; null sets none.

    They stop a campaign and change no number of it: with other limits it is the same campaign, and goes on.
    """

    student: RoleLimitsPlan = RoleLimitsPlan()
    reflector: RoleLimitsPlan = RoleLimitsPlan()


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
    models: str | None = Field(None, description="Path of a model lock, from the plan's directory, for models by role.")
    replicates: int = Field(1, ge=1, le=9, description="Held-out repetitions in both arms.")
    limits: LimitsPlan = LimitsPlan()
    gate: GatePlan = GatePlan()
    guardrails: GuardrailsPlan = GuardrailsPlan()
    controls: ControlsPlan = ControlsPlan()
    studied: StudiedPlan | None = Field(None, description="The study that chose these settings, if one did.")

    @model_validator(mode="after")
    def _odd_replicates(self) -> Plan:
        if self.replicates % 2 == 0:
            raise ValueError(f"replicates must be odd, so that flags have a majority; got {self.replicates}")
        return self

    @model_validator(mode="after")
    def _gate_can_be_read(self) -> Plan:
        if self.gate.rule == "beyond-noise" and self.replicates < 3:
            raise ValueError(
                f"gate.rule: beyond-noise reads the noise between replicates, and there is {self.replicates}; give "
                "replicates: 3 or more, or another rule"
            )
        if self.gate.equal_budget and (why := no_equal_budget(self.student)):
            raise ValueError(f"gate.equal_budget: {why}; remove it")
        return self

    @model_validator(mode="after")
    def _rival_asks_a_model(self) -> Plan:
        engine = self.search.engine
        if engine == "gepa":
            return self
        if self.reflector.kind != "llm":
            raise ValueError(f"search.engine: {engine} asks a model for its prompts; give reflector: kind: llm")
        if idle := self.search.model_fields_set - RIVAL_SETTINGS:
            raise ValueError(f"search.{', search.'.join(sorted(idle))} has no effect on engine {engine}; remove it")
        if "memory" in self.reflector.model_fields_set:
            raise ValueError(f"reflector.memory has no effect on engine {engine}; remove it")
        return self

    @model_validator(mode="after")
    def _no_idle_limit(self) -> Plan:
        if self.reflector.model is None and self.limits.reflector != RoleLimitsPlan():
            raise ValueError(f"limits.reflector has no effect: kind {self.reflector.kind} makes no calls; remove it")
        return self

    @property
    def simulated(self) -> bool:
        """Whether the student is a simulation."""
        return self.student.model.original.simulated is not None

    @property
    def roles(self) -> dict[str, ModelPlan]:
        """The models that the campaign calls, by the role they have in it."""
        found = {"student": self.student.model, "reflector": self.reflector.model}
        return {role: model for role, model in found.items() if model is not None}

    @property
    def replayed(self) -> tuple[str, ...]:
        """Roles whose answers come from a recorded campaign."""
        return tuple(role for role, model in self.roles.items() if model.replay is not None)

    def with_models(self, models: Mapping[str, ModelPlan]) -> Plan:
        """The plan with other models in some roles, checked again.

        Raises:
            PlanError: a setting of the plan does not go with a model.
        """
        data = self.model_dump(mode="json", exclude_unset=True)
        for role, model in models.items():
            data[role]["model"] = model.model_dump(mode="json", exclude_unset=True)
        return parse_plan(data, where=self.name)

    def with_ledger(self, path: Path) -> Plan:
        """The plan with the place of the recording whose reflections it replays."""
        return self.model_copy(update={"reflector": self.reflector.model_copy(update={"ledger": str(path)})})

    def row(self) -> dict[str, Any]:
        """The JSON form, defaults included; a replay has that of the campaign it replays.

        Limits and speed are no part of it, nor of the hash: they change no answer, and may change on resumption.
        """
        row = self.model_dump(mode="json", exclude={"limits"}) | {"reflector": self.reflector.row()}
        for section in self.roles:
            model = row[section]["model"]
            model = model if model["of"] is None else model["of"]
            row[section]["model"] = {
                key: value for key, value in model.items() if key not in ("replay", "of", *OPERATIONAL)
            }
        return row

    @property
    def hash(self) -> str:
        """SHA-256 of the JSON form."""
        return digest(self.row())


def parse_plan(data: Any, *, where: str) -> Plan:
    """Check a plan read from a file.

    Raises:
        PlanError: naming the place, the rule, and the near name of a misspelt key.
    """
    return parse_section(data, Plan, where=where, schema="holdgate plan --schema")


def parse_section(data: Any, model: type[Parsed], *, where: str, schema: str) -> Parsed:
    """Check a plan of some kind.

    Args:
        data: what was read.
        model: what it is to be.
        where: its place, for messages.
        schema: the command that prints its schema.

    Raises:
        PlanError: naming the place, the rule, and the near name of a misspelt key.
    """
    if not isinstance(data, Mapping):
        raise PlanError(f"{where}: a plan is one mapping; see {schema}")
    for path, key, near in _unknown_keys(data, model):
        place = ".".join((*path, key))
        hint = f"did you mean {near!r}?" if near else f"see {schema}"
        raise PlanError(f"{where}: unknown key {place!r}; {hint}")
    try:
        return model.model_validate(dict(data))
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
        elif inner is not None and isinstance(value, list):
            for place, item in enumerate(value):
                if isinstance(item, Mapping):
                    yield from _unknown_keys(item, inner, (*path, key, str(place)))


def _section(annotation: Any) -> type[BaseModel] | None:
    """The plan section that an annotation stands for, if it is one, an optional one or a list of them."""
    options = get_args(annotation) if get_origin(annotation) in (Union, UnionType, list) else (annotation,)
    return next((option for option in options if isinstance(option, type) and issubclass(option, BaseModel)), None)
