"""One limiter an endpoint: how many calls are under way, how many begin a minute, and when all of them wait."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lineage.canonical import digest

_REGAINED: Final = 0.5
"""Calls by which a narrowed limiter widens after as many answers as it admits at once."""


@dataclass(frozen=True, slots=True)
class Rate:
    """What an endpoint admits; None sets no rate. Tokens are those of prompt and answer."""

    concurrency: int = 8
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def shared(self, other: Rate) -> Rate:
        """The rate of an endpoint that is called in two roles: every stated rate holds, the wider concurrency does."""

        def lower(name: str) -> int | None:
            return min((rate for rate in (getattr(self, name), getattr(other, name)) if rate is not None), default=None)

        return Rate(max(self.concurrency, other.concurrency), lower("requests_per_minute"), lower("tokens_per_minute"))


@dataclass(slots=True)
class Turn:
    """A request that was admitted: when, and for how many tokens."""

    at: float
    tokens: int


class Limiter:
    """Admits requests to one endpoint, first come, first served.

    After a refusal for too many requests it admits half as many at once, and one more after every two rounds of answers
    (additive increase, multiplicative decrease: Chiu and Jain, 1989). Where the endpoint says how long to wait, no
    request of any role begins before.

    Args:
        rate: what the endpoint admits.
        minute_s: length of the window that rates are counted over, in seconds.
    """

    def __init__(self, rate: Rate, *, minute_s: float = 60.0) -> None:
        self.rate = rate
        self._minute_s = minute_s
        self._window = float(rate.concurrency)
        self._under_way = 0
        self._narrowed_at = self._paused_until = -math.inf
        self._turns: deque[Turn] = deque()
        self._queue, self._changed = asyncio.Lock(), asyncio.Event()

    @property
    def admitted(self) -> int:
        """Requests that may be under way at once at present."""
        return int(self._window)

    def share(self, rate: Rate) -> None:
        """Another role calls the endpoint at its own rate (see :meth:`Rate.shared`)."""
        before, self.rate = self.rate.concurrency, self.rate.shared(rate)
        self._window += self.rate.concurrency - before

    async def enter(self, tokens: int) -> Turn:
        """Wait until a request of at most so many tokens may begin."""
        async with self._queue:
            while (wait := self._wait(tokens)) > 0:
                self._changed.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(None if math.isinf(wait) else wait):
                        await self._changed.wait()
            turn = Turn(time.monotonic(), tokens)
            self._under_way += 1
            if self.rate.requests_per_minute is not None or self.rate.tokens_per_minute is not None:
                self._turns.append(turn)
            return turn

    def leave(self, turn: Turn, *, tokens: int | None = None) -> None:
        """A request has ended; ``tokens`` are those it really used, if that is known."""
        self._under_way -= 1
        if tokens is not None:
            turn.tokens = tokens
            self._window = min(self._window + _REGAINED / self._window, float(self.rate.concurrency))
        self._changed.set()

    def throttle(self, turn: Turn, wait_s: float | None) -> None:
        """The endpoint turned a request away, and perhaps said for how long.

        Requests that were sent before the last narrowing say nothing new of it.
        """
        now = time.monotonic()
        if turn.at > self._narrowed_at:
            self._window, self._narrowed_at = max(self._window / 2, 1.0), now
        if wait_s is not None:
            self._paused_until = max(self._paused_until, now + wait_s)

    def _wait(self, tokens: int) -> float:
        """Seconds before a request may begin: 0 now, infinite where one must end first."""
        now = time.monotonic()
        if self._under_way >= int(self._window):
            return math.inf
        while self._turns and self._turns[0].at <= now - self._minute_s:
            self._turns.popleft()
        waits = [self._paused_until - now, 0.0]
        most = self.rate.requests_per_minute
        if most is not None and len(self._turns) >= most:
            waits.append(self._turns[-most].at + self._minute_s - now)
        if self.rate.tokens_per_minute is not None:
            room = self.rate.tokens_per_minute - sum(turn.tokens for turn in self._turns) - tokens
            for turn in self._turns:  # a request that is larger than the rate is admitted alone
                if room >= 0:
                    break
                room += turn.tokens
                waits.append(turn.at + self._minute_s - now)
        return max(waits)


class Limiters:
    """The limiters of a campaign: roles that call one endpoint share one."""

    def __init__(self) -> None:
        self._found: dict[str, Limiter] = {}

    def of(self, identity: Mapping[str, Any], rate: Rate) -> Limiter:
        """The limiter of an endpoint.

        Args:
            identity: what names the endpoint and model in cache keys; models at one address share its limiter.
            rate: what the role's plan says of it.
        """
        place = identity.get("endpoint")
        key = digest(dict(identity) if place is None else place)
        known = self._found.get(key)
        if known is None:
            known = self._found[key] = Limiter(rate)
        else:
            known.share(rate)
        return known
