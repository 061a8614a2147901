"""What a study may spend: every call's worst case is reserved in one place before it is sent, by whichever worker.

The guarantee: at any moment, what was paid for, plus the worst cases of all calls under way, plus the worst cases of
calls that a dead worker left under way, is at most each limit. So no limit is passed, however many workers there are
and whenever they are killed, as long as no call uses more than the worst case that it was reserved with (its prompt's
bytes as tokens, and its answer cap). Where a provider charges more than that, the limit can be passed by this excess of
the calls under way, and by nothing else. Reserving is one statement of the database, which no two workers carry out at
once. A power failure, other than a kill, may cost SQLite its last transactions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from lineage.errors import BudgetError
from lineage.records import Usage
from optimize.sweep.storage import SPEND, WORKERS, StudyStorage
from students.transport import LimitError, Limits, Spend
from students.transport.spend import _UNITS_A_DOLLAR, _amounts

POLL_S: Final = 0.05
OF_STUDY: Final = "study."
"""What the names of the study's limits begin with, beside those of a trial's own plan."""

_COUNTED: Final = tuple(column.name for column in SPEND.c if not column.primary_key)
# Written out, as they are carried out twice a call: to build them anew takes longer than the database does.
_OF_ALL: Final = "UPDATE holdgate_studies SET calls = calls + :calls, tokens = tokens + :tokens, usd = usd + :usd"
_SETTLE: Final = sa.text(f"{_OF_ALL} WHERE study = :study")
_HELD: Final = sa.text("SELECT calls, tokens, usd FROM holdgate_studies WHERE study = :study")
_ADD: Final = sa.text(
    f"UPDATE holdgate_spend SET {', '.join(f'{name} = {name} + :{name}' for name in _COUNTED)} "  # noqa: S608 - names
    "WHERE study = :study AND worker = :worker AND number = :number AND role = :role"
)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a study, or a part of it, was charged.

    Attributes:
        paid: calls that were answered.
        unanswered: the most that calls may have cost which are under way, or which a dead worker left under way.
    """

    paid: Usage
    unanswered: Usage

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {"paid": self.paid.row(), "unanswered": self.unanswered.row()}


class SpendBook:
    """The spend of one study, as one of its workers charges it.

    Args:
        storage: of the study.
        worker: who is charging.
        limits: of the whole study.
        grace_s: seconds without a sign of life after which another worker counts as dead.
    """

    def __init__(self, storage: StudyStorage, worker: str, limits: Limits, *, grace_s: float) -> None:
        self._storage, self._worker, self.limits, self._grace_s = storage, worker, limits, grace_s
        self._most = _limited(limits)
        room = "".join(f" AND {name} + :{name} <= :most_{name}" for name in self._most)
        self._reserve = sa.text(f"{_OF_ALL} WHERE study = :study{room}")

    def reserve(self, number: int, role: str, worst: Usage) -> LimitError | None:
        """Set the worst case of a call of a trial aside.

        Returns:
            The limit that leaves no room for it, in which case nothing is set aside.

        Raises:
            BudgetError: a limit in US dollars cannot be held, as the call has no price.
        """
        asked = _amounts(worst)
        if self.limits.usd is not None and worst.cost_usd is None:
            raise BudgetError("the study's limits.usd cannot be held: the call has no price; state one in the plan")
        room = {f"most_{name}": most for name, most in self._most.items()}
        with self._storage.begin() as connection:
            if connection.execute(self._reserve, {"study": self._storage.study, **asked, **room}).rowcount:
                self._add(connection, number, role, {f"open_{name}": value for name, value in asked.items()})
                return None
            held = connection.execute(_HELD, {"study": self._storage.study}).one()._mapping
        reached = next((name for name, most in self._most.items() if held[name] + asked[name] > most), None)
        if reached is None:  # there is room now: another call was settled between the two statements
            return self.reserve(number, role, worst)
        limit = getattr(self.limits, reached)
        return LimitError(
            f"limits.{reached} = {limit:.10g} of the study would be passed ({held['calls']} calls paid for or under "
            f"way); everything paid for is kept: raise limits.{reached} in the study plan and give the same command "
            "to go on",
            limit=f"{OF_STUDY}limits.{reached}",
        )

    def settle(self, number: int, role: str, worst: Usage, charged: Usage | None) -> None:
        """Give a reservation back, and count what the call cost or may have cost (None: it surely cost nothing)."""
        asked, paid = _amounts(worst), charged or Usage()
        cost = _amounts(paid)
        change = {
            **{f"open_{name}": -value for name, value in asked.items()},
            "calls": paid.calls,
            "prompt_tokens": paid.prompt_tokens,
            "completion_tokens": paid.completion_tokens,
            "reasoning_tokens": paid.reasoning_tokens,
            "cached_tokens": paid.cached_tokens,
            "usd": cost["usd"],
            "priced": int(paid.cost_usd is not None),
        }
        with self._storage.begin() as connection:
            back = {name: cost[name] - asked[name] for name in asked}
            connection.execute(_SETTLE, {"study": self._storage.study, **back})
            self._add(connection, number, role, change)

    def may_free(self) -> bool:
        """Whether a call of a worker that lives is under way, whose settling may leave room."""
        alive = sa.select(WORKERS.c.worker).where(
            WORKERS.c.study == self._storage.study, WORKERS.c.beat >= self._storage.now - self._grace_s
        )
        under_way = sa.select(sa.func.coalesce(sa.func.sum(SPEND.c.open_calls), 0)).where(
            SPEND.c.study == self._storage.study, SPEND.c.worker.in_(alive)
        )
        with self._storage.begin() as connection:
            return int(connection.execute(under_way).scalar_one()) > 0

    def inherit(self) -> None:
        """Count the calls that an earlier process of this worker left under way as perhaps paid for, at their worst."""
        mine = (SPEND.c.study == self._storage.study, SPEND.c.worker == self._worker)
        names = ("calls", "tokens", "usd")
        moved = {f"lost_{name}": SPEND.c[f"lost_{name}"] + SPEND.c[f"open_{name}"] for name in names}
        with self._storage.begin() as connection:
            connection.execute(sa.update(SPEND).where(*mine).values(**moved, **{f"open_{name}": 0 for name in names}))

    def _add(self, connection: sa.Connection, number: int, role: str, change: Mapping[str, int]) -> None:
        place = {"study": self._storage.study, "worker": self._worker, "number": number, "role": role}
        row = {**dict.fromkeys(_COUNTED, 0), **change, **place}
        if not connection.execute(_ADD, row).rowcount:
            connection.execute(sa.insert(SPEND).values(**row))


