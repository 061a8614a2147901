"""The one way to make calls: cache first, then budget, then the endpoint, with retries for what may pass."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from lineage.errors import CallError
from lineage.records import Usage
from students.transport.base import CallFailure, CallRequest, CallResult, Transport
from students.transport.cache import CallCache, Tags
from students.transport.limiter import Limiter, Rate, Turn
from students.transport.price import Price
from students.transport.retry import Retry
from students.transport.spend import Spend, worst_case

Answer = TypeVar("Answer")


class _DeadlineError(CallError):
    """A call that had its time."""


class Calls:
    """Calls of one role to one model.

    Args:
        transport: where answers come from.
        cache: where they are kept.
        spend: the campaign's limits.
        limiter: what the endpoint admits, shared with other roles that call it; by default one of its own.
        concurrency: most chains under way at once; a serial transport takes one.
        price: what tokens cost, or None where no price applies.
        free: whether no price can apply, as on this machine; such a call is never paid for.
        retry: how often, and after what pause.
        deadline_s: seconds that one request may take. Past it the request is cancelled, and not sent again: it may be
            paid for.
        give_up_after: calls in a row without an answer after which the endpoint counts as gone.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        cache: CallCache,
        spend: Spend,
        limiter: Limiter | None = None,
        concurrency: int = 8,
        price: Price | None = None,
        free: bool = False,
        retry: Retry | None = None,
        deadline_s: float = 120.0,
        give_up_after: int = 3,
    ) -> None:
        self.transport = transport
        self.paid = self.found = 0
        self.concurrency = 1 if transport.serial else concurrency
        self._cache, self._spend = cache, spend
        self._slots = asyncio.Semaphore(1 if transport.serial else concurrency)
        self._limiter = limiter or Limiter(Rate(concurrency))
        self._price, self._free = price, free
        self._retry, self._deadline_s = retry or Retry(), deadline_s
        self._under_way: dict[str, asyncio.Task[CallResult | CallFailure]] = {}
        self._give_up_after, self._failed_in_a_row = give_up_after, 0
        self._stopping, self._waiting = False, set[asyncio.Task[object]]()
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
        self._stopping = True
        for task in self._waiting:
            task.cancel()
        try:
            await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        finally:
            self._stopping = False

    async def _prime(self, prompts: Sequence[CallRequest]) -> CallFailure | None:
        for prompt in prompts:
            if isinstance(failure := await self._tried(partial(self._primed, prompt)), CallFailure):
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
        answer = await self._tried(partial(self._sent, key, request, tags))
        self._count(answer)
        return answer

    async def _sent(self, key: str, request: CallRequest, tags: Tags) -> CallResult:
        """Send one request: its worst case is reserved before, and what it cost or may have cost is counted after."""
        worst = worst_case(request, self._price, free=self._free)
        await self._until_stopped(self._spend.admit(tags.role, worst))
        charged: Usage | None = None
        try:
            turn = await self._until_stopped(self._limiter.enter(worst.prompt_tokens + worst.completion_tokens))
            used: Usage | None = None
            try:
                self._spend.check_time(tags.role)
                note = None if self._free else self._cache.note_sent(key, tags, worst)
                charged = None if self._free else worst  # until it is known better
                try:
                    answer = self._priced(await self._in_time(self.transport.complete(request)))
                except CallError as error:
                    if self._turned_away(error, turn, note):
                        charged = None
                    raise
                used = answer.usage
                charged = used if used.prompt_tokens or self._free else worst  # no usage stated is no free call
                kept = self._cache.store(
                    key, self.transport.identity, request, answer, tags, sent=note, charged=charged
                )
            finally:
                self._limiter.leave(turn, tokens=None if used is None else used.prompt_tokens + used.completion_tokens)
        finally:
            self._spend.settle(tags.role, worst, charged)
        self.paid += 1
        return replace(kept, cached=False)  # whoever's answer is kept, this call was paid for

    def _turned_away(self, error: CallError, turn: Turn, note: int | None) -> bool:
        """Whether a failed call surely cost nothing; the note on one that may be paid for stays, with the reason."""
        if error.throttled or error.retry_after_s is not None:
            self._limiter.throttle(turn, error.retry_after_s)
        unpaid = not error.unanswered and error.reason != "malformed"
        if note is not None:
            if unpaid:
                self._cache.note_unpaid(note)
            else:
                self._cache.note_unanswered(note, error.reason)
        return unpaid

    async def _primed(self, request: CallRequest) -> None:
        """Send a prompt that asks for no answer."""
        turn = await self._until_stopped(self._limiter.enter(0))
        try:
            await self._in_time(self.transport.prime(request))
        finally:
            self._limiter.leave(turn)

    async def _in_time(self, call: Awaitable[Answer]) -> Answer:
        try:
            async with asyncio.timeout(self._deadline_s):
                return await call
        except TimeoutError as error:
            raise _DeadlineError(
                f"no answer within {self._deadline_s:g} s; the request was cancelled, and is not sent again as it may "
                "be paid for",
                reason="deadline",
                transient=False,
                unanswered=True,
            ) from error

    async def _until_stopped(self, waiting: Coroutine[Any, Any, Answer]) -> Answer:
        """Wait for what is not a call; :meth:`finish` ends such a wait."""
        if self._stopping:
            waiting.close()
            raise asyncio.CancelledError
        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)
        try:
            return await waiting
        finally:
            self._waiting.discard(task)

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
        """A call with its tries; the only place where any is made again."""
        failed = throttled = 0
        while True:
            try:
                return await call()
            except _DeadlineError as error:
                return CallFailure("transport", str(error))
            except CallError as error:
                if not error.transient:
                    raise
                asked = error.retry_after_s
                if asked is not None and asked > self._retry.patience_s:
                    raise CallError(
                        f"the endpoint asks to wait {asked:.0f} s ({error}); everything paid for is kept: give the "
                        "same command to go on then",
                        reason="transport",
                        transient=True,
                        retry_after_s=asked,
                    ) from error
                throttled, failed = throttled + error.throttled, failed + (not error.throttled)
                if self._retry.spent(failed, throttled):
                    return CallFailure(error.reason, str(error))
                pause = self._retry.pause(failed + throttled, asked)
            await self._until_stopped(asyncio.sleep(pause))
