"""Reading scores that come with reasons, and listed omissions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from students.parsing import Abstained, Unread
from students.reports import ListedOmission, listed_omissions, parse_report

ANSWER = """OMISSIONS:
- [critical] allergy to penicillin, 8/10 sure
- (supporting) BP 140/90
3. **Peripheral**: the dog
- [severe] no such severity
- none
Score: 6"""


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (ANSWER, 6),
        ("Score: 8/10", 8),
        ("Score: 3 - good", 3),
        ("**Score:** 4/5", 8),
        ("Much of it is there, 9 of 12 facts.\n\nFinal score: 7.5", Fraction(15, 2)),
        ("Score: 7\nThe duration is lost, and 2 doses differ.", 7),
        ("Score: 7\nIt lacks a dose.\nOverall score: 7", 7),
        ('{"reason": "3 things", "score": 4}', 4),
        ("> Rating = 2", 2),
    ],
)
def test_the_line_with_the_score_is_read_and_no_other_number(text: str, score: int | Fraction) -> None:
    assert parse_report(text) == score


@pytest.mark.parametrize(
    "text",
    [
        "It has 8 of 10 facts.",
        "Score: 7\nScore: 6",
        "Score: 6 or 7",
        "Score: 11",
        "Score: N",
        "Score:",
        "The score should be 7.",
        '{"reason": "x"}',
    ],
)
def test_without_one_score_on_its_scale_nothing_is_read(text: str) -> None:
    found = parse_report(text)
    assert isinstance(found, Unread)
    assert found.reason == "unparseable"


@pytest.mark.parametrize("text", ["ABSTAIN", "It is in another language.\nABSTAIN", "Score: ABSTAIN"])
def test_an_abstention_is_no_score(text: str) -> None:
    assert isinstance(parse_report(text), Abstained)


def test_nothing_is_empty() -> None:
    assert parse_report(None) == parse_report("\n") == Unread("empty", "")


def test_omissions_are_those_listed_with_a_severity() -> None:
    assert listed_omissions(ANSWER) == (
        ListedOmission("critical", "allergy to penicillin, 8/10 sure"),
        ListedOmission("supporting", "BP 140/90"),
        ListedOmission("peripheral", "the dog"),
    )


@given(st.text(max_size=200))
def test_any_text_gives_a_score_on_the_scale_or_none(text: str) -> None:
    found = parse_report(text)
    if isinstance(found, Fraction):
        assert 0 <= found <= 10
    listed_omissions(text)
