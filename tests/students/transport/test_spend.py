"""Spend limits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import BudgetError
from lineage.records import Usage
from students.transport import CallRequest, Limits, Price, Retry, Spend
from students.transport.spend import worst_case

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
    spend.reserve("student", WORST)
    name = said.split()[0]
    with pytest.raises(BudgetError, match=rf"{said}would be passed .*is kept: raise {name} and give the same command"):
        spend.reserve("student", WORST)


def test_a_limit_may_be_reached_exactly() -> None:
    spend = Spend(Limits(calls=2, tokens=240, usd=1.0))
    spend.reserve("student", WORST)
    spend.reserve("reflector", WORST)


def test_ten_cents_ten_times_are_a_dollar() -> None:
    spend, cents = Spend(Limits(usd=1.0)), Usage(calls=1, cost_usd=0.1)
    for _ in range(10):
        spend.reserve("student", cents)
        spend.settle("student", cents, cents)
    with pytest.raises(BudgetError, match=r"limits\.usd = 1 would be passed"):
        spend.reserve("student", Usage(calls=1, cost_usd=1e-9))


def test_a_refused_reservation_reserves_nothing() -> None:
    spend = Spend(Limits(calls=1), roles={"reflector": Limits(calls=0)})
    for _ in range(3):
        with pytest.raises(BudgetError, match=r"limits\.reflector\.calls"):
            spend.reserve("reflector", WORST)
    spend.reserve("student", WORST)


def test_a_limit_of_one_role_leaves_the_other_alone() -> None:
    spend = Spend(Limits(calls=9), roles={"reflector": Limits(calls=1)})
    spend.reserve("reflector", WORST)
    with pytest.raises(
        BudgetError, match=r"limits\.reflector\.calls = 1 would be passed .*raise limits\.reflector\.cal"
    ):
        spend.reserve("reflector", WORST)
    for _ in range(8):
        spend.reserve("student", WORST)
    with pytest.raises(BudgetError, match=r"limits\.calls = 9 "):
        spend.reserve("student", WORST)


def test_what_earlier_processes_paid_counts_by_role_and_in_all() -> None:
    spend = Spend(Limits(calls=4), roles={"student": Limits(calls=3)}, spent={"student": Usage(calls=3)})
    with pytest.raises(BudgetError, match=r"limits\.student\.calls = 3 would be passed \(3 calls paid so far\)"):
        spend.reserve("student", WORST)
    spend.reserve("reflector", WORST)
    assert (spend.spent().calls, spend.spent("student").calls, spend.spent("reflector").calls) == (3, 3, 0)


def test_a_call_that_surely_cost_nothing_counts_as_nothing() -> None:
    spend = Spend(Limits())
    spend.reserve("student", WORST)
    spend.settle("student", WORST, None)
    assert spend.spent() == Usage()


def test_a_call_without_a_price_cannot_be_held_to_a_limit_in_dollars() -> None:
    with pytest.raises(BudgetError, match=r"limits\.usd cannot be held: the call has no price; state one in the plan"):
        Spend(Limits(usd=5.0)).reserve("student", Usage(calls=1))


def test_no_limit_limits_nothing() -> None:
    spend = Spend(Limits())
    for _ in range(100):
        spend.reserve("student", WORST)
    assert Limits().row() == {"calls": None, "tokens": None, "usd": None, "wall_s": None}


def test_the_time_of_a_role_is_that_in_which_it_is_called() -> None:
    now = [0.0]
    spend = Spend(Limits(wall_s=100), roles={"reflector": Limits(wall_s=10)}, clock=lambda: now[0])
    for _ in range(2):
        now[0] += 20
        spend.reserve("reflector", WORST)
        now[0] += 6
        spend.settle("reflector", WORST, WORST)
    with pytest.raises(BudgetError, match=r"limits\.reflector\.wall_s = 10 would be passed"):
        spend.reserve("reflector", WORST)
    spend.reserve("student", WORST)
    now[0] = 101
    with pytest.raises(BudgetError, match=r"limits\.wall_s = 100 would be passed"):
        spend.check_time("student")


def test_a_call_waits_for_those_under_way_before_it_is_refused_and_the_first_come_is_served_first() -> None:
    async def three_calls() -> list[str]:
        spend, done = Spend(Limits(tokens=240)), list[str]()
        large = Usage(calls=1, prompt_tokens=230)
        small = Usage(calls=1, prompt_tokens=5)
        await spend.admit("student", WORST)

        async def admitted(name: str, worst: Usage) -> None:
            await spend.admit("student", worst)
            done.append(name)
            spend.settle("student", worst, Usage(calls=1))

        waiting = [asyncio.create_task(admitted(*call)) for call in (("large", large), ("small", small))]
        await asyncio.sleep(0.01)
        assert done == [], "the small one would fit, but the large one would then wait for ever"
        spend.settle("student", WORST, Usage(calls=1, prompt_tokens=5))
        await asyncio.gather(*waiting)
        return done

    assert asyncio.run(three_calls()) == ["large", "small"]


def test_a_call_that_no_settling_could_make_room_for_is_refused_at_once() -> None:
    async def refused() -> None:
        spend = Spend(Limits(calls=5), roles={"reflector": Limits(calls=0)})
        await spend.admit("student", WORST)
        async with asyncio.timeout(1):
            await spend.admit("reflector", WORST)

    with pytest.raises(BudgetError, match=r"limits\.reflector\.calls"):
        asyncio.run(refused())


steps = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 120)), max_size=60)


@given(steps, st.integers(0, 2000), st.integers(0, 20), st.integers(0, 10))
def test_no_order_of_calls_passes_a_limit(steps: list[Any], tokens: int, calls: int, of_reflector: int) -> None:
    spend = Spend(Limits(tokens=tokens, calls=calls), roles={"reflector": Limits(calls=of_reflector)})
    under_way = {"student": 0, "reflector": 0}
    for reserve, first, used in steps:
        role = "student" if first else "reflector"
        if reserve:
            try:
                spend.reserve(role, WORST)
                under_way[role] += 1
            except BudgetError:
                continue
        elif under_way[role]:
            under_way[role] -= 1
            spend.settle(role, WORST, Usage(calls=1, prompt_tokens=min(used, 100), completion_tokens=min(20, used)))
        total, open_calls = spend.spent(), sum(under_way.values())
        assert total.prompt_tokens + total.completion_tokens + 120 * open_calls <= tokens
        assert total.calls + open_calls <= calls
        assert spend.spent("reflector").calls + under_way["reflector"] <= of_reflector


def test_the_worst_case_of_a_call_has_a_token_a_byte_and_its_whole_answer_cap() -> None:
    asked = CallRequest(({"role": "user", "content": "頭痛"},), {"max_tokens": 7})
    price = Price(1.0, 10.0, cached=0.1)
    assert worst_case(asked, price, free=False) == Usage(1, 6 + 16, 7, cost_usd=22.0 + 70.0)
    assert worst_case(asked, None, free=False).cost_usd is None
    assert worst_case(asked, None, free=True).cost_usd == 0.0
    uncapped = CallRequest(asked.messages, {})
    assert worst_case(uncapped, None, free=True).completion_tokens >= 100_000
    newer = CallRequest(asked.messages, {"max_completion_tokens": 9})
    assert worst_case(newer, None, free=True).completion_tokens == 9


def test_waits_double_up_to_the_longest_and_come_after_what_was_asked_for() -> None:
    retry = Retry(wait_s=1.0, longest_s=4.0)
    for attempt, longest in ((1, 1.0), (2, 2.0), (3, 4.0), (9, 4.0)):
        assert longest / 2 <= retry.pause(attempt, None) <= longest
    assert 30.5 <= retry.pause(1, 30.0) <= 31.0
    assert len({retry.pause(1, None) for _ in range(20)}) > 1, "calls that failed together do not come back together"
