"""The gate that a plan fixes: its rule, its guardrails and its floor of coverage, at an error rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lineage.errors import PlanError
from optimize.gate import BeyondNoise, Gate, Guardrails, LowerBound, Permutation, Point, Rule
from optimize.gate_plan import GatePlan
from optimize.noise import NoiseFloor


def gate_of(
    gate: GatePlan,
    guardrails: Mapping[str, Any],
    *,
    alpha: float,
    family_alpha: float | None = None,
    noise: NoiseFloor | None = None,
) -> Gate:
    """The gate of a plan.

    Args:
        gate: the plan's rule, margin and coverage.
        guardrails: the plan's guardrails in their JSON form.
        alpha: two-sided error rate of the comparison, in (0, 1): the split lock's share.
        family_alpha: two-sided error rate of all comparisons of the lock, at which guardrails are read; None where
            there is one comparison.
        noise: the baseline against itself on held-out data, for the rule that reads it.

    Raises:
        PlanError: the rule is ``beyond-noise`` and no noise floor is given.
    """
    return Gate(rule_of(gate, noise), Guardrails(**guardrails), gate.coverage, alpha, family_alpha)


def rule_of(gate: GatePlan, noise: NoiseFloor | None = None) -> Rule:
    """The rule of a plan.

    Raises:
        PlanError: the rule is ``beyond-noise`` and no noise floor is given.
    """
    if gate.rule == "lower-bound":
        return LowerBound(gate.margin)
    if gate.rule == "permutation":
        return Permutation()
    if gate.rule == "point":
        return Point(gate.margin)
    if noise is None:
        raise PlanError("gate.rule: beyond-noise reads a noise floor, and none is given; measure the baseline's")
    return BeyondNoise(noise)
