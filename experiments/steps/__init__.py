"""Steps on the command line: what is loaded, how an evaluation runs, and its tables."""

from experiments.steps.evaluating import Evaluated, evaluate_plan
from experiments.steps.loading import find_steps_plan, verifiers_of
from experiments.steps.sheets import report_sheets
from experiments.steps.writing import write_report

__all__ = ["Evaluated", "evaluate_plan", "find_steps_plan", "report_sheets", "verifiers_of", "write_report"]
