"""The gate that a plan fixes: its rule, its guardrails and its floor of coverage, at an error rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optimize.gate import Gate, Guardrails, LowerBound, Permutation, Point, Rule
from optimize.gate_plan import GatePlan


def gate_of(gate: GatePlan, guardrails: Mapping[str, Any], *, alpha: float) -> Gate:
    """The gate of a plan.

    Args:
        gate: the plan's rule, margin and coverage.
        guardrails: the plan's guardrails in their JSON form.
        alpha: two-sided error rate of the comparison, in (0, 1): the split lock's share.
    """
    rules: dict[str, Rule] = {
        "lower-bound": LowerBound(gate.margin),
        "permutation": Permutation(),
        "point": Point(gate.margin),
    }
    return Gate(rules[gate.rule], Guardrails(**guardrails), gate.coverage, alpha)
