"""The files of a steps evaluation: the report as JSON and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from experiments.judging.writing import _cell, _sheet
from experiments.steps.sheets import report_sheets
from lineage.canonical import pretty_json, write_atomic

REPORT: Final = "steps-report"


@dataclass(frozen=True, slots=True)
class ReportPaths:
    """Where the report lies."""

    json: Path
    markdown: Path


def write_report(report: Mapping[str, Any], directory: Path) -> ReportPaths:
    """Write ``steps-report.json`` and ``steps-report.md``; neither holds a word of a note.

    Args:
        report: as :func:`~optimize.steps.report.steps_report` makes it.
        directory: where.
    """
    paths = ReportPaths(directory / f"{REPORT}.json", directory / f"{REPORT}.md")
    write_atomic(paths.json, pretty_json(dict(report)))
    write_atomic(paths.markdown, markdown(report))
    return paths


def markdown(report: Mapping[str, Any]) -> str:
    """The report as Markdown, with what it cannot say first."""
    lines = [f"# Steps of {_cell(report['name'])}", "", *(f"- {_cell(words)}" for words in report["words"]), ""]
    for sheet in report_sheets(report):
        lines += _sheet(sheet)
    return "\n".join(lines).rstrip() + "\n"
