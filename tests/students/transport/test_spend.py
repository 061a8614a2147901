"""Spend limits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import BudgetError
from lineage.records import Usage
from students.transport import Limits, Retry, Spend

WORST = Usage(calls=1, prompt_tokens=100, completion_tokens=20, cost_usd=0.5)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(calls=1), "limits.calls = 1 "),
        (Limits(tokens=239), "limits.tokens = 239 "),
        (Limits(usd=0.99), "limits.usd = 0.99 "),
    ],
)
def test_a_second_worst_case_beyond_a_limit_is_refused_with_the_way_on(limits: Limits, said: str) -> None:
    spend = Spend(limits)
    spend.reserve(WORST)
    name = said.split()[0]
    with pytest.raises(BudgetError, match=rf"{said}would be passed .*is kept: raise {name} and give the same command"):
        spend.reserve(WORST)


def test_a_limit_may_be_reached_exactly() -> None:
    spend = Spend(Limits(calls=2, tokens=240, usd=1.0))
    spend.reserve(WORST)
    spend.reserve(WORST)


def test_a_refused_reservation_reserves_nothing() -> None:
    spend = Spend(Limits(calls=1))
    spend.reserve(WORST)
    for _ in range(3):
        with pytest.raises(BudgetError, match="calls"):
            spend.reserve(WORST)
    spend.settle(WORST, None)
    spend.reserve(WORST)


def test_what_earlier_processes_paid_counts() -> None:
    with pytest.raises(BudgetError, match=r"limits\.calls = 3 would be passed \(3 calls paid so far\)"):
        Spend(Limits(calls=3), spent=Usage(calls=3)).reserve(WORST)


def test_a_call_that_was_not_answered_costs_nothing() -> None:
    spend = Spend(Limits())
    spend.reserve(WORST)
    spend.settle(WORST, None)
    assert spend.spent == Usage()


def test_no_limit_limits_nothing() -> None:
    spend = Spend(Limits())
    for _ in range(100):
        spend.reserve(WORST)
    assert Limits().row() == {"calls": None, "tokens": None, "usd": None, "wall_s": None}


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 120)), max_size=60), st.integers(0, 2000), st.integers(0, 20))
def test_no_order_of_calls_passes_a_limit(steps: list[Any], tokens: int, calls: int) -> None:
    spend, open_calls = Spend(Limits(tokens=tokens, calls=calls)), 0
    for reserve, used in steps:
        if reserve:
            try:
                spend.reserve(WORST)
                open_calls += 1
            except BudgetError:
                continue
        elif open_calls:
            open_calls -= 1
            spend.settle(WORST, Usage(calls=1, prompt_tokens=min(used, 100), completion_tokens=min(20, used)))
        assert spend.spent.prompt_tokens + spend.spent.completion_tokens + 120 * open_calls <= tokens
        assert spend.spent.calls + open_calls <= calls


def test_waits_double_up_to_the_longest_and_keep_what_was_asked_for() -> None:
    retry = Retry(wait_s=1.0, longest_s=4.0)
    for attempt, longest in ((1, 1.0), (2, 2.0), (3, 4.0), (9, 4.0)):
        assert longest / 2 <= retry.pause(attempt, None) <= longest
    assert retry.pause(1, 30.0) == 30.0
    assert retry.pause(3, 0.0) >= 2.0
