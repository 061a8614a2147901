"""Reasoning budgets: what is sent for them, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from lineage.errors import PlanError
from students import ReasoningBudget


def test_a_plain_budget_sends_its_cap_and_no_reasoning_parameter() -> None:
    assert ReasoningBudget(answer_tokens=7).parameters() == {"max_tokens": 7}


def test_an_effort_is_sent_as_reasoning_effort() -> None:
    assert ReasoningBudget(effort="high", answer_tokens=9).parameters() == {"max_tokens": 9, "reasoning_effort": "high"}


def test_thinking_tokens_do_not_eat_the_answer_tokens() -> None:
    sent = ReasoningBudget(thinking_tokens=1000, answer_tokens=50).parameters()
    assert sent == {"max_tokens": 1050, "thinking": {"type": "enabled", "budget_tokens": 1000}}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"effort": "extreme"}, "effort must be one of none, .*got 'extreme'"),
        ({"answer_tokens": 0}, "answer_tokens must be at least 1, got 0"),
        ({"thinking_tokens": 0}, "thinking_tokens must be at least 1"),
        ({"thinking_tokens": 10, "effort": "low"}, "goes with effort: none"),
    ],
)
def test_budgets_that_break_a_rule_are_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        ReasoningBudget(**arguments)


def test_the_row_holds_every_setting() -> None:
    assert ReasoningBudget(effort="low", answer_tokens=3).row() == {
        "effort": "low",
        "thinking_tokens": None,
        "answer_tokens": 3,
    }
