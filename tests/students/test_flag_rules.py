"""Flag rules: fixed in the designs, and printed as they are."""

from __future__ import annotations

from typing import Any

import pytest

from lineage.errors import PlanError
from students.answers import Reading
from students.flag_rules import EIGHT_SCORES, EIGHT_VERDICTS, SINGLE_SCORE, SINGLE_VERDICT, ScoreRule


@pytest.mark.parametrize(
    ("rule", "flagged", "passed"),
    [
        (SINGLE_SCORE, (0.0, 6.9, 7.0), (7.1, 10.0)),
        (EIGHT_SCORES, (0.0, 7.875), (8.0, 8.125)),
        (EIGHT_VERDICTS, (0.0, 5.0), (6.25, 10.0)),
        (SINGLE_VERDICT, (0.0,), (10.0,)),
    ],
    ids=str,
)
def test_a_rule_flags_on_its_side_of_the_limit(rule: Any, flagged: Any, passed: Any) -> None:
    assert [rule.flags(Reading("scored", score)) for score in flagged] == [(str(rule),)] * len(flagged)
    assert [rule.flags(Reading("scored", score)) for score in passed] == [()] * len(passed)


@pytest.mark.parametrize("rule", [SINGLE_SCORE, EIGHT_SCORES, EIGHT_VERDICTS, SINGLE_VERDICT], ids=str)
def test_what_is_not_scored_is_not_flagged(rule: Any) -> None:
    assert rule.flags(Reading("failed", None, "empty: no text")) == ()
    assert rule.flags(Reading("abstained", None, "abstained: x")) == ()


def test_rules_print_themselves_and_verdicts_are_not_swept() -> None:
    rules = (SINGLE_VERDICT, EIGHT_VERDICTS, SINGLE_SCORE, EIGHT_SCORES)
    assert [str(rule) for rule in rules] == ["FAIL", "winsorised mean <= 5", "score <= 7", "winsorised mean < 8"]
    assert [rule.swept for rule in rules] == [False, False, True, True]
    assert SINGLE_SCORE.row() == {"rule": "score <= 7", "swept": True}


def test_another_comparison_is_refused() -> None:
    with pytest.raises(PlanError, match="comparison must be < or <=, got '>'"):
        ScoreRule("score", ">", 1.0)  # type: ignore[arg-type]  # the point of the test
