"""The study plan: a campaign plan, a space over its settings, and how that is searched under one budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import pairwise
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from lineage.errors import PlanError
from optimize.model_plan import Section
from optimize.plan import _got, _unknown_keys

Measure = Literal["paired", "commissions", "detection", "cost", "tokens", "words"]
SamplerKind = Literal["tpe", "nsga2", "random", "grid"]

_OF_SAMPLERS: Final[Mapping[str, SamplerKind]] = {"startup": "tpe", "population": "nsga2"}
"""Settings that have an effect on one sampler only."""


class DimensionPlan(Section):
    """One setting that is varied: choices, or a range."""

    choices: list[Any] | dict[str, Any] | None = Field(
        None, description="Values, or values by a label of their own where they are mappings."
    )
    low: int | float | None = Field(None, description="Least value of a range.")
    high: int | float | None = Field(None, description="Greatest value of a range.")
    step: int | float | None = Field(None, gt=0, description="Distance of the values of a range.")
    log: bool = Field(False, description="Whether a range is searched by its logarithm.")
    when: dict[str, Any] = Field(
        default_factory=dict,
        description="Values of other dimensions, or labels, at which this one is varied; elsewhere the base plan's "
        "setting stays.",
    )

    @model_validator(mode="after")
    def _one_form(self) -> DimensionPlan:
        ends = (self.low, self.high)
        if (self.choices is None) == (ends == (None, None)):
            raise ValueError("give choices, or low and high")
        if self.choices is not None:
            if self.model_fields_set & {"step", "log"}:
                raise ValueError("step and log go with low and high, not with choices")
            if len(self.choices) < 2:
                raise ValueError("one choice varies nothing; put it into the base plan")
        elif self.low is None or self.high is None or not self.low < self.high:
            raise ValueError(f"low must be below high, got {self.low} and {self.high}")
        elif self.log and (self.step is not None or self.low <= 0):
            raise ValueError("log goes without step, and with low above 0")
        return self


class SamplerPlan(Section):
    """How points of the space are chosen. The same seed and one worker choose the same points."""

    kind: SamplerKind = Field("tpe", description="tpe, nsga2 (several objectives), random, or grid (every point once).")
    seed: int = Field(0, ge=0, description="Seed of the choices, and of the order of groups for pruning.")
    startup: int = Field(10, ge=1, description="Points that tpe draws at random before it has learnt anything.")
    population: int = Field(16, ge=2, description="Points a generation of nsga2.")

    @model_validator(mode="after")
    def _no_idle_setting(self) -> SamplerPlan:
        for name, kind in _OF_SAMPLERS.items():
            if name in self.model_fields_set and self.kind != kind:
                raise ValueError(f"{name} has no effect on kind {self.kind}; remove it")
        return self


class PruningPlan(Section):
    """Successive halving over accept groups: a judge that ranks low on few of them is judged on no more.

    The judge is a point's student with its baseline instruction; the sets of groups are nested.
    """

    groups: tuple[int, ...] = Field(min_length=1, description="Accept groups of each set, growing.")
    reduction: int = Field(2, ge=2, description="Of so many that were judged on a set, one goes on.")

    @field_validator("groups")
    @classmethod
    def _growing(cls, groups: tuple[int, ...]) -> tuple[int, ...]:
        if groups[0] < 1 or any(later <= earlier for earlier, later in pairwise(groups)):
            raise ValueError(f"groups must grow from at least 1, got {', '.join(map(str, groups))}")
        return groups


class StudyLimitsPlan(Section):
    """Hard limits of the whole study, all trials and all workers together; null sets none.

    They change no number, and may be raised to go on.
    """

    calls: int | None = Field(None, ge=0, description="Paid calls.")
    tokens: int | None = Field(None, ge=0, description="Tokens of prompts and answers, reasoning among them.")
    usd: float | None = Field(None, ge=0, description="US dollars.")


class StudyPlan(Section):
    """A study: searches on reflect and accept alone, at points of a space. Held-out groups stay sealed."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=200)]
    base: str | dict[str, Any] = Field(description="The campaign plan: a file, a bundled one's name, or the plan.")
    space: dict[str, DimensionPlan] = Field(
        min_length=1, description="What is varied, by its place in the campaign plan, such as student.budget.effort."
    )
    objectives: tuple[Measure, ...] = Field(
        ("paired", "cost"),
        min_length=1,
        description="Of a search's winner, on accept. Greatest: paired (omissions), commissions, detection. Least: "
        "cost (US dollars a document; tokens where no price applies), tokens, words. Pruning reads the first.",
    )
    sampler: SamplerPlan = SamplerPlan()
    trials: int | None = Field(None, ge=1, description="Searches; may be raised later. A grid has as many as points.")
    pruning: PruningPlan | None = None
    limits: StudyLimitsPlan = StudyLimitsPlan()
    attempts: int = Field(5, ge=1, description="Times that a trial is begun, where its worker dies, before it failed.")

    @field_validator("space", mode="before")
    @classmethod
    def _short_forms(cls, space: Any) -> Any:
        """A list of values stands for its choices."""
        if not isinstance(space, Mapping):
            return space
        return {path: {"choices": found} if isinstance(found, list) else found for path, found in space.items()}

    @model_validator(mode="after")
    def _fits_together(self) -> StudyPlan:
        if len(set(self.objectives)) != len(self.objectives):
            raise ValueError(f"name each objective once; got {', '.join(self.objectives)}")
        if self.trials is None and self.sampler.kind != "grid":
            raise ValueError("trials: say how many searches; only a grid has a number of its own")
        if self.sampler.kind == "nsga2" and len(self.objectives) == 1:
            raise ValueError("sampler.kind: nsga2 is for several objectives; take tpe for one")
        for path, dimension in self.space.items():
            for other in dimension.when:
                if other not in self.space or other == path:
                    raise ValueError(f"space.{path}.when: {other!r} is no other dimension of the space")
        return self

    def row(self) -> dict[str, Any]:
        """The JSON form of what makes two studies the same: not how long they go on, nor what they may spend."""
        return self.model_dump(mode="json", exclude={"limits", "trials", "attempts", "base"})


def parse_study(data: Any, *, where: str) -> StudyPlan:
    """Check a study plan read from a file.

    Raises:
        PlanError: naming the place, the rule, and the near name of a misspelt key.
    """
    if not isinstance(data, Mapping):
        raise PlanError(f"{where}: a study plan is one mapping; see holdgate sweep --schema")
    for path, key, near in (*_unknown_keys(data, StudyPlan), *_unknown_in_space(data.get("space"))):
        hint = f"did you mean {near!r}?" if near else "see holdgate sweep --schema"
        raise PlanError(f"{where}: unknown key {'.'.join((*path, key))!r}; {hint}")
    try:
        return StudyPlan.model_validate(dict(data))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in issue['loc']) or 'study'}: "
            f"{issue['msg'].removeprefix('Value error, ')}" + _got(issue.get("input"))
            for issue in error.errors()
        )
        raise PlanError(f"{where}: {problems}") from error


def _unknown_in_space(space: Any) -> Iterator[tuple[tuple[str, ...], str, str | None]]:
    for path, dimension in space.items() if isinstance(space, Mapping) else ():
        known = DimensionPlan.model_fields
        for key in dimension if isinstance(dimension, Mapping) else ():
            if key not in known:
                yield ("space", str(path)), str(key), next(iter(get_close_matches(str(key), known, 1, 0.5)), None)
