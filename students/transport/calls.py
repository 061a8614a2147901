"""The one way to make calls: cache first, then budget, then the endpoint, with retries for what may pass."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

from lineage.errors import BudgetError, CallError
from lineage.records import Usage
from students.transport.base import CallFailure, CallRequest, CallResult, Transport
from students.transport.cache import CallCache, Tags
from students.transport.price import Price
from students.transport.spend import Spend

Answer = TypeVar("Answer")
BYTES_A_TOKEN: Final = 2.0
"""Fewest bytes of UTF-8 that a prompt token is taken for when its worst case is reserved."""


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
        price: what tokens cost, or None where no price applies.
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
        price: Price | None = None,
        retry: Retry | None = None,
        give_up_after: int = 3,
    ) -> None:
        self.transport = transport
        self.paid = self.found = 0
        self._cache, self._spend = cache, spend
        self._slots = asyncio.Semaphore(1 if transport.serial else concurrency)
        self._price = price
        self._retry = retry or Retry()
        self._under_way: dict[str, asyncio.Task[CallResult | CallFailure]] = {}
        self._give_up_after, self._failed_in_a_row = give_up_after, 0
        self._sent, self._settled, self._stopped = 0, asyncio.Event(), asyncio.Event()
        self._last: str | None = None

    async def run(
        self, chain: Sequence[CallRequest], tags: Tags, *, history: Sequence[CallRequest] = ()
    ) -> list[CallResult | CallFailure]:
        """Answer calls that share a beginning, in order; equal calls under way are joined into one.

        Args:
            chain: the calls.
            tags: what they are paid for.
            history: the calls before them in a longer chain. Where a call names the one it comes ``after``, and that
                was not the last one sent, the prompts before it are first sent again without asking for an answer, so
                that the model's prompt cache is in the state in which the chain was left.

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
            for place, (key, request) in enumerate(zip(keys, chain, strict=True)):
                if key in found:
                    continue
                if request.after is not None and request.after != self._last:
                    self._last = None
                    if (failure := await self._prime((*history, *chain[:place]))) is not None:
                        found[key] = failure  # an answer in another state would be another answer
                        continue
                found[key] = answer = await self._joined(key, request, tags)
                self._last = key if isinstance(answer, CallResult) else None
        return [found[key] for key in keys]

    async def finish(self) -> None:
        """Wait for calls that are sent, so that answers which are paid for are kept; nothing is sent or tried again."""
        self._stopped.set()
        self._settled.set()
        try:
            await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        finally:
            self._stopped.clear()

    async def _prime(self, prompts: Sequence[CallRequest]) -> CallFailure | None:
        for prompt in prompts:
            if isinstance(failure := await self._tried(partial(self.transport.prime, prompt)), CallFailure):
                self._count(failure)
                return failure
        return None

    async def _joined(self, key: str, request: CallRequest, tags: Tags) -> CallResult | CallFailure:
        """An equal call's answer, or this one's; who stops waiting does not stop the call, which is paid for."""
        if (other := self._under_way.get(key)) is not None:
            answer = await asyncio.shield(other)
            return replace(answer, cached=True) if isinstance(answer, CallResult) else answer
        if (hit := self._cache.find(key)) is not None:
            return hit
        mine = asyncio.create_task(self._paid(key, request, tags))
        self._under_way[key] = mine
        mine.add_done_callback(partial(self._done, key))
        return await asyncio.shield(mine)

    def _done(self, key: str, task: asyncio.Task[CallResult | CallFailure]) -> None:
        del self._under_way[key]
        if not task.cancelled():
            task.exception()  # read once, so that an error that nobody waits for is no warning

    async def _paid(self, key: str, request: CallRequest, tags: Tags) -> CallResult | CallFailure:
        worst = self._worst(request)
        await self._reserve(worst)
        self._sent += 1
        result: CallResult | None = None
        try:
            answer = await self._tried(partial(self.transport.complete, request))
            self._count(answer)
            if isinstance(answer, CallFailure):
                return answer
            result = self._priced(answer)
            kept = self._cache.store(key, self.transport.identity, request, result, tags)
            self.paid += 1
            return replace(kept, cached=False)  # whoever's answer is kept, this call was paid for
        finally:
            self._spend.settle(worst, None if result is None else result.usage)
            self._sent -= 1
            self._settled.set()

    async def _reserve(self, worst: Usage) -> None:
        """Set the worst case aside; wait where only the worst cases of the calls under way leave no room for it."""
        while not self._stopped.is_set():
            try:
                return self._spend.reserve(worst)
            except BudgetError:
                if not self._sent:
                    raise
            self._settled.clear()
            await self._settled.wait()
        raise asyncio.CancelledError

    def _count(self, answer: CallResult | CallFailure) -> None:
        """Count calls in a row without an answer.

        Raises:
            CallError: there are too many.
        """
        if isinstance(answer, CallResult):
            self._failed_in_a_row = 0
            return
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= self._give_up_after:
            raise CallError(
                f"{self._failed_in_a_row} calls in a row were not answered: {answer.message}; everything paid for "
                "is kept: give the same command to go on when the endpoint is back",
                reason="transport",
                transient=True,
            )

    def _priced(self, answer: CallResult) -> CallResult:
        """The answer with what it cost, where a price applies."""
        used = answer.usage
        if self._price is None:
            return answer
        cost = self._price.cost(used.prompt_tokens, used.completion_tokens, used.cached_tokens)
        return replace(answer, usage=replace(used, cost_usd=cost))

    async def _tried(self, call: Callable[[], Awaitable[Answer]]) -> Answer | CallFailure:
        for attempt in range(1, self._retry.tries + 1):
            try:
                return await call()
            except CallError as error:
                if not error.transient:
                    raise
                if attempt == self._retry.tries or await self._waited(self._retry.pause(attempt, error.retry_after_s)):
                    return CallFailure(error.reason, str(error))
        raise AssertionError("the last try returns or raises")

    async def _waited(self, seconds: float) -> bool:
        """Wait before another try; whether the calls were stopped meanwhile."""
        try:
            async with asyncio.timeout(seconds):
                await self._stopped.wait()
        except TimeoutError:
            return False
        return True

    def _worst(self, request: CallRequest) -> Usage:
        prompt = sum(int(len(message["content"].encode()) / BYTES_A_TOKEN) + 16 for message in request.messages)
        sent = request.sent
        completion = int(sent.get("max_completion_tokens") or sent.get("max_tokens") or 0)
        cost = None if self._price is None else self._price.cost(prompt, completion, 0)
        return Usage(calls=1, prompt_tokens=prompt, completion_tokens=completion, cost_usd=cost)
