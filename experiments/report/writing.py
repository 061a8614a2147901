"""Writing the two files of a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from experiments.report.content import document
from experiments.report.data import collect
from experiments.report.markdown import markdown
from experiments.report.page import page
from lineage.canonical import write_atomic


@dataclass(frozen=True, slots=True)
class ReportPaths:
    """Where a report was written."""

    html: Path
    markdown: Path


def write_report(directory: Path) -> ReportPaths:
    """Write ``report.html`` and ``report.md`` into the run directory of a finished campaign.

    Both derive from the directory alone, and equal ledgers give equal bytes. The report repeats what the ledger says;
    it recomputes no decision.

    Args:
        directory: the run directory.

    Raises:
        InputError: the directory holds no finished campaign.
        LedgerError: something in the directory is not what the ledger recorded.
    """
    report = document(collect(directory))
    paths = ReportPaths(directory / "report.html", directory / "report.md")
    write_atomic(paths.html, page(report))
    write_atomic(paths.markdown, markdown(report))
    return paths
