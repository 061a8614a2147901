"""Hard spend limits of a campaign and of its roles: a call's worst case is reserved before, and settled after."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from lineage.errors import BudgetError
from lineage.records import Usage
from students.transport.base import CallRequest
from students.transport.price import Price

BYTES_A_TOKEN: Final = 1.0
"""Fewest bytes of UTF-8 that a prompt token is taken for when its worst case is reserved; no tokenizer has shorter."""
MESSAGE_TOKENS: Final = 16
"""Most tokens that a chat template adds to a message."""
UNCAPPED_TOKENS: Final = 131_072
"""Tokens that are reserved for the answer of a call that caps none."""
_UNITS_A_DOLLAR: Final = 10**12
"""Money is counted in whole units, so that no order of additions changes a sum."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits; None sets none. ``usd`` is in US dollars.

    ``wall_s`` is in seconds of one process: of a campaign since it began, of a role while calls of it are under way.
    No call begins after it.
    """

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    wall_s: float | None = None

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class LimitError(BudgetError):
    """A limit would be passed; ``limit`` names it as the plan does, such as ``limits.reflector.usd``."""

    def __init__(self, message: str, *, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


@dataclass(slots=True)
class _Account:
    """What counts against one set of limits; amounts are calls, tokens and units of money."""

    name: str
    limits: Limits
    spent: Usage = field(default_factory=Usage)
    begun: float | None = None
    busy_s: float = 0.0
    open: int = 0
    amounts: dict[str, int] = field(default_factory=lambda: {"calls": 0, "tokens": 0, "usd": 0})

    def check(self, worst: Usage, now: float) -> None:
        """Refuse a worst case that could pass a limit."""
        self.check_time(now)
        for name, value in _amounts(worst).items():
            limit = getattr(self.limits, name)
            if limit is None:
                continue
            if name == "usd" and worst.cost_usd is None:
                raise BudgetError(f"{self.name}.usd cannot be held: the call has no price; state one in the plan")
            if self.amounts[name] + value > round(limit * (_UNITS_A_DOLLAR if name == "usd" else 1)):
                raise self._reached(name, limit)

    def check_time(self, now: float) -> None:
        limit = self.limits.wall_s
        if limit is not None and self.busy_s + (0.0 if self.begun is None else now - self.begun) > limit:
            raise self._reached("wall_s", limit)

    def count(self, usage: Usage, sign: int = 1) -> None:
        for name, value in _amounts(usage).items():
            self.amounts[name] += sign * value

    def _reached(self, name: str, limit: float) -> LimitError:
        limited = f"{self.name}.{name}"
        way = "" if name == "wall_s" else f"raise {limited} and "  # wall time begins anew with each process
        return LimitError(
            f"{limited} = {limit:.10g} would be passed ({self.spent.calls} calls paid so far); everything "
            f"paid for is kept: {way}give the same command to go on",
            limit=limited,
        )


class Spend:
    """What a campaign has spent and reserved; concurrent calls together can never pass a limit.

    Args:
        limits: the limits of the campaign.
        roles: further limits of single roles.
        spent: what earlier processes of the campaign paid for by role, or may have paid for.
        clock: seconds, for wall time.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        roles: Mapping[str, Limits] | None = None,
        spent: Mapping[str, Usage] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._all = _Account("limits", limits, begun=clock())
        self._roles = {role: _Account(f"limits.{role}", found) for role, found in (roles or {}).items()}
        self._queue, self._settled = asyncio.Lock(), asyncio.Event()
        for role, usage in (spent or {}).items():
            for account in self._accounts(role):
                account.count(usage)
                account.spent = account.spent + usage

    def spent(self, role: str | None = None) -> Usage:
        """What was spent, by a role or in all; calls that may have been paid for are counted at their worst case."""
        return self._all.spent if role is None else self._accounts(role)[1].spent

    async def admit(self, role: str, worst: Usage) -> None:
        """Set the worst case of a call aside, first come, first served.

        Where only the worst cases of the calls under way leave no room for it, it waits for them to be settled.

        Raises:
            LimitError: with it, a limit could be passed; says which, and what to do.
        """
        async with self._queue:
            while True:
                try:
                    return self.reserve(role, worst)
                except LimitError as error:
                    name, _, what = error.limit.rpartition(".")
                    account = next(found for found in self._accounts(role) if found.name == name)
                    if not account.open or what == "wall_s":
                        raise
                self._settled.clear()
                await self._settled.wait()

    def reserve(self, role: str, worst: Usage) -> None:
        """Set the worst case of a call aside at once.

        Raises:
            LimitError: with it, a limit could be passed; nothing is reserved then.
        """
        now, accounts = self._clock(), self._accounts(role)
        for account in reversed(accounts):
            account.check(worst, now)
        for account in accounts:
            account.count(worst)
            account.open += 1
        if accounts[1].begun is None:
            accounts[1].begun = now

    def check_time(self, role: str) -> None:
        """Refuse a call that would begin after its time.

        Raises:
            LimitError: a limit of wall time is passed.
        """
        for account in self._accounts(role):
            account.check_time(self._clock())

    def settle(self, role: str, worst: Usage, charged: Usage | None) -> None:
        """Give a reservation back, and count what the call cost or may have cost (None: it surely cost nothing)."""
        accounts = self._accounts(role)
        for account in accounts:
            account.count(worst, -1)
            account.open -= 1
            if charged is not None:
                account.count(charged)
                account.spent = account.spent + charged
        of_role = accounts[1]
        if not of_role.open and of_role.begun is not None:
            of_role.busy_s += self._clock() - of_role.begun
            of_role.begun = None
        self._settled.set()

    def _accounts(self, role: str) -> tuple[_Account, _Account]:
        """The account of the campaign and that of a role."""
        if role not in self._roles:
            self._roles[role] = _Account(f"limits.{role}", Limits())
        return self._all, self._roles[role]


def worst_case(request: CallRequest, price: Price | None, *, free: bool) -> Usage:
    """The most that a call can use.

    Args:
        request: the call.
        price: what tokens cost, or None where it is not known or none applies.
        free: whether none applies.
    """
    prompt = sum(
        int(len(message["content"].encode("utf-8", "replace")) / BYTES_A_TOKEN) + MESSAGE_TOKENS
        for message in request.messages
    )
    sent = request.sent
    completion = int(sent.get("max_completion_tokens") or sent.get("max_tokens") or UNCAPPED_TOKENS)
    cost = (0.0 if free else None) if price is None else price.cost(prompt, completion, 0)
    return Usage(calls=1, prompt_tokens=prompt, completion_tokens=completion, cost_usd=cost)


def _amounts(usage: Usage) -> dict[str, int]:
    return {
        "calls": usage.calls,
        "tokens": usage.prompt_tokens + usage.completion_tokens,
        "usd": round((usage.cost_usd or 0.0) * _UNITS_A_DOLLAR),
    }
