"""Judging runs on the command line: plans, sizes, the table on screen and in files, comparisons."""

from experiments.judging.loading import LoadedJudging, find_judging_plan, load_judging_plan
from experiments.judging.writing import TablePaths, write_table

__all__ = ["LoadedJudging", "TablePaths", "find_judging_plan", "load_judging_plan", "write_table"]
