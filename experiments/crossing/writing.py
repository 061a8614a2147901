"""Writing the two files of an experiment's report."""

from __future__ import annotations

import json
from pathlib import Path

from experiments.crossing.data import collect_experiment
from experiments.crossing.report import experiment_document
from experiments.report.blocks import Document
from experiments.report.markdown import markdown
from experiments.report.page import page
from experiments.report.writing import ReportPaths
from lineage.canonical import write_atomic


def write_experiment_report(directory: Path) -> ReportPaths:
    """Write ``report.html`` and ``report.md`` into the directory of a finished experiment.

    Both derive from the directory alone, and equal ledgers give equal bytes.

    Raises:
        InputError: the directory holds no finished experiment.
        LedgerError: something in it is not what the ledger recorded.
    """
    return write_document(experiment_document(collect_experiment(directory)), directory)


def is_experiment(directory: Path) -> bool:
    """Whether a directory holds an experiment, finished or not."""
    try:
        with (directory / "ledger.jsonl").open(encoding="utf-8") as ledger:
            return bool(json.loads(ledger.readline())["type"] == "experiment")
    except (OSError, ValueError, LookupError, TypeError):
        return False  # what it holds instead is another reader's to say


def write_document(document: Document, directory: Path, *, name: str = "report") -> ReportPaths:
    """Write a document as HTML and as Markdown."""
    paths = ReportPaths(directory / f"{name}.html", directory / f"{name}.md")
    write_atomic(paths.html, page(document))
    write_atomic(paths.markdown, markdown(document))
    return paths
