"""The report of a run, from its directory alone: one HTML file that asks for nothing, and one Markdown file."""

from experiments.report.data import ReportData, collect
from experiments.report.writing import ReportPaths, write_report

__all__ = ["ReportData", "ReportPaths", "collect", "write_report"]
