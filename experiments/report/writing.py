"""Writing the two files of a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from experiments.judging.writing import read_table
from experiments.report.blocks import Document
from experiments.report.content import document
from experiments.report.data import collect, verified_events
from experiments.report.imported import published_document
from experiments.report.judges import collect_judging, judging_document
from experiments.report.markdown import markdown
from experiments.report.page import page
from experiments.report.published import collect_published
from experiments.report.unfinished import collect_unfinished, unfinished_document
from lineage.canonical import write_atomic
from lineage.errors import InputError
from lineage.imported import is_imported
from optimize.judging.recorded import is_judging, load_judging


@dataclass(frozen=True, slots=True)
class ReportPaths:
    """Where a report was written."""

    html: Path
    markdown: Path


def write_report(directory: Path) -> ReportPaths:
    """Write ``report.html`` and ``report.md`` into a run directory.

    Both derive from the directory alone, and equal ledgers give equal bytes. The report repeats what the ledger says;
    it recomputes no decision. It is of a campaign, finished or not, of a judging run, or of an imported lineage.

    Args:
        directory: the run directory.

    Raises:
        InputError: the directory holds no run that there is a report of.
        LedgerError: something in the directory is not what the ledger recorded.
    """
    report = _document(directory)
    paths = ReportPaths(directory / "report.html", directory / "report.md")
    write_atomic(paths.html, page(report))
    write_atomic(paths.markdown, markdown(report))
    return paths


def _document(directory: Path) -> Document:
    """What the directory is a run of decides what its report says."""
    if is_judging(directory):
        return judging_document(collect_judging(load_judging(directory), read_table(directory)))
    events = verified_events(directory)
    if is_imported(events):
        return published_document(collect_published(directory, events))
    if not events or events[0].type != "plan":
        found = events[0].type if events else "no event"
        raise InputError(
            f"{directory}: its ledger begins with {found!r} and is not a campaign's; give a campaign's run"
        )
    if not any(event.type == "finished" for event in events):
        return unfinished_document(collect_unfinished(events))
    return document(collect(directory, events))
