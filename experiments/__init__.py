"""Experiments: plans, the command line, the live view and the report."""

from experiments.loading import LoadedPlan, find_plan, load_plan, read_plan
from experiments.report import write_report
from experiments.sizing import PlanSize, plan_size

__all__ = ["LoadedPlan", "PlanSize", "find_plan", "load_plan", "plan_size", "read_plan", "write_report"]
