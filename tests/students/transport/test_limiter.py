"""The limiter of an endpoint."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

from students.transport import Limiter, Limiters, Rate


async def calls(limiter: Limiter, count: int, *, takes_s: float = 0.0, tokens: int = 10, used: int = 10) -> list[float]:
    """Times at which so many calls began, all asked for at once."""
    begun: list[float] = []

    async def one() -> None:
        turn = await limiter.enter(tokens)
        begun.append(time.monotonic())
        await asyncio.sleep(takes_s)
        limiter.leave(turn, tokens=used)

    await asyncio.gather(*(one() for _ in range(count)))
    return begun


def timed(work: Callable[[], Coroutine[Any, Any, Any]]) -> tuple[Any, float]:
    start = time.monotonic()
    return asyncio.run(work()), time.monotonic() - start


def test_no_more_requests_begin_in_any_minute_than_allowed() -> None:
    begun, _ = timed(lambda: calls(Limiter(Rate(64, requests_per_minute=5), minute_s=0.2), 17))
    assert all(late - early >= 0.199 for early, late in zip(begun, begun[5:], strict=False))
    assert begun[-1] - begun[0] >= 0.599


def test_tokens_of_a_minute_are_counted_at_their_worst_until_they_are_known() -> None:
    def rate() -> Limiter:
        return Limiter(Rate(64, tokens_per_minute=100), minute_s=0.2)

    _, all_worst = timed(lambda: calls(rate(), 15, tokens=20, used=20))
    assert all_worst >= 0.39, "five a minute"
    _, known = timed(lambda: calls(rate(), 15, tokens=20, used=1))
    assert known < all_worst


def test_a_request_that_is_larger_than_the_rate_is_admitted_alone() -> None:
    begun, _ = timed(lambda: calls(Limiter(Rate(8, tokens_per_minute=100), minute_s=0.1), 3, tokens=500, used=500))
    assert all(late - early >= 0.099 for early, late in pairwise(begun))


def test_a_refusal_halves_what_is_admitted_once_for_all_that_were_under_way() -> None:
    async def refused() -> list[int]:
        limiter, seen = Limiter(Rate(16)), list[int]()
        turns = [await limiter.enter(1) for _ in range(16)]
        for turn in turns:
            limiter.throttle(turn, None)
            limiter.leave(turn)
        seen.append(limiter.admitted)
        for _ in range(10):
            turn = await limiter.enter(1)
            await asyncio.sleep(0.001)
            limiter.throttle(turn, None)
            limiter.leave(turn)
        return [*seen, limiter.admitted]

    assert asyncio.run(refused()) == [8, 1]


def test_it_widens_slowly_with_answers_and_never_beyond_the_plan() -> None:
    async def widened() -> list[int]:
        limiter, seen = Limiter(Rate(8)), list[int]()
        turn = await limiter.enter(1)
        limiter.throttle(turn, None)
        limiter.leave(turn)
        for answers in (0, 8, 12, 500):
            for _ in range(answers):
                limiter.leave(await limiter.enter(1), tokens=1)
            seen.append(limiter.admitted)
        return seen

    first, second, third, last = asyncio.run(widened())
    assert (first, last) == (4, 8)
    assert first <= second <= third <= 6, "one more after about two rounds of answers"


def test_where_the_endpoint_says_how_long_to_wait_nothing_begins_before() -> None:
    async def paused() -> float:
        limiter = Limiter(Rate(4))
        turn = await limiter.enter(1)
        limiter.throttle(turn, 0.2)
        limiter.throttle(turn, 0.05)
        limiter.leave(turn)
        start = time.monotonic()
        return min(await calls(limiter, 6)) - start

    assert asyncio.run(paused()) >= 0.199


def test_a_wait_that_is_given_up_takes_no_place() -> None:
    async def given_up() -> None:
        limiter = Limiter(Rate(1))
        turn = await limiter.enter(1)
        waiting = [asyncio.create_task(limiter.enter(1)) for _ in range(3)]
        await asyncio.sleep(0.01)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        limiter.leave(turn)
        async with asyncio.timeout(1):
            await limiter.enter(1)

    asyncio.run(given_up())


def test_roles_at_one_address_share_a_limiter_and_every_rate_that_is_stated() -> None:
    found = Limiters()
    judge = found.of({"endpoint": "http://a/v1", "model": "judge"}, Rate(8, requests_per_minute=60))
    writer = found.of({"endpoint": "http://a/v1", "model": "writer"}, Rate(16, 90, tokens_per_minute=1000))
    assert judge is writer
    assert judge.rate == Rate(16, 60, 1000)
    assert judge.admitted == 16
    assert found.of({"endpoint": "http://b/v1", "model": "judge"}, Rate()) is not judge
    assert found.of({"hosted": "openai/gpt-4.1"}, Rate()) is not found.of({"hosted": "openai/gpt-4.1-mini"}, Rate())
