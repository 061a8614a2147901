"""Replay: answers only from what was recorded, so that a campaign can be run again without its model or any key."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from lineage.canonical import canonical_json
from lineage.errors import CacheError, CallError
from students.transport.base import CallRequest, CallResult, request_key
from students.transport.cache_file import read_result, readable_database, require_tables

SHOWN: Final = 160
"""Characters of a request that a message shows."""


class RecordedAnswers:
    """The answers of a recorded campaign: a call cache, read and never written, or an export of one (JSON lines).

    Args:
        path: the ``calls.sqlite``, or a file that ``holdgate cache export`` wrote with its texts.

    Raises:
        CacheError: the file is neither.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db: sqlite3.Connection | None = None
        self._lines: dict[str, str] = {}
        if is_database(path):
            self._db = open_readonly(path)
        else:
            self._lines = dict(_exported(path))

    def find(self, key: str) -> CallResult | None:
        """The answer recorded under a key, marked as cached.

        Raises:
            CacheError: the record of this call was edited.
        """
        if self._db is None:
            text = self._lines.get(key)
            return None if text is None else read_result(self.path, key, text)
        with readable_database(self.path):
            row = self._db.execute("SELECT identity, request, result FROM calls WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        if not is_intact(key, row[0], row[1]):
            raise CacheError(f"{self.path}: the request under {key} was edited; see holdgate cache verify {self.path}")
        return read_result(self.path, key, row[2])

    def count(self, identity: Mapping[str, Any]) -> int | None:
        """Answers of the endpoint with this identity; None for an export, where they are not told apart."""
        if self._db is None:
            return None
        query = "SELECT count(*) FROM calls WHERE identity = ?"
        with readable_database(self.path):
            return int(self._db.execute(query, (canonical_json(dict(identity)),)).fetchone()[0])

    def version(self, identity: Mapping[str, Any]) -> str | None:
        """The model version that the endpoint with this identity stated last, if any of its answers is here."""
        if self._db is None:
            return None
        query = "SELECT key, result FROM calls WHERE identity = ? ORDER BY at DESC, key LIMIT 1"
        with readable_database(self.path):
            row = self._db.execute(query, (canonical_json(dict(identity)),)).fetchone()
        return None if row is None else read_result(self.path, *row).version

    def close(self) -> None:
        """Close the file."""
        if self._db is not None:
            self._db.close()


class ReplayTransport:
    """Stands in for another transport, and answers only what that one was recorded to answer.

    Args:
        recorded: the recorded answers.
        identity: identity of the transport that it stands in for, so that keys and hashes are those of the original.
        serial: whether that one takes one call at a time.
        simulated: whether that one answers from a formula.
    """

    def __init__(
        self,
        recorded: RecordedAnswers,
        *,
        identity: Mapping[str, Any],
        serial: bool = False,
        simulated: bool = False,
    ) -> None:
        self.recorded = recorded
        self.identity, self.serial, self.simulated = dict(identity), serial, simulated

    async def complete(self, request: CallRequest) -> CallResult:
        """The recorded answer, marked as cached.

        Raises:
            CallError: the call is not recorded.
        """
        key = request.key(self.identity)
        if (found := self.recorded.find(key)) is not None:
            return found
        told = {**request.row(), "messages": request.messages[-1]["content"] if request.messages else ""}
        shown = ", ".join(f"{name} {_short(value)}" for name, value in told.items() if value is not None)
        raise CallError(
            f"{self.recorded.path} has no answer to call {key} of {canonical_json(self.identity)} ({shown}): replay "
            "the plan, lock, corpus and version that were recorded, or ask the model itself",
            reason="not_recorded",
            transient=False,
        )

    async def prime(self, request: CallRequest) -> None:
        """Nothing to do: recorded answers are what they are."""

    async def aclose(self) -> None:
        """Close the file."""
        self.recorded.close()


def is_database(path: Path) -> bool:
    """Whether a file begins as a SQLite database does.

    Raises:
        CacheError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError as error:
        raise CacheError(
            f"{path}: cannot be read ({error.strerror}); name a calls.sqlite, or an export of one"
        ) from error


def open_readonly(path: Path) -> sqlite3.Connection:
    """Open a call cache for reading.

    Raises:
        CacheError: the file is no call cache.
    """
    address = path.absolute().as_uri()
    # Without its log, a file in a directory that cannot be written can only be opened as one that does not change.
    ways = ("mode=ro",) if path.with_name(f"{path.name}-wal").exists() else ("mode=ro", "immutable=1")
    with readable_database(path):
        for way in ways:
            db = sqlite3.connect(f"{address}?{way}", uri=True, isolation_level=None, check_same_thread=False)
            try:
                require_tables(db, path)
                return db
            except sqlite3.OperationalError:
                db.close()
                if way == ways[-1]:
                    raise
            except BaseException:
                db.close()
                raise
    raise AssertionError("the last way returns or raises")


def is_intact(key: str, identity: str, request: str) -> bool:
    """Whether a recorded request is the one that its key stands for."""
    try:
        return request_key(json.loads(identity), json.loads(request)) == key
    except (ValueError, TypeError):
        return False


def _exported(path: Path) -> list[tuple[str, str]]:
    """Keys and answers of an export.

    Raises:
        CacheError: naming the line that is none of an export's, or was edited, or has hashes in place of texts.
    """
    found = []
    with closing(path.open(encoding="utf-8", newline="\n")) as file:
        try:
            for number, line in enumerate(file, start=1):
                row = json.loads(line)
                if row.get("texts") is False:
                    raise CacheError(f"{path}:{number}: an export of hashes has no answers; export it with its texts")
                if request_key(row["identity"], row["request"]) != row["key"]:
                    raise CacheError(
                        f"{path}:{number}: the request was edited: its key does not match; export it again"
                    )
                text = canonical_json(row["result"])
                read_result(path, row["key"], text)
                found.append((row["key"], text))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise CacheError(
                f"{path}: is neither a call cache nor an export of one ({type(error).__name__}: {error}); name a "
                "calls.sqlite, or what holdgate cache export wrote"
            ) from error
    return found


def _short(value: object) -> str:
    text = value if isinstance(value, str) else canonical_json(value)
    return repr(text if len(text) <= SHOWN else text[: SHOWN // 2] + " … " + text[-SHOWN // 2 :])
