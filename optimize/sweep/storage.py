"""Where a study is coordinated: one database for Optuna's trials and for ours, SQLite or PostgreSQL."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

import optuna
import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from lineage.errors import InputError

BUSY_S: Final = 30.0
"""Seconds that another process may hold the database."""
Found = TypeVar("Found")

TABLES: Final = sa.MetaData()
STUDIES: Final = sa.Table(
    "holdgate_studies",
    TABLES,
    sa.Column("study", sa.String(200), primary_key=True),
    sa.Column("fingerprint", sa.String(64), nullable=False),
    sa.Column("calls", sa.BigInteger, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("usd", sa.BigInteger, nullable=False),
)
"""One row a study: what is spent and reserved of its limits, by all workers together; ``usd`` in units of money."""
WORKERS: Final = sa.Table(
    "holdgate_workers",
    TABLES,
    sa.Column("study", sa.String(200), primary_key=True),
    sa.Column("worker", sa.String(64), primary_key=True),
    sa.Column("beat", sa.Float, nullable=False),
)
TRIALS: Final = sa.Table(
    "holdgate_trials",
    TABLES,
    sa.Column("study", sa.String(200), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("worker", sa.String(64), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("optuna", sa.Integer),
    sa.Column("parameters", sa.Text),
    sa.Column("record", sa.Text),
)
"""``optuna`` is the id of its trial there; ``record`` the event with its outcome, from the ledger of its worker."""
RUNGS: Final = sa.Table(
    "holdgate_rungs",
    TABLES,
    sa.Column("study", sa.String(200), primary_key=True),
    sa.Column("groups", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("value", sa.Float, nullable=False),
)
SPEND: Final = sa.Table(
    "holdgate_spend",
    TABLES,
    sa.Column("study", sa.String(200), primary_key=True),
    sa.Column("worker", sa.String(64), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("role", sa.String(32), primary_key=True),
    *(
        sa.Column(name, sa.BigInteger, nullable=False, server_default="0")
        for name in (
            *("calls", "prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens", "usd", "priced"),
            *("open_calls", "open_tokens", "open_usd", "lost_calls", "lost_tokens", "lost_usd"),
        )
    ),
)
"""By worker, trial and role: what was paid for, what is reserved for calls under way, and what a dead worker left."""
CLAIMS: Final = sa.Table(
    "holdgate_claims",
    TABLES,
    sa.Column("study", sa.String(200), primary_key=True),
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("worker", sa.String(64), nullable=False),
)
"""Calls under way by their keys, so that no two workers pay for the same."""
ANSWERS: Final = sa.Table(
    "holdgate_answers",
    TABLES,
    sa.Column("study", sa.String(200), primary_key=True),
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("result", sa.Text, nullable=False),
)
"""Answers that were paid for, where workers may be on machines that share no call cache."""


class StudyStorage:
    """The database of one study, open in one process.

    Args:
        url: ``sqlite:///FILE`` or ``postgresql://USER:PASSWORD@HOST:PORT/DATABASE``.
        study: name of the study in it.

    Raises:
        InputError: the database is of another kind, its driver is not installed, or it cannot be reached.
    """

    def __init__(self, url: str, study: str) -> None:
        self.url, self.study = database_url(url), study
        self.engine = open_engine(self.url)
        self._optuna: Any = None
        try:
            self.patiently(lambda: TABLES.create_all(self.engine))
        except BaseException:
            self.close()
            raise

    @property
    def shared(self) -> bool:
        """Whether workers may be on several machines, which share no file."""
        return self.url.get_backend_name() != "sqlite"

    @property
    def words(self) -> str:
        """The address, without a password."""
        return self.url.render_as_string(hide_password=True)

    def close(self) -> None:
        """Release the connections."""
        self.engine.dispose()
        if self._optuna is not None:
            self._optuna.remove_session()
            self._optuna.engine.dispose()

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """One transaction."""
        try:
            with self.engine.begin() as connection:
                yield connection
        except sa.exc.OperationalError as error:
            raise InputError(f"{self.words}: the study's database does not answer ({error.orig}); see to it") from error

    @property
    def now(self) -> sa.ColumnElement[float]:
        """Seconds by the clock of the database, which all workers have in common."""
        if self.shared:
            return sa.cast(sa.func.extract("epoch", sa.func.clock_timestamp()), sa.Float)
        return (sa.func.julianday("now") - 2440587.5) * 86400.0

    def optuna_study(self, directions: list[str]) -> Any:
        """Optuna's study of the same name, made where there is none."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)

        def made() -> Any:
            arguments = {"connect_args": {"timeout": BUSY_S}} if not self.shared else {"pool_pre_ping": True}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                self._optuna = optuna.storages.RDBStorage(
                    self.url.render_as_string(hide_password=False), engine_kwargs=arguments
                )
                return optuna.create_study(
                    study_name=self.study, storage=self._optuna, directions=directions, load_if_exists=True
                )

        return self.patiently(made)

    def patiently(self, make: Callable[[], Found]) -> Found:
        """Make tables; of two processes that make the same at once, one fails and finds them at its next try."""
        deadline = time.monotonic() + BUSY_S / 3
        while True:
            try:
                return make()
            except (SQLAlchemyError, optuna.exceptions.StorageInternalError) as error:
                if time.monotonic() > deadline or _unreachable(error):
                    raise InputError(
                        f"{self.words}: the study's database cannot be used "
                        f"({str(getattr(error, 'orig', None) or error).strip()}); start it, or correct --storage"
                    ) from error
            time.sleep(0.1)


def database_url(text: str) -> URL:
    """The address of a database, with the driver that is used for it.

    Raises:
        InputError: it is neither SQLite nor PostgreSQL, or the driver is not installed.
    """
    try:
        url = make_url(text)
    except ArgumentError as error:
        raise InputError(
            "--storage must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/DATABASE; what was given is no "
            "address of a database"
        ) from error
    backend = url.get_backend_name()
    if backend == "sqlite":
        if not url.database or url.database == ":memory:":
            raise InputError("--storage sqlite:///FILE needs a file: a study outlives its process")
        return url.set(drivername="sqlite")
    if backend != "postgresql":
        raise InputError(f"--storage must be sqlite or postgresql, got {backend}")
    if find_spec("psycopg") is None:
        raise InputError("--storage postgresql needs its driver: install holdgate with the extra postgresql")
    return url.set(drivername="postgresql+psycopg")


def open_engine(url: URL) -> Engine:
    """An engine whose transactions are on disk when they are committed."""
    if url.get_backend_name() != "sqlite":
        return sa.create_engine(url, pool_pre_ping=True, pool_size=4)
    Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(url, connect_args={"timeout": BUSY_S})

    @sa.event.listens_for(engine, "connect")
    def _wal(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")

    return engine


def _unreachable(error: Exception) -> bool:
    """Whether a server cannot be connected to, which waiting does not mend."""
    return (
        isinstance(error, sa.exc.OperationalError)
        and error.connection_invalidated is False
        and ("connection failed" in str(error) or "unable to open" in str(error))
    )
