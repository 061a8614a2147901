"""Crossed experiments: one campaign searched under several reasoning budgets, its winners judged under all of them."""

from optimize.crossing.audit import audit_experiment
from optimize.crossing.experiment import RESULT, SEARCHES, CrossedExperiment, CrossedResult
from optimize.crossing.plan import CrossedPlan, parse_crossed_plan
from optimize.crossing.targets import SEED, Cell, Target, targets

__all__ = [
    "RESULT",
    "SEARCHES",
    "SEED",
    "Cell",
    "CrossedExperiment",
    "CrossedPlan",
    "CrossedResult",
    "Target",
    "audit_experiment",
    "parse_crossed_plan",
    "targets",
]
