from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import CallError
from lineage.records import Usage
from optimize.sweep import StudyStorage
from optimize.sweep.calls import Claims, StoredAnswers, StudyCache, StudyCalls
from optimize.sweep.spend import SpendBook, StudySpend, spent
from optimize.sweep.trials import TrialBook
from students.transport import CallFailure, CallRequest, CallResult, Limits, Price, Retry, Tags

TAGS = Tags("campaign", "student", "accept")


class Counting:
    """A transport that takes its time, counts what it is asked, and may be told to turn calls away."""

    serial = False
    simulated = False
    identity: Mapping[str, Any] = {"of": "test"}

    def __init__(self, pause_s: float = 0.15, refuse: int = 0) -> None:
        self.asked: list[str] = []
        self._pause_s, self._refuse = pause_s, refuse

    async def complete(self, request: CallRequest) -> CallResult:
        self.asked.append(request.messages[0]["content"])
        await asyncio.sleep(self._pause_s)
        if self._refuse:
            self._refuse -= 1
            raise CallError("busy", reason="transport", transient=True)
        return CallResult("Yes", "stop", Usage(calls=1, prompt_tokens=5, completion_tokens=1))

    async def prime(self, request: CallRequest) -> None:
        """Nothing to do."""

    async def aclose(self) -> None:
        """Nothing to release."""


def request(text: str) -> CallRequest:
    return CallRequest(({"role": "user", "content": text},), {"max_tokens": 4})


def calls_of(
    storage: StudyStorage, worker: str, transport: Counting, cache: Path, *, shared: bool = False
) -> StudyCalls:
    TrialBook(storage, worker, grace_s=60).beat()
    book = SpendBook(storage, worker, Limits(), grace_s=60)
    return StudyCalls(
        transport,
        claims=Claims(storage, worker, grace_s=60),
        cache=StudyCache(cache, answers=StoredAnswers(storage) if shared else None),
        spend=StudySpend(book, 1, Limits(), roles={}, before={}),
        price=Price(1e-6, 1e-6, None),
        retry=Retry(tries=2, wait_s=0.01),
    )


async def answers(calls: list[StudyCalls], texts: list[str]) -> list[CallResult | CallFailure]:
    found = await asyncio.gather(*(one.run([request(text)], TAGS) for one in calls for text in texts))
    return [answer for answers_of in found for answer in answers_of]


@pytest.mark.parametrize("machines", [False, True])
def test_two_workers_that_come_to_the_same_calls_at_once_pay_for_each_of_them_once(
    storage: StudyStorage, tmp_path: Path, machines: bool
) -> None:
    transport = Counting()
    caches = [tmp_path / "one.sqlite", tmp_path / ("two.sqlite" if machines else "one.sqlite")]
    calls = [calls_of(storage, str(number), transport, cache, shared=machines) for number, cache in enumerate(caches)]
    found = asyncio.run(answers(calls, ["a", "b", "c"]))
    assert sorted(transport.asked) == ["a", "b", "c"]
    assert all(isinstance(answer, CallResult) and answer.text == "Yes" for answer in found)
    assert sum(answer.cached for answer in found if isinstance(answer, CallResult)) == 3
    assert spent(storage).paid == Usage(calls=3, prompt_tokens=15, completion_tokens=3, cost_usd=18e-6)
    assert spent(storage).unanswered.calls == 0
    asyncio.run(answers(calls, ["a", "b", "c"]))
    assert len(transport.asked) == 3


def test_a_call_that_one_worker_could_not_make_is_made_by_the_one_that_waited_for_it(
    storage: StudyStorage, tmp_path: Path
) -> None:
    transport = Counting(refuse=2)
    calls = [calls_of(storage, str(number), transport, tmp_path / "calls.sqlite") for number in range(2)]
    found = asyncio.run(answers(calls, ["a"]))
    kinds = sorted(type(answer).__name__ for answer in found)
    assert kinds == ["CallFailure", "CallResult"]
    assert len(transport.asked) == 3, "two tries in vain, and the other worker's"


def test_a_call_that_a_dead_worker_had_under_way_is_made_again(
    storage: StudyStorage, age: Callable[[str], None], tmp_path: Path
) -> None:
    transport = Counting(pause_s=0)
    key = request("a").key(transport.identity)
    TrialBook(storage, "dead", grace_s=60).beat()
    assert Claims(storage, "dead", grace_s=60).take(key)
    alive = calls_of(storage, "alive", transport, tmp_path / "calls.sqlite")

    async def waited() -> list[CallResult | CallFailure]:
        waiting = asyncio.create_task(answers([alive], ["a"]))
        await asyncio.sleep(0.2)
        assert transport.asked == [], "as long as the other may live, its answer is waited for"
        age("dead")
        return await waiting

    (answer,) = asyncio.run(waited())
    assert isinstance(answer, CallResult)
    assert transport.asked == ["a"]


def test_a_worker_lets_go_of_calls_that_are_done_and_takes_its_own_again(storage: StudyStorage) -> None:
    TrialBook(storage, "one", grace_s=60).beat()
    TrialBook(storage, "two", grace_s=60).beat()
    one, two = Claims(storage, "one", grace_s=60), Claims(storage, "two", grace_s=60)
    assert one.take("key")
    assert one.take("key"), "as after its process died"
    assert not two.take("key")
    two.drop("key")
    assert not two.take("key"), "nobody lets go of another's"
    one.drop("key")
    assert two.take("key")