def spent(storage: StudyStorage, *, number: int | None = None) -> Spent:
    """What a study, or one of its trials, was charged."""
    where = [SPEND.c.study == storage.study, *([] if number is None else [SPEND.c.number == number])]
    sums = [sa.func.coalesce(sa.func.sum(column), 0).label(column.name) for column in SPEND.c if not column.primary_key]
    with storage.begin() as connection:
        row = connection.execute(sa.select(*sums).where(*where)).one()._mapping
    of = {name: int(value) for name, value in row.items()}
    unanswered = of["open_usd"] + of["lost_usd"]
    return Spent(
        Usage(
            of["calls"],
            of["prompt_tokens"],
            of["completion_tokens"],
            of["reasoning_tokens"],
            of["cached_tokens"],
            of["usd"] / _UNITS_A_DOLLAR if of["priced"] else None,
        ),
        Usage(
            of["open_calls"] + of["lost_calls"],
            of["open_tokens"] + of["lost_tokens"],  # a worst case does not tell the prompt from the answer
            cost_usd=unanswered / _UNITS_A_DOLLAR if unanswered else None,
        ),
    )


class StudySpend(Spend):
    """The spend of one trial: its plan's own limits hold for it, and those of the study over all trials.

    Args:
        book: of the study.
        number: of the trial.
        limits: of the trial's own plan.
        roles: of its roles.
        before: what its earlier processes paid for, or may have paid for, by role.
    """

    def __init__(
        self, book: SpendBook, number: int, limits: Limits, *, roles: Mapping[str, Limits], before: Mapping[str, Usage]
    ) -> None:
        super().__init__(limits, roles=roles, spent=before)
        self._book, self._number = book, number

    async def admit(self, role: str, worst: Usage) -> None:
        """Set the worst case of a call aside, in the trial and in the study.

        Where only calls under way leave no room for it, whosever they are, it waits for them to be settled.

        Raises:
            LimitError: with it, a limit could be passed; says which, and what to do.
        """
        await super().admit(role, worst)
        try:
            while (refused := self._book.reserve(self._number, role, worst)) is not None:
                if not self._book.may_free():
                    raise refused
                await asyncio.sleep(POLL_S)
        except BaseException:
            super().settle(role, worst, None)
            raise

    def settle(self, role: str, worst: Usage, charged: Usage | None) -> None:
        """Give a reservation back in both, and count what the call cost or may have cost."""
        self._book.settle(self._number, role, worst, charged)
        super().settle(role, worst, charged)


def _limited(limits: Limits) -> dict[str, int]:
    """The limits that there are, in whole units."""
    stated = {"calls": limits.calls, "tokens": limits.tokens, "usd": limits.usd}
    return {
        name: round(limit * (_UNITS_A_DOLLAR if name == "usd" else 1))
        for name, limit in stated.items()
        if limit is not None
    }
