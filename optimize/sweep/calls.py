"""The calls of a trial: limits of the whole study, and no call paid for by two workers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from lineage.canonical import canonical_json
from lineage.records import Usage
from optimize.calling import CallLayer, _limits, is_free
from optimize.models import Model
from optimize.plan import Plan
from optimize.sweep.spend import SpendBook, StudySpend
from optimize.sweep.storage import ANSWERS, CLAIMS, WORKERS, StudyStorage
from students.transport import CallCache, CallFailure, CallRequest, CallResult, Calls, Tags

POLL_S: Final = 0.05
# No conflict is an error here: a server would log each of them, many times a second while a call is waited for.
_CLAIM: Final = sa.text(
    "INSERT INTO holdgate_claims (study, key, worker) VALUES (:study, :key, :worker) ON CONFLICT DO NOTHING"
)
_KEEP: Final = sa.text(
    "INSERT INTO holdgate_answers (study, key, result) VALUES (:study, :key, :result) ON CONFLICT DO NOTHING"
)


class Claims:
    """Which calls are under way, by key, among all workers of a study.

    So no two workers pay for the same call, as long as a worker that lives gives signs of life. One that was suspended
    for longer than the grace may find a call of its own made by another; the limits hold all the same.

    Args:
        storage: of the study.
        worker: who claims.
        grace_s: seconds without a sign of life after which another worker counts as dead, and its claims as nothing.
    """

    def __init__(self, storage: StudyStorage, worker: str, *, grace_s: float) -> None:
        self._storage, self._worker, self._grace_s = storage, worker, grace_s

    def take(self, key: str) -> bool:
        """Whether this worker may send a call; another may be sending it."""
        place = {"study": self._storage.study, "key": key}
        where = [CLAIMS.c[name] == value for name, value in place.items()]
        dead = sa.select(WORKERS.c.worker).where(
            WORKERS.c.study == self._storage.study, WORKERS.c.beat < self._storage.now - self._grace_s
        )
        free = sa.or_(CLAIMS.c.worker == self._worker, CLAIMS.c.worker.in_(dead))
        with self._storage.begin() as connection:
            if connection.execute(_CLAIM, {**place, "worker": self._worker}).rowcount:
                return True
            taken = connection.execute(sa.update(CLAIMS).where(*where, free).values(worker=self._worker))
            return bool(taken.rowcount)

    def drop(self, key: str) -> None:
        """Let a call go, which is answered, or was not sent."""
        with self._storage.begin() as connection:
            connection.execute(
                sa.delete(CLAIMS).where(
                    CLAIMS.c.study == self._storage.study, CLAIMS.c.key == key, CLAIMS.c.worker == self._worker
                )
            )


class StoredAnswers:
    """Answers that workers of a study have paid for, in its database.

    Args:
        storage: of the study.
    """

    def __init__(self, storage: StudyStorage) -> None:
        self._storage = storage

    def find(self, key: str) -> CallResult | None:
        """The answer stored under a key, marked as cached."""
        query = sa.select(ANSWERS.c.result).where(ANSWERS.c.study == self._storage.study, ANSWERS.c.key == key)
        with self._storage.begin() as connection:
            text = connection.execute(query).scalar_one_or_none()
        return None if text is None else CallResult.from_row(json.loads(text))

    def keep(self, key: str, result: CallResult) -> None:
        """Store an answer, if there is none: whoever's was first is kept."""
        row = {"study": self._storage.study, "key": key, "result": canonical_json(result.row())}
        with self._storage.begin() as connection:
            connection.execute(_KEEP, row)


class StudyCache(CallCache):
    """The call cache of a worker; with a database that machines share, what any of them paid for is found there.

    Args:
        path: the SQLite file of this machine.
        recorded: where answers are looked for that the file does not have.
        answers: the answers in the study's database, or None where all workers share the file.
    """

    def __init__(self, path: Path, *, recorded: tuple[Any, ...] = (), answers: StoredAnswers | None = None) -> None:
        super().__init__(path, recorded=(*recorded, *([] if answers is None else [answers])))
        self._answers = answers

    def store(
        self,
        key: str,
        identity: Mapping[str, Any],
        request: CallRequest,
        result: CallResult,
        tags: Tags,
        *,
        sent: int | None = None,
        charged: Usage | None = None,
    ) -> CallResult:
        """Store an answer where every worker finds it, and then with the note that it was paid for."""
        if self._answers is not None:
            self._answers.keep(key, result)
        return super().store(key, identity, request, result, tags, sent=sent, charged=charged)


class StudyCalls(Calls):
    """Calls that no other worker of the study is making at the same time: its answer is waited for instead.

    Args:
        transport: where answers come from.
        claims: which calls are under way among all workers; None where no call is paid for.
        cache: where answers are kept.
        options: see :class:`~students.transport.Calls`.
    """

    def __init__(self, transport: Any, *, claims: Claims | None, cache: CallCache, **options: Any) -> None:
        super().__init__(transport, cache=cache, **options)
        self._claims, self._answered = claims, cache

    async def _paid(self, key: str, request: CallRequest, tags: Tags) -> CallResult | CallFailure:
        if self._claims is None:
            return await super()._paid(key, request, tags)
        while not self._claims.take(key):
            await self._until_stopped(asyncio.sleep(POLL_S))
            if (answer := self._answered.find(key)) is not None:
                return answer
        try:
            if (answer := self._answered.find(key)) is not None:
                return answer
            return await super()._paid(key, request, tags)
        finally:
            self._claims.drop(key)


class TrialCalls(CallLayer):
    """What the roles of one trial call with: one cache, one spend, and one limiter an endpoint.

    Args:
        plan: of the trial.
        models: the models that it calls, by role.
        cache: where answers are kept.
        book: the spend of the study.
        claims: the calls under way among its workers.
        number: of the trial.
        campaign: whom calls are charged to; what the trial's earlier processes paid for counts against its plan's own
            limits.
    """

    def __init__(
        self,
        plan: Plan,
        models: Mapping[str, Model],
        *,
        cache: CallCache,
        book: SpendBook,
        claims: Claims,
        number: int,
        campaign: str,
    ) -> None:
        super().__init__(plan, models, cache=cache, campaign=campaign)
        self._claims = claims
        self._spend = StudySpend(
            book,
            number,
            _limits(plan.limits),
            roles={role: _limits(getattr(plan.limits, role)) for role in models},
            before={role: cache.paid(campaign, role=role) + cache.unanswered(campaign, role=role) for role in models},
        )

    def calls(self, role: str, *, concurrency: int | None = None) -> Calls:
        """The calls of a role, at most so many chains at once, or as many as the plan says."""
        model, settings = self._models[role], self._plan.roles[role]
        free = is_free(settings)
        return StudyCalls(
            model.transport,
            claims=None if free else self._claims,
            cache=self._cache,
            spend=self._spend,
            limiter=self._limiter(role),
            concurrency=concurrency or model.concurrency,
            price=model.price,
            free=free,
            deadline_s=settings.deadline_s,
        )
