"""The table as sheets of text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.judging.sheets import NOTHING, further_sheets, interval, sheets
from experiments.judging.stopping import StoppedJudging
from experiments.judging.writing import markdown, write_table
from lineage.errors import InputError
from lineage.records import Usage


@pytest.fixture
def table(finished_judging: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((finished_judging / "table.json").read_text())
    return found


def test_every_judge_has_a_row_in_every_sheet(table: dict[str, Any]) -> None:
    names = [judge["name"] for judge in table["judges"]]
    assert len(sheets(table)) == 5
    for sheet in sheets(table):
        assert [row[0] for row in sheet.rows] == names
        assert {len(row) for row in sheet.rows} == {len(sheet.columns)}
    (detection,) = further_sheets(table)
    assert detection.title.startswith("detection at the swept threshold")


def test_an_undefined_number_is_shown_as_nothing_and_never_as_zero(table: dict[str, Any]) -> None:
    undefined = {"value": None, "low": None, "high": None, "n": 0, "failed": 9, "reason": "no pair"}
    table["judges"][0]["paired"]["omission"] = undefined
    table["judges"][0]["paired_in_common"]["omission"] = undefined
    table["judges"][0]["auc"]["all"] = undefined
    table["judges"][0]["unscored"] = {"truncated": 5, "unparseable": 67}
    table["judges"][0]["swept"] = {"rule": "", "reason": "nothing has a score"}
    first, own, flags, _, costs = sheets(table)
    assert first.rows[0][1] == first.rows[0][3] == first.rows[0][4] == NOTHING
    assert own.rows[0][1:] == ("no rule", *[NOTHING] * 4)
    assert flags.rows[0][1:] == ("nothing has a score", *[NOTHING] * 4)
    assert costs.rows[0][1] == "5 truncated, 67 unparseable"


def test_an_interval_is_shown_where_there_is_one() -> None:
    assert interval({"value": 0.5, "low": 0.25, "high": 0.75}) == "0.500 [0.25, 0.75]"
    assert interval({"value": 0.5, "low": None, "high": None}) == "0.500"
    assert interval({"value": 0.5, "low": 0.1, "high": 0.9}, signed=True) == "+0.500 [+0.10, +0.90]"
    assert interval(None) == interval({"value": None}) == NOTHING


def test_clean_candidates_are_no_false_alarms(table: dict[str, Any]) -> None:
    table["examples"]["clean"]["candidates"] = 1
    assert "flags on clean documents" in sheets(table)[1].columns


def test_markdown_keeps_its_cells(table: dict[str, Any]) -> None:
    table["words"] = ["a | b *c* <d>"]
    text = markdown(table)
    assert "- a \\| b \\*c\\* \\<d>" in text
    lines = [line for line in text.splitlines() if line.startswith("| judge")]
    assert len(lines) == 6


def test_a_run_without_a_table_has_no_files_of_one(finished_judging: Path, tmp_path: Path) -> None:
    for name in ("ledger.jsonl", "ledger.head.json", "examples.jsonl"):
        (tmp_path / name).write_bytes((finished_judging / name).read_bytes())
    with pytest.raises(InputError, match="the run has no table yet; give the same command to go on"):
        write_table(tmp_path)


def test_what_would_be_enough_is_taken_from_the_mean_so_far() -> None:
    paid = Usage(calls=10, prompt_tokens=900, completion_tokens=100, cost_usd=0.5)
    limits = {"calls": 10, "tokens": 1000, "usd": 0.5, "wall_s": None}
    stop = StoppedJudging("x", "limits.calls", {"a": paid}, Usage(), {"a": 5, "b": 5}, limits)
    assert stop.enough() == (
        ("limits.calls", "10", "20"),
        ("limits.tokens", "1000", "about 2000"),
        ("limits.usd", "0.5", "about 1.0000"),
    )
    nothing = StoppedJudging("x", None, {}, Usage(), {"a": 5}, {**limits, "calls": None})
    assert nothing.enough()[0] == ("limits.tokens", "1000", "not known: no call is paid yet")
