"""The one way to make calls: cache first, then budget, then the endpoint, with retries for what may pass."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from lineage.errors import CallError
from lineage.records import Usage
from students.transport.base import CallFailure, CallRequest, CallResult, Transport
from students.transport.cache import CallCache, Tags
from students.transport.spend import Spend

CHARACTERS_A_TOKEN: Final = 2.0
"""Fewest characters that a prompt token is taken for when its worst case is reserved."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Tries of one call, and the wait before the second in seconds; each further wait doubles, with jitter."""

    tries: int = 5
    wait_s: float = 0.5
    longest_s: float = 60.0

    def pause(self, attempt: int, asked: float | None) -> float:
        """Seconds to wait after failed try number ``attempt`` (from 1), at least what the endpoint asked for."""
        backoff: float = min(self.wait_s * 2 ** (attempt - 1), self.longest_s)
        return max(backoff * random.uniform(0.5, 1.0), asked or 0.0)  # noqa: S311 - jitter, not cryptography


class Calls:
    """Calls of one role to one model.

    Args:
        transport: where answers come from.
        cache: where they are kept.
        spend: the campaign's limits.
        concurrency: most chains under way at once; a serial transport takes one.
        worst_cost: US dollars of ``(prompt tokens, completion tokens)``, or None where no price applies.
        retry: how often, and after what pause.
        give_up_after: calls in a row without an answer after which the endpoint counts as gone.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        cache: CallCache,
        spend: Spend,
        concurrency: int = 8,
        worst_cost: Callable[[int, int], float] | None = None,
        retry: Retry | None = None,
        give_up_after: int = 3,
    ) -> None:
        self.transport = transport
        self.paid = self.found = 0
        self._cache, self._spend = cache, spend
        self._slots = asyncio.Semaphore(1 if transport.serial else concurrency)
        self._worst_cost = worst_cost
        self._retry = retry or Retry()
        self._under_way: dict[str, asyncio.Future[CallResult | CallFailure]] = {}
        self._give_up_after, self._failed_in_a_row = give_up_after, 0

    async def run(self, chain: Sequence[CallRequest], tags: Tags) -> list[CallResult | CallFailure]:
        """Answer calls that share a beginning, in order; equal calls under way are joined into one.

        On a serial transport, whose answers depend on the prompt before, a chain that continues behind cached answers
        is first brought into the state in which it was left.

        Raises:
            CallError: the endpoint refused a call for good, or does not answer any more.
            BudgetError: a limit of the plan would be passed.
        """
        keys = [request.key(self.transport.identity) for request in chain]
        found: dict[str, CallResult | CallFailure] = {}
        for key in keys:
            if (hit := self._cache.find(key)) is not None:
                found[key] = hit
                self.found += 1
        if len(found) == len(set(keys)):
            return [found[key] for key in keys]
        async with self._slots:
            primed = not self.transport.serial or keys[0] not in found
            for key, request in zip(keys, chain, strict=True):
                if key in found:
                    continue
                if not primed:
                    await self._tried(lambda: self.transport.prime(chain[0]))
                    primed = True
                found[key] = await self._joined(key, request, tags)
        return [found[key] for key in keys]

    async def _joined(self, key: str, request: CallRequest, tags: Tags) -> CallResult | CallFailure:
        if (other := self._under_way.get(key)) is not None:
            return await asyncio.shield(other)
        if (hit := self._cache.find(key)) is not None:
            return hit
        mine: asyncio.Future[CallResult | CallFailure] = asyncio.get_running_loop().create_future()
        self._under_way[key] = mine
        try:
            answer = await self._paid(key, request, tags)
        except BaseException as error:
            mine.set_exception(error)
            mine.exception()  # read once, so that nobody waiting is no warning
            raise
        finally:
            del self._under_way[key]
        mine.set_result(answer)
        return answer

    async def _paid(self, key: str, request: CallRequest, tags: Tags) -> CallResult | CallFailure:
        worst = self._worst(request)
        self._spend.reserve(worst)
        result: CallResult | None = None
        try:
            answer = await self._tried(lambda: self.transport.complete(request))
            if isinstance(answer, CallFailure):
                self._failed_in_a_row += 1
                if self._failed_in_a_row >= self._give_up_after:
                    raise CallError(
                        f"{self._failed_in_a_row} calls in a row were not answered: {answer.message}; everything paid for "
                        "is kept: give the same command to go on when the endpoint is back",
                        reason="transport",
                        transient=True,
                    )
                return answer
            self._failed_in_a_row = 0
            result = answer
            self._cache.store(key, self.transport.identity, request, result, tags)
            self.paid += 1
            return result
        finally:
            self._spend.settle(worst, None if result is None else result.usage)

    async def _tried(self, call: Callable[[], object]) -> CallResult | CallFailure:
        for attempt in range(1, self._retry.tries + 1):
            try:
                return await call()  # type: ignore[misc,no-any-return]  # an awaitable of the transport's answer
            except CallError as error:
                if not error.transient:
                    raise
                if attempt == self._retry.tries:
                    return CallFailure(error.reason, str(error))
                await asyncio.sleep(self._retry.pause(attempt, error.retry_after_s))
        raise AssertionError("the last try returns or raises")

    def _worst(self, request: CallRequest) -> Usage:
        prompt = sum(int(len(message["content"]) / CHARACTERS_A_TOKEN) + 16 for message in request.messages)
        sent = request.sent
        completion = int(sent.get("max_completion_tokens") or sent.get("max_tokens") or 0)
        cost = self._worst_cost(prompt, completion) if self._worst_cost else None
        return Usage(calls=1, prompt_tokens=prompt, completion_tokens=completion, cost_usd=cost)
