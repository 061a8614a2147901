"""Hard spend limits: the worst case is reserved before a call is sent and settled after it."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import Any

from lineage.errors import BudgetError
from lineage.records import Usage


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a campaign; None sets none. ``wall_s`` is in seconds of one process, ``usd`` in US dollars."""

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    wall_s: float | None = None

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Spend:
    """What a campaign has spent and reserved; concurrent calls together can never pass a limit.

    Args:
        limits: the limits of the plan.
        spent: what earlier processes of the campaign paid for.
    """

    def __init__(self, limits: Limits, *, spent: Usage | None = None) -> None:
        self.limits = limits
        self.spent = spent or Usage()
        self._reserved = Usage()
        self._start = time.monotonic()

    def reserve(self, worst: Usage) -> None:
        """Set the worst case of a call aside.

        Raises:
            BudgetError: with it, a limit could be passed; says which, and what to do.
        """
        total = self.spent + self._reserved + worst
        used: dict[str, float] = {
            "calls": total.calls,
            "tokens": total.prompt_tokens + total.completion_tokens,
            "usd": total.cost_usd or 0.0,
            "wall_s": time.monotonic() - self._start,
        }
        for name, value in used.items():
            limit = getattr(self.limits, name)
            if limit is not None and value > limit:
                raise BudgetError(
                    f"limits.{name} = {limit:g} would be passed ({self.spent.calls} calls paid so far); everything "
                    f"paid for is kept: raise limits.{name} and give the same command to go on"
                )
        self._reserved = self._reserved + worst

    def settle(self, worst: Usage, actual: Usage | None) -> None:
        """Give a reservation back, and count what the call really cost (None: it was not answered)."""
        self._reserved = Usage(
            self._reserved.calls - worst.calls,
            self._reserved.prompt_tokens - worst.prompt_tokens,
            self._reserved.completion_tokens - worst.completion_tokens,
            cost_usd=(self._reserved.cost_usd or 0.0) - (worst.cost_usd or 0.0),
        )
        if actual is not None:
            self.spent = self.spent + actual
