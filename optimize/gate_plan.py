"""The part of a plan that fixes the gate and its guardrails."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from optimize.model_plan import Section

RuleName = Literal["lower-bound", "permutation", "point", "beyond-noise"]
AcceptMeasure = Literal["paired", "detection"]


class ConfirmOnAcceptPlan(Section):
    """What the winner must gain on accept for held-out data to be opened at all; short of it nothing is spent."""

    points: float = Field(2.0, gt=0, le=100, description="Least gain on accept, in points (2.0 is 0.02).")
    measures: tuple[AcceptMeasure, ...] = Field(
        ("paired", "detection"), min_length=1, description="Paired discrimination, detection at FA <= 10%."
    )
    need: Literal["any", "all"] = Field("any", description="Whether any of the measures is enough, or all must gain.")

    @model_validator(mode="after")
    def _each_once(self) -> ConfirmOnAcceptPlan:
        if len(set(self.measures)) != len(self.measures):
            raise ValueError(f"name each measure once; got {', '.join(self.measures)}")
        return self


class GatePlan(Section):
    """The rule that reads the held-out comparison, fixed before the search. Its level is the lock's share of alpha."""

    rule: RuleName = "lower-bound"
    margin: float = Field(0.0, description="Difference in paired discrimination that must be exceeded.")
    coverage: float = Field(0.98, gt=0, le=1, description="Least share of pairs scored in both arms.")
    hoped_gain: float | None = Field(
        None, gt=0, le=0.5, description="The gain that the campaign hopes for; it decides nothing, power is told of it."
    )
    confirm_on_accept: ConfirmOnAcceptPlan | None = Field(
        None, description="Gain on accept without which the held-out comparison is not bought; null: always bought."
    )
    equal_budget: bool = Field(
        False, description="Also judge the baseline at the winner's completion tokens (whole-note: more samples)."
    )

    @model_validator(mode="after")
    def _no_idle_margin(self) -> GatePlan:
        if self.margin != 0 and self.rule in ("permutation", "beyond-noise"):
            raise ValueError(f"margin has no effect on rule {self.rule}; remove it")
        return self


class GuardrailsPlan(Section):
    """Conditions that must all hold beside the rule; null leaves one out."""

    false_alarm_margin: float | None = Field(0.10, ge=0, description="Most rise of the false-alarm rate (upper bound).")
    commission_margin: float | None = Field(0.10, ge=0, description="Most fall on commissions (lower bound).")
    prompt_words: int | None = Field(400, ge=1, description="Most words of an emitted instruction.")
    false_alarm_cap: float | None = Field(
        0.10, ge=0, le=1, description="Share of clean documents flagged; blocks if its Wilson interval lies above."
    )
    cost_ratio: float | None = Field(
        2.0, gt=0, description="Most times the baseline's cost a document (tokens, where no price applies)."
    )
