from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage.errors import BudgetError
from lineage.records import Usage
from optimize.sweep import StudyStorage
from optimize.sweep.spend import SpendBook, StudySpend, spent
from optimize.sweep.trials import TrialBook, register_study
from students.transport import LimitError, Limits

CALL = Usage(calls=1, prompt_tokens=90, completion_tokens=10, cost_usd=0.01)


def book_of(storage: StudyStorage, worker: str = "one", **limits: float | None) -> SpendBook:
    TrialBook(storage, worker, grace_s=60).beat()
    return SpendBook(storage, worker, Limits(**limits), grace_s=60)  # type: ignore[arg-type]  # calls are whole here


def held(storage: StudyStorage) -> Usage:
    """Everything that counts against the limits, by its parts."""
    found = spent(storage)
    return found.paid + found.unanswered


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.integers(1, 9), st.integers(0, 9)), max_size=30),
    limit=st.integers(5, 40),
)
def test_whatever_workers_reserve_and_settle_no_limit_is_passed(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, bool, int, int]], limit: int
) -> None:
    storage = StudyStorage(f"sqlite:///{tmp_path_factory.getbasetemp() / 'spend.sqlite'}", uuid.uuid4().hex)
    register_study(storage, "f")
    books = [book_of(storage, str(number), tokens=limit) for number in range(3)]
    under_way: list[list[Usage]] = [[], [], []]
    paid = 0
    for worker, settles, worst, used in steps:
        if settles and under_way[worker]:
            reserved = under_way[worker].pop()
            charged = Usage(calls=1, prompt_tokens=min(used, reserved.prompt_tokens))
            books[worker].settle(1, "student", reserved, charged)
            paid += charged.prompt_tokens
        else:
            asked = Usage(calls=1, prompt_tokens=worst)
            refused = books[worker].reserve(1, "student", asked)
            outstanding = paid + sum(one.prompt_tokens for all_of in under_way for one in all_of)
            assert (refused is None) == (outstanding + worst <= limit), "refused only where there is no room"
            if refused is None:
                under_way[worker].append(asked)
        outstanding = sum(one.prompt_tokens for all_of in under_way for one in all_of)
        assert held(storage).prompt_tokens == paid + outstanding <= limit
    storage.close()


def test_workers_that_reserve_at_the_same_moment_never_get_more_than_there_is(storage: StudyStorage) -> None:
    books = [book_of(storage, str(number), calls=50) for number in range(4)]
    got: list[bool] = []

    def reserve(book: SpendBook) -> None:
        for _ in range(20):
            got.append(book.reserve(1, "student", Usage(calls=1)) is None)

    threads = [threading.Thread(target=reserve, args=(book,)) for book in books]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(got), sum(got)) == (80, 50)
    assert spent(storage).unanswered.calls == 50


@pytest.mark.parametrize(
    ("limits", "name"),
    [({"calls": 1}, "calls = 1"), ({"tokens": 150}, "tokens = 150"), ({"usd": 0.015}, "usd = 0.015")],
)
def test_the_limit_that_is_reached_is_named(storage: StudyStorage, limits: dict[str, float], name: str) -> None:
    book = book_of(storage, **limits)
    assert book.reserve(1, "student", CALL) is None
    refused = book.reserve(1, "student", CALL)
    assert refused is not None
    assert f"limits.{name} of the study would be passed (1 calls paid for or under way)" in str(refused)
    assert refused.limit == f"study.limits.{name.split()[0]}"


def test_a_limit_in_dollars_refuses_a_call_without_a_price(storage: StudyStorage) -> None:
    with pytest.raises(BudgetError, match="cannot be held: the call has no price"):
        book_of(storage, usd=1.0).reserve(1, "student", Usage(calls=1))


def test_money_adds_up_exactly_whatever_the_order(storage: StudyStorage) -> None:
    book = book_of(storage, usd=0.3)
    third = Usage(calls=1, cost_usd=0.1)
    for _ in range(3):
        assert book.reserve(1, "student", third) is None
        book.settle(1, "student", third, third)
    assert spent(storage).paid.cost_usd == 0.3
    assert book.reserve(1, "student", third) is not None


def test_what_a_dead_worker_left_under_way_counts_at_its_worst_and_is_not_waited_for(
    storage: StudyStorage, age: Callable[[str], None]
) -> None:
    dead, alive = book_of(storage, "dead"), book_of(storage, "alive", calls=1)
    assert dead.reserve(2, "student", CALL) is None
    assert alive.may_free()
    age("dead")
    assert not alive.may_free()
    refused = alive.reserve(1, "student", CALL)
    assert isinstance(refused, LimitError)
    assert spent(storage).unanswered.cost_usd == 0.01
    assert spent(storage, number=1).unanswered.calls == 0
    again = book_of(storage, "dead")
    assert again.may_free()
    again.inherit()
    assert not again.may_free(), "its earlier process settles nothing"
    assert spent(storage).unanswered.calls == 1


def test_a_call_waits_for_those_of_other_workers_and_is_then_admitted(storage: StudyStorage) -> None:
    other = book_of(storage, "other", calls=1)
    mine = StudySpend(book_of(storage, "mine", calls=1), 1, Limits(), roles={}, before={})
    assert other.reserve(2, "student", CALL) is None

    async def both() -> None:
        waiting = asyncio.create_task(mine.admit("student", CALL))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        other.settle(2, "student", CALL, None)
        await asyncio.wait_for(waiting, 5)

    asyncio.run(both())
    assert spent(storage).unanswered.calls == 1


def test_a_call_that_the_study_refuses_is_given_back_to_the_trial(storage: StudyStorage) -> None:
    mine = StudySpend(book_of(storage, calls=0), 1, Limits(calls=1), roles={}, before={})
    for _ in range(2):
        with pytest.raises(LimitError, match=r"limits.calls = 0 of the study"):
            asyncio.run(mine.admit("student", CALL))


def test_a_trials_own_limit_holds_over_its_processes(storage: StudyStorage) -> None:
    mine = StudySpend(book_of(storage), 1, Limits(calls=3), roles={}, before={"student": Usage(calls=3)})
    with pytest.raises(LimitError, match=r"^limits.calls = 3 would be passed"):
        asyncio.run(mine.admit("student", CALL))
    assert held(storage).calls == 0
