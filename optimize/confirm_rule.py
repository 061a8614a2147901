"""The rule that may decide, on accept, whether the held-out comparison is bought at all."""

from __future__ import annotations

from typing import Final

from optimize.choice import Standing
from optimize.gate import Finding
from optimize.gate_plan import ConfirmOnAcceptPlan

NAME: Final = "confirm-on-accept"
_ROUNDING: Final = 1e-9
"""A gain of exactly two points, such as 0.52 less 0.5, may come out a last bit short."""


def read_accept(rule: ConfirmOnAcceptPlan, *, winner: Standing, baseline: Standing) -> Finding:
    """Whether the winner gains enough on accept.

    Passing it confirms nothing: the winner was chosen on accept, where some gain is found by searching alone. It
    saves the held-out split, and its share of alpha, for a winner that shows more than that. A measure that is
    undefined gains nothing.
    """
    gains = {
        "paired": 100 * (winner.paired.value - baseline.paired.value),
        "detection": 100 * (winner.detection.detection - baseline.detection.detection),
    }
    reached = [gains[measure] >= rule.points - _ROUNDING for measure in rule.measures]
    holds = all(reached) if rule.need == "all" else any(reached)
    seen = ", ".join(
        f"{measure} {gains[measure]:+z.1f}" if gains[measure] == gains[measure] else f"{measure} undefined"
        for measure in rule.measures
    )
    which = "" if len(rule.measures) == 1 else f" on {'each' if rule.need == 'all' else 'any'} of them"
    return Finding(NAME, holds, f"gain on accept in points: {seen}; it must reach {rule.points:+z.1f}{which}")
