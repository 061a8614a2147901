"""The gate: a rule fixed before the search reads the held-out comparison and decides whether a prompt is emitted."""

from optimize.gate.arms import Arm, CleanCounts, FlagCount, clean_counts, compare_flags, count_flags
from optimize.gate.cost import CostRatio, cost_ratio
from optimize.gate.guardrails import Guardrails
from optimize.gate.reading import Decision, Gate, GateReading
from optimize.gate.rules import SMALL, BeyondNoise, Finding, LowerBound, Permutation, Point, Rule
from optimize.gate.subgroups import Subgroup, Subgroups, compare_subgroups
from optimize.gate.unscored import WorstCase, lowest_end

__all__ = [
    "SMALL",
    "Arm",
    "BeyondNoise",
    "CleanCounts",
    "CostRatio",
    "Decision",
    "Finding",
    "FlagCount",
    "Gate",
    "GateReading",
    "Guardrails",
    "LowerBound",
    "Permutation",
    "Point",
    "Rule",
    "Subgroup",
    "Subgroups",
    "WorstCase",
    "clean_counts",
    "compare_flags",
    "compare_subgroups",
    "cost_ratio",
    "count_flags",
    "lowest_end",
]
