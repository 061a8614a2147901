"""Reading PASS or FAIL: only what is unambiguous is a verdict."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from students.parsing import Abstained, Unread
from students.pass_fail import parse_pass_fail


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("PASS", True),
        ("FAIL", False),
        (" pass.\n", True),
        ("Verdict: FAIL", False),
        ("**Verdict:** PASS", True),
        ("VERDICT = FAIL", False),
        ("`FAIL`", False),
        ("PASS - all of it is there", True),
        ("FAIL (the dose differs)", False),
        ("FAIL: the dose differs", False),
        ("PASS\nAll of it is there.", True),
        ("The dose differs from the transcript.\nVerdict: FAIL", False),
        ('{"verdict": "PASS"}', True),
        ('```json\n{"verdict": "fail", "why": "x"}\n```', False),
    ],
)
def test_a_verdict_is_read(text: str, passed: bool) -> None:
    assert parse_pass_fail(text) is passed


@pytest.mark.parametrize(
    "text",
    [
        "PASS or FAIL",
        "PASS/FAIL",
        "Verdict: PASS\nVerdict: FAIL",
        "FAIL, though parts of it pass",
        "Yes",
        "No",
        "It passes.",
        "PASSED",
        "not PASS",
        "Verdict: not PASS",
        "PASS the note on",
        "PASS-through",
        "If the dose were right I would say PASS",
        "I would say the verdict is PASS",
        '{"verdict": true}',
        '{"verdict": "PASS", "verdict": "FAIL"}',
        '{"verdict": ["PASS"]}',
        '{"verdict": "PASS"',
        "{" * 100_000,
        "7/10",
        "Verdict:",
    ],
)
def test_what_is_not_one_clear_verdict_is_not_read(text: str) -> None:
    found = parse_pass_fail(text)
    assert isinstance(found, Unread)
    assert found.reason == "unparseable"
    assert len(found.seen) <= 200


@pytest.mark.parametrize("text", ["ABSTAIN", "Verdict: ABSTAIN", "**abstain**", '{"verdict": null}'])
def test_an_abstention_is_no_verdict(text: str) -> None:
    assert isinstance(parse_pass_fail(text), Abstained)


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_nothing_is_empty(text: str | None) -> None:
    assert parse_pass_fail(text) == Unread("empty", "")


@given(st.text(st.sampled_from(list('PASFILpasfil:*.- \n{}"/verdict')), max_size=40))
def test_a_verdict_needs_its_word_and_never_both(text: str) -> None:
    found = parse_pass_fail(text)
    if isinstance(found, bool):
        assert ("pass" if found else "fail") in text.lower()
