"""The part of a plan that fixes the gate and its guardrails."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from optimize.model_plan import Section


class GatePlan(Section):
    """The rule that reads the held-out comparison, fixed before the search. Its level is the lock's share of alpha."""

    rule: Literal["lower-bound", "permutation", "point"] = "lower-bound"
    margin: float = Field(0.0, description="Difference in paired discrimination that must be exceeded.")
    coverage: float = Field(0.98, gt=0, le=1, description="Least share of pairs scored in both arms.")
    hoped_gain: float | None = Field(
        None, gt=0, le=1, description="The gain that the campaign hopes for; it decides nothing, power is told of it."
    )


class GuardrailsPlan(Section):
    """Conditions that must all hold beside the rule; null leaves one out."""

    false_alarm_margin: float | None = Field(0.10, ge=0, description="Most rise of the false-alarm rate (upper bound).")
    commission_margin: float | None = Field(0.10, ge=0, description="Most fall on commissions (lower bound).")
    prompt_words: int | None = Field(400, ge=1, description="Most words of an emitted instruction.")
