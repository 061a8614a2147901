"""The report beside a run is compared with the one that is written of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from experiments.report import write_report
from experiments.report.checking import check_report


@pytest.fixture
def run(finished_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished_run, tmp_path / "run"))


def test_a_run_without_a_report_is_no_finding(run: Path) -> None:
    assert list(check_report(run)) == []


def test_an_untouched_report_is_a_remark_and_an_edited_one_a_warning(run: Path) -> None:
    paths = write_report(run)
    assert [found.severity for found in check_report(run)] == ["info", "info"]
    paths.markdown.write_text(paths.markdown.read_text().replace("0", "1", 1))
    found = {one.place: one.severity for one in check_report(run)}
    assert found == {"report.html": "info", "report.md": "warning"}


def test_a_report_of_a_run_that_cannot_be_read_is_a_warning(run: Path) -> None:
    write_report(run)
    (run / "ledger.jsonl").write_text((run / "ledger.jsonl").read_text().replace("seed", "sead"))
    (found,) = check_report(run)
    assert (found.severity, found.place) == ("warning", "report.html")
