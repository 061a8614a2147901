"""The trials of a study between its workers: whose each is, how it stands, and who takes on those of the dead."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import sqlalchemy as sa

from lineage.canonical import canonical_json
from lineage.errors import HoldgateError
from optimize.sweep.storage import RUNGS, STUDIES, TRIALS, WORKERS, StudyStorage

State = Literal["running", "waiting", "complete", "pruned", "failed"]
FINISHED: Final = ("complete", "pruned", "failed")


@dataclass(frozen=True, slots=True)
class Claim:
    """A trial that a worker has: ``attempts`` counts this one.

    ``optuna`` and ``parameters`` are None as long as its point is not chosen.
    """

    number: int
    attempts: int
    optuna: int | None = None
    parameters: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class TrialRow:
    """How a trial stands; ``record`` is the event of its outcome, from the ledger of its worker."""

    number: int
    state: State
    worker: str
    attempts: int
    parameters: Mapping[str, Any] | None
    record: Mapping[str, Any] | None


class TrialBook:
    """The trials of one study, as one of its workers uses them.

    Args:
        storage: of the study.
        worker: who uses it.
        grace_s: seconds without a sign of life after which another worker counts as dead.
    """

    def __init__(self, storage: StudyStorage, worker: str, *, grace_s: float) -> None:
        self._storage, self._worker, self._grace_s = storage, worker, grace_s

    def beat(self) -> None:
        """Give a sign of life."""
        mine = {"study": self._storage.study, "worker": self._worker}
        with self._storage.begin() as connection:
            beaten = connection.execute(
                sa.update(WORKERS).where(*_is(WORKERS, mine)).values(beat=self._storage.now)
            ).rowcount
            if not beaten:
                connection.execute(sa.insert(WORKERS).values(**mine, beat=self._storage.now))

    def claim(self, most: int) -> Claim | None:
        """The next trial for this worker.

        First one of its own that it died on, then one that somebody left, then one whose worker is dead, then a new
        one.

        Args:
            most: trials of the study.

        Returns:
            None where none is left; others may still be under way.
        """
        of_study = TRIALS.c.study == self._storage.study
        with self._storage.begin() as connection:
            dead = sa.select(WORKERS.c.worker).where(
                WORKERS.c.study == self._storage.study, WORKERS.c.beat < self._storage.now - self._grace_s
            )
            for condition in (
                sa.and_(TRIALS.c.state == "running", TRIALS.c.worker == self._worker),
                TRIALS.c.state == "waiting",
                sa.and_(TRIALS.c.state == "running", TRIALS.c.worker.in_(dead)),
            ):
                for row in connection.execute(sa.select(TRIALS).where(of_study, condition).order_by(TRIALS.c.number)):
                    taken = connection.execute(
                        sa.update(TRIALS)
                        .where(
                            of_study,
                            TRIALS.c.number == row.number,
                            TRIALS.c.state == row.state,
                            TRIALS.c.worker == row.worker,
                        )
                        .values(state="running", worker=self._worker, attempts=row.attempts + 1)
                    ).rowcount
                    if taken:
                        parameters = None if row.parameters is None else json.loads(row.parameters)
                        return Claim(row.number, row.attempts + 1, row.optuna, parameters)
        return self._new(most)

    def _new(self, most: int) -> Claim | None:
        """The next number; of two workers that take the same at once, one tries again."""
        while True:
            with self._storage.begin() as connection:
                count = sa.select(sa.func.count()).where(TRIALS.c.study == self._storage.study)
                number = connection.execute(count).scalar_one() + 1
            if number > most:
                return None
            row = {"study": self._storage.study, "number": number, "state": "running", "worker": self._worker}
            try:
                with self._storage.begin() as connection:
                    connection.execute(sa.insert(TRIALS).values(**row, attempts=1))
            except sa.exc.IntegrityError:
                continue
            return Claim(number, 1)

    def choose(self, number: int, *, optuna: int, parameters: Mapping[str, Any]) -> None:
        """Record the point of a trial."""
        self._update(number, optuna=optuna, parameters=canonical_json(dict(parameters)))

    def finish(self, number: int, state: State, record: Mapping[str, Any]) -> bool:
        """Record the outcome of a trial.

        Returns:
            False where it was given to another worker in the meantime, whose outcome counts.
        """
        return self._update(number, state=state, record=canonical_json(dict(record)))

    def leave(self, number: int) -> None:
        """Leave a trial to whoever comes next, which is no attempt that failed."""
        self._update(number, state="waiting", attempts=TRIALS.c.attempts - 1)

    def rung(self, number: int, groups: int, value: float) -> list[float]:
        """Publish a trial's value on a set of groups.

        Returns:
            Those of the other trials on this set.
        """
        place = {"study": self._storage.study, "groups": groups, "number": number}
        with self._storage.begin() as connection:
            if not connection.execute(sa.update(RUNGS).where(*_is(RUNGS, place)).values(value=value)).rowcount:
                connection.execute(sa.insert(RUNGS).values(**place, value=value))
        of_set = sa.select(RUNGS.c.value).where(
            RUNGS.c.study == self._storage.study, RUNGS.c.groups == groups, RUNGS.c.number != number
        )
        with self._storage.begin() as connection:
            return list(connection.execute(of_set.order_by(RUNGS.c.number)).scalars())

    def under_way(self) -> list[int]:
        """Numbers of the trials that have no outcome."""
        return [row.number for row in trial_rows(self._storage) if row.state not in FINISHED]

    def _update(self, number: int, **values: Any) -> bool:
        mine = {"study": self._storage.study, "number": number, "worker": self._worker}
        with self._storage.begin() as connection:
            return bool(connection.execute(sa.update(TRIALS).where(*_is(TRIALS, mine)).values(**values)).rowcount)


def register_study(storage: StudyStorage, fingerprint: str) -> bool:
    """Enter a study into its database, or find it there.

    Returns:
        False where a study of this name is there that is another.
    """
    row = {"study": storage.study, "fingerprint": fingerprint, "calls": 0, "tokens": 0, "usd": 0}
    try:
        with storage.begin() as connection:
            connection.execute(sa.insert(STUDIES).values(**row))
    except sa.exc.IntegrityError:
        with storage.begin() as connection:
            found = sa.select(STUDIES.c.fingerprint).where(STUDIES.c.study == storage.study)
            return bool(connection.execute(found).scalar_one() == fingerprint)
    return True


def trial_rows(storage: StudyStorage) -> list[TrialRow]:
    """All trials of a study that were begun, in order."""
    with storage.begin() as connection:
        found = connection.execute(
            sa.select(TRIALS).where(TRIALS.c.study == storage.study).order_by(TRIALS.c.number)
        ).all()
    return [
        TrialRow(
            row.number,
            row.state,
            row.worker,
            row.attempts,
            None if row.parameters is None else json.loads(row.parameters),
            None if row.record is None else json.loads(row.record),
        )
        for row in found
    ]


class Heartbeat:
    """Signs of life of a worker, from a thread of its own, as long as its process lives.

    Args:
        book: where they are given.
        every_s: seconds between them.
        orphaned: called once where the process that started this one is gone; None watches for none.
    """

    def __init__(self, book: TrialBook, *, every_s: float) -> None:
        self._book, self._every_s = book, every_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._book.beat()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._every_s):
            try:
                self._book.beat()
            except (HoldgateError, sa.exc.SQLAlchemyError):
                continue  # the worker itself says so if it lasts; were this to end, others would take its calls


def _is(table: sa.Table, values: Mapping[str, Any]) -> list[sa.ColumnElement[bool]]:
    return [table.c[name] == value for name, value in values.items()]
