"""Whether the report beside a run is the one that is written of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from experiments.report.markdown import markdown
from experiments.report.page import page
from experiments.report.writing import _document
from lineage.audit import Finding
from lineage.errors import HoldgateError

AGAIN: Final = "holdgate report RUN, which writes it again"


def check_report(directory: Path) -> Iterator[Finding]:
    """Every number of the two files: they are written anew from the directory alone, and compared as wholes.

    A report that another version wrote may read otherwise, and one of an unfinished run says less; so a difference is a
    warning.
    """
    written = [directory / name for name in ("report.html", "report.md") if (directory / name).is_file()]
    if not written:
        return
    try:
        report = _document(directory)
    except HoldgateError as error:
        yield Finding("warning", written[0].name, f"could not be compared: no report can be written ({error})", AGAIN)
        return
    for path in written:
        text = page(report) if path.suffix == ".html" else markdown(report)
        if path.read_bytes() == text.encode("utf-8"):
            yield Finding(
                "info", path.name, "is what this version writes of this run, number for number", "nothing to do"
            )
        else:
            words = "is not what this version writes of this run: edited, or written earlier or by another version"
            yield Finding("warning", path.name, words, AGAIN)
