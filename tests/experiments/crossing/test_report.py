from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from experiments.crossing import write_experiment_report
from lineage.errors import InputError, LedgerError


class _Checked(HTMLParser):
    """Fails on tags that do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "link", "line", "rect", "circle", "polygon", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("line", "rect", "circle", "polygon"):
            return
        assert self.open.pop() == tag


@pytest.fixture
def copied(crossed_run: Path, tmp_path: Path) -> Path:
    shutil.copytree(crossed_run, tmp_path / "run")
    return tmp_path / "run"


def test_the_report_has_the_comparisons_the_crossed_cells_and_their_costs(copied: Path) -> None:
    text = write_experiment_report(copied).markdown.read_text()
    assert "Holdgate report of experiment crossed." in text
    assert "SIMULATED: the judge is a formula" in text
    for heading in (
        "Registered comparisons",
        "Prompts crossed over settings",
        "Costs",
        "Prompts",
        "Searches",
        "Record",
    ):
        assert f"## {heading}" in text
    assert "| interaction none x low |" in text
    assert re.search(r"\| searched at low \| 0\.\d{3} \S.* \| [01]\.\d{3} .*n = 28 \|", text)
    assert "| searched at low, judged at low | 2.0 |" in text
    assert "Each setting was searched once." in text


def test_the_page_is_well_formed_and_draws_every_cell(copied: Path) -> None:
    html = write_experiment_report(copied).html.read_text()
    checked = _Checked()
    checked.feed(html)
    assert checked.open == []
    assert checked.seen.count("svg") == 1
    drawing = html[html.index("<svg") : html.index("</svg>")]
    assert drawing.count("<circle") == drawing.count('<rect class="held"') == drawing.count("<polygon") == 3
    assert "http://" not in html.replace("http://www.w3.org", "")


def test_equal_ledgers_give_equal_bytes(copied: Path) -> None:
    first = write_experiment_report(copied)
    before = first.html.read_bytes(), first.markdown.read_bytes()
    again = write_experiment_report(copied)
    assert (again.html.read_bytes(), again.markdown.read_bytes()) == before


def test_no_text_of_a_document_is_in_it(copied: Path, invented: object) -> None:
    from splits import Corpus

    assert isinstance(invented, Corpus)
    text = write_experiment_report(copied).html.read_text()
    lines = {line for example in invented.examples for line in example.document.split("\n")[1:]}
    assert not [line for line in lines if line in text]


def test_an_edited_result_or_another_directory_is_refused(copied: Path, finished_run: Path, tmp_path: Path) -> None:
    path = copied / "experiment.json"
    path.write_text(path.read_text().replace('"comparisons": 3', '"comparisons": 2'))
    with pytest.raises(LedgerError, match="is not the result that the ledger recorded"):
        write_experiment_report(copied)
    with pytest.raises(InputError, match="holds no experiment"):
        write_experiment_report(finished_run)
    with pytest.raises(InputError, match="holds no ledger"):
        write_experiment_report(tmp_path)
