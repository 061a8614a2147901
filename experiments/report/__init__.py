"""The report of a finished campaign, from its run directory alone: one HTML file and one Markdown file."""

from experiments.report.data import ReportData, collect
from experiments.report.writing import ReportPaths, write_report

__all__ = ["ReportData", "ReportPaths", "collect", "write_report"]
