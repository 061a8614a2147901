"""Judging: many students on identical examples, their table, and the paired comparison of two of them."""

from optimize.judging.plan import JudgePlan, JudgingPlan, parse_judging_plan
from optimize.judging.run import JudgingFollower, JudgingResult, JudgingRun

__all__ = [
    "JudgePlan",
    "JudgingFollower",
    "JudgingPlan",
    "JudgingResult",
    "JudgingRun",
    "parse_judging_plan",
]
