"""What the report of a finished campaign says besides its comparison and its gate."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.report import collect, write_report
from experiments.report.blocks import Folded, Paragraph, Table
from experiments.report.data import ReportData
from experiments.report.denominators import denominators_section
from experiments.report.deviations import deviations
from experiments.report.ladders import ladders_section
from experiments.report.operating import operating_section
from experiments.report.parts import parts_section
from experiments.report.pictures import optimism_picture
from experiments.report.rejected import rejected_section
from lineage.errors import LedgerError


@pytest.fixture(scope="module")
def data(finished_run: Path) -> ReportData:
    return collect(finished_run)


def test_only_the_candidates_opened_on_heldout_have_numbers_there(data: ReportData) -> None:
    table = optimism_picture(data).table
    opened = [row[0] for row in table.rows if row[2] != "not opened there"]
    names = {data.proposal(data.verdict["winner"]).name + " (winner)", "seed"}
    assert set(opened) == names
    assert len(table.rows) == len(data.choice["ranking"])
    assert "Only the baseline and the winner were opened on held-out data" in table.caption


def test_operating_points_are_the_flags_that_the_gate_counted(data: ReportData) -> None:
    pictures = operating_section(data).parts[1].items  # type: ignore[union-attr]
    assert [picture.title for picture in pictures] == [
        "Detection against false alarms, accept",
        "Detection against false alarms, held-out",
    ]
    flags = data.verdict["flags"]
    for row, arm in zip(pictures[1].table.rows, ("baseline", "candidate"), strict=True):
        assert row[3].startswith(f"{flags[arm]['flagged']} of {flags[arm]['of']} ")


def test_parts_by_trace_are_those_that_the_ledger_measured(data: ReportData) -> None:
    by_trace = next(part for part in parts_section(data).parts if hasattr(part, "items")).items[0].table
    for row in by_trace.rows:
        measured = data.winner.measures["by_trace"][row[0]]
        assert row[2].startswith(f"{measured['value']:.3f}")
        assert row[2].endswith(f"n = {measured['pairs']}")


def test_parts_of_a_trace_by_severity_count_all_its_pairs(data: ReportData) -> None:
    crossed = [part for part in parts_section(data).parts if isinstance(part, Table)]
    assert len(crossed) == 2
    for row in crossed[0].rows:
        counts = [int(found) for found in re.findall(r"n = (\d+)", " ".join(row[1:]))]
        assert sum(counts) == data.baseline.measures["by_trace"][row[0]]["pairs"]


def test_examples_are_named_and_no_document_is_quoted(data: ReportData, finished_run: Path) -> None:
    folded = [part for part in rejected_section(data).parts if isinstance(part, Folded)]
    assert len(folded) >= 2
    ids = {example.id for example in data.winner.evaluation.examples}
    tables = [table for part in folded for table in part.parts if isinstance(table, Table)]
    for table in tables:
        place = table.head.index("Document") if "Document" in table.head else table.head.index("Flawed document")
        assert {row[place] for row in table.rows} <= ids


def test_pairs_lost_to_the_baseline_are_all_those_that_lost_credit(data: ReportData) -> None:
    before = {pair.example: pair.credit for pair in data.baseline.evaluation.pairs()}
    lost = sum(pair.credit < before[pair.example] for pair in data.winner.evaluation.pairs())
    said = [part.summary for part in rejected_section(data).parts if isinstance(part, Folded)]
    plain = [part.text for part in rejected_section(data).parts if isinstance(part, Paragraph)]
    if lost:
        assert f"Pairs: worse than the baseline on {lost} of {len(before)} held-out pairs" in said
    else:
        assert any(words.startswith("Pairs: on none of") for words in plain)


def test_a_campaign_at_one_budget_says_so_in_one_line(data: ReportData) -> None:
    first = ladders_section(data).parts[0]
    assert isinstance(first, Paragraph)
    assert first.text.startswith("Budget ladder: none. A campaign judges at one reasoning budget")


def test_the_baseline_at_equal_budget_is_a_rung(data: ReportData) -> None:
    parts = ladders_section(replace(data, equal=data.baseline)).parts
    assert parts[0].items[0].title == "Budget ladder, held-out"  # type: ignore[union-attr]
    assert len(parts[0].items[0].table.rows) == 3  # type: ignore[union-attr]


def test_a_campaign_that_went_as_planned_has_no_deviation(data: ReportData) -> None:
    assert list(deviations(data)) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"resumptions": 2}, "Resumed 2 times"),
        ({"stops": ("limit of 9 calls",)}, "Stopped on its way: limit of 9 calls"),
        ({"contamination": ({"findings": [{}, {}]},)}, "Contamination: 2 findings"),
    ],
)
def test_every_deviation_is_said(data: ReportData, change: dict[str, object], said: str) -> None:
    assert any(words.startswith(said) for words in deviations(replace(data, **change)))  # type: ignore[arg-type]


def test_a_search_that_ended_early_is_a_deviation(data: ReportData) -> None:
    (words,) = deviations(replace(data, proposals=data.proposals[:3]))
    assert words == "Search: 2 of at most 6 planned proposals were made."


def test_denominators_add_up(data: ReportData) -> None:
    splits = denominators_section(data).parts[0]
    assert isinstance(splits, Table)
    rows = {row[:2]: row[2:] for row in splits.rows}
    for place in range(3):
        kinds = sum(int(cells[place]) for (what, _), cells in rows.items() if what == "documents by kind")
        assert kinds == int(rows["documents", "all"][place])


def test_a_segment_that_the_report_does_not_read_is_checked_all_the_same(finished: Path) -> None:
    path = next((finished / "judgements").glob("*-minibatch.jsonl"))
    path.write_text(path.read_text(encoding="utf-8").replace('"replicate":0', '"replicate":1', 1), encoding="utf-8")
    with pytest.raises(LedgerError, match="were edited after they were recorded"):
        write_report(finished)


@pytest.mark.parametrize(("shape", "scale"), [("engineered", 10.0), ("checklist", 1.0), ("a shape of one's own", 1.0)])
def test_scores_are_drawn_on_the_scale_of_the_design(data: ReportData, shape: str, scale: float) -> None:
    plan = data.plan["plan"]
    body = {**data.plan, "plan": {**plan, "student": {**plan["student"], "shape": shape}}}
    assert replace(data, plan=body).scale == scale
