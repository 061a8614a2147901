"""Reasoning budgets: what is sent for them, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import PlanError
from students import Capabilities, ReasoningBudget
from students.budget import EFFORTS

OPEN = Capabilities(model="m")
EFFORTFUL = Capabilities(
    model="m", efforts=("low", "high"), reasons_unasked=True, cap="max_completion_tokens", scratchpad=False
)
OPTIONAL = Capabilities(model="m", efforts=("none", "low"), reasons_unasked=True, scratchpad=False)
THINKING = Capabilities(model="m", efforts=(), thinking=(1024, 8000), completion_tokens=9000, scratchpad=False)
PLAIN = Capabilities(model="m", efforts=(), completion_tokens=4000)
ABLE = (OPEN, EFFORTFUL, OPTIONAL, THINKING, PLAIN)


def test_a_plain_budget_sends_its_cap_and_no_reasoning_parameter() -> None:
    assert ReasoningBudget(answer_tokens=7).parameters(OPEN) == {"max_tokens": 7}


def test_an_effort_is_sent_as_reasoning_effort_with_the_cap_that_the_model_knows() -> None:
    sent = ReasoningBudget(effort="high", answer_tokens=900).parameters(EFFORTFUL)
    assert sent == {"max_completion_tokens": 900, "reasoning_effort": "high"}


def test_no_effort_is_said_to_a_model_that_would_reason_unasked() -> None:
    assert ReasoningBudget(answer_tokens=7).parameters(OPTIONAL) == {"max_tokens": 7, "reasoning_effort": "none"}


def test_thinking_tokens_do_not_eat_the_answer_tokens() -> None:
    budget = ReasoningBudget(thinking_tokens=2000, answer_tokens=50)
    assert budget.parameters(THINKING) == {
        "max_tokens": 2050,
        "thinking": {"type": "enabled", "budget_tokens": 2000},
    }
    assert budget.scratchpad(THINKING) is None
    assert budget.reasons(THINKING)


def test_thinking_tokens_are_a_scratchpad_where_a_model_does_not_think_by_itself() -> None:
    budget = ReasoningBudget(thinking_tokens=200, answer_tokens=50)
    for capabilities in (OPEN, PLAIN):
        assert budget.parameters(capabilities) == {"max_tokens": 50}
        assert budget.scratchpad(capabilities) == 200
        assert not budget.reasons(capabilities)


@pytest.mark.parametrize(
    ("arguments", "capabilities", "said"),
    [
        ({"effort": "medium"}, EFFORTFUL, r"m does not accept budget\.effort = medium, accepted: low, high; give one"),
        ({}, EFFORTFUL, r"budget\.effort = none \(it always reasons\), accepted: low, high"),
        ({"effort": "low"}, PLAIN, r"effort = low, accepted: none.*thinking_tokens with effort: none for a scratchpad"),
        ({"effort": "low"}, THINKING, r"effort = low, accepted: none.*thinking_tokens: 1024 to 8000 with effort: none"),
        ({"thinking_tokens": 9}, THINKING, r"budget\.thinking_tokens = 9, accepted: 1024 to 8000"),
        ({"thinking_tokens": 8001}, THINKING, r"budget\.thinking_tokens = 8001, accepted: 1024 to 8000"),
        ({"thinking_tokens": 9}, EFFORTFUL, r"thinking_tokens = 9, accepted: none; give one of budget.effort: low, hi"),
        ({"answer_tokens": 4001}, PLAIN, r"m does not accept max_tokens = 4001, accepted: at most 4000; lower"),
        ({"thinking_tokens": 4001}, PLAIN, r"max_tokens = 4001, accepted: at most 4000"),
        ({"thinking_tokens": 8000, "answer_tokens": 1001}, THINKING, r"max_tokens = 9001, accepted: at most 9000"),
    ],
)
def test_what_a_model_does_not_take_names_it_and_what_is_accepted(
    arguments: dict[str, Any], capabilities: Capabilities, said: str
) -> None:
    with pytest.raises(PlanError, match=said):
        ReasoningBudget(**arguments).parameters(capabilities)


@given(
    st.builds(ReasoningBudget, effort=st.sampled_from(EFFORTS), answer_tokens=st.integers(1, 5000))
    | st.builds(ReasoningBudget, thinking_tokens=st.integers(1, 9000), answer_tokens=st.integers(1, 5000)),
    st.sampled_from(ABLE),
)
def test_a_budget_is_sent_whole_or_refused(budget: ReasoningBudget, capabilities: Capabilities) -> None:
    try:
        sent = budget.parameters(capabilities)
    except PlanError:
        return
    cap = sent.pop(capabilities.cap)
    scratchpad = budget.scratchpad(capabilities)
    if budget.thinking_tokens is not None:
        native = sent.pop("thinking", {"budget_tokens": scratchpad})
        assert native["budget_tokens"] == budget.thinking_tokens
        assert cap == budget.answer_tokens + (0 if scratchpad else budget.thinking_tokens)
    else:
        assert (cap, scratchpad) == (budget.answer_tokens, None)
    expected = (
        {} if budget.effort == "none" and "none" not in capabilities.efforts else {"reasoning_effort": budget.effort}
    )
    assert sent == expected


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
