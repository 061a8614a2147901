"""The report's section on contamination: what was found, what was looked for, and where nothing was looked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.report import collect
from experiments.report.blocks import Paragraph, Table
from experiments.report.contamination import contamination_notices, contamination_section
from experiments.report.content import document
from experiments.report.data import ReportData
from experiments.report.markdown import markdown

OVERLAP = {"kind": "answer_key", "split": "heldout", "groups": ["uk-01"], "count": 1, "words": 7, "share": None}


@pytest.fixture(scope="module")
def data(finished_run: Path) -> ReportData:
    return collect(finished_run)


def with_findings(data: ReportData, of: str, *rows: Mapping[str, Any], **place: Any) -> ReportData:
    splits = data.contamination[0]
    if of == "splits":
        return replace(data, contamination=({**splits, "findings": list(rows)},))
    return replace(data, contamination=(splits, {"of": of, **place, "findings": list(rows)}))


def said(data: ReportData) -> str:
    parts = contamination_section(data).parts
    assert all(isinstance(part, Paragraph | Table) for part in parts)
    return markdown(document(data)).partition("## Contamination")[2].partition("\n## ")[0]


def test_a_clean_campaign_says_what_was_looked_for_and_that_nothing_was_found(data: ReportData) -> None:
    text = said(data)
    assert "runs of 8 words of accept or held-out text" in text
    assert "no near-duplicate groups lie in different splits" in text
    assert "no candidate and no request to the reflector holds accept or held-out text" in text
    assert contamination_notices(data) == []


def test_a_ledger_without_the_check_does_not_say_that_nothing_was_found(data: ReportData) -> None:
    text = said(replace(data, contamination=()))
    assert "Not looked for" in text
    assert "no near-duplicate" not in text


def test_separated_groups_are_listed_and_stand_before_the_numbers(data: ReportData) -> None:
    row = {"groups": ["a", "b"], "splits": ["reflect", "heldout"], "similarity": 0.7123}
    found = with_findings(data, "splits", row)
    assert "| a and b | reflect and held-out | 0.71 |" in said(found)
    (notice,) = contamination_notices(found)
    assert notice in markdown(document(found)).replace("\\", "").partition("## ")[0]


@pytest.mark.parametrize("role", ["winner", "baseline"])
def test_a_compared_prompt_with_closed_text_is_a_notice(data: ReportData, role: str) -> None:
    candidate = data.verdict[role]
    found = with_findings(data, "candidate", OVERLAP, candidate=candidate, iteration=0)
    (notice,) = contamination_notices(found)
    name = data.proposal(candidate).name
    assert notice.startswith(f"CONTAMINATION: the {role} ({name}) states 1 fact(s) or changed sentence(s) of held-out")
    assert f"| {name} | {data.proposal(candidate).outcome} |" in said(found)


def test_another_candidate_is_listed_without_a_notice(data: ReportData) -> None:
    other = next(p for p in data.proposals if p.candidate not in (data.verdict["winner"], data.verdict["baseline"]))
    found = with_findings(data, "candidate", OVERLAP, candidate=other.candidate, iteration=1)
    assert contamination_notices(found) == []
    assert f"| {other.name} | {other.outcome} |" in said(found)


def test_a_request_to_the_reflector_is_listed(data: ReportData) -> None:
    found = with_findings(data, "reflection", OVERLAP, iteration=3, call=1)
    assert "| request 3 | told to the reflector |" in said(found)
