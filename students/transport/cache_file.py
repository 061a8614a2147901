"""The file of the call cache: its tables, and what is said of a file that cannot be used."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lineage.errors import CacheError
from students.transport.base import CallResult

BUSY_S: Final = 30.0
"""Seconds that another process may hold the file."""
TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "calls": ("key", "identity", "request", "result", "at"),
    "paid": ("number", "key", "campaign", "role", "phase", "candidate", "usage", "at"),
}
"""The tables of a call cache and their columns."""
SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, identity TEXT NOT NULL, request TEXT NOT NULL, result TEXT NOT NULL, at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS paid (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, campaign TEXT NOT NULL, role TEXT NOT NULL, phase TEXT NOT NULL,
    candidate TEXT NOT NULL, usage TEXT NOT NULL, at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS paid_by_campaign ON paid (campaign, role);
CREATE TABLE IF NOT EXISTS unanswered (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, campaign TEXT NOT NULL, role TEXT NOT NULL, phase TEXT NOT NULL,
    candidate TEXT NOT NULL, worst TEXT NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL
);
"""
_DAMAGED: Final = frozenset({sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT})


@contextmanager
def readable_database(path: Path) -> Iterator[None]:
    """Say which file it is that SQLite cannot use.

    Raises:
        CacheError: the file is damaged or no database, cannot be opened or written, or is held by another process.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        raise CacheError(
            f"{path}: cannot be used ({error}); see that nothing else holds it, that it may be written, and that the "
            "disk has room; everything paid for is kept"
        ) from error
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF not in _DAMAGED:
            raise
        raise CacheError(
            f"{path}: is not a readable call cache ({error}); restore it from a copy, or name another file: without it "
            "every call is paid for again"
        ) from error


def require_tables(db: sqlite3.Connection, path: Path, *, empty_too: bool = False) -> None:
    """Check that a database is a call cache.

    Args:
        db: the open database.
        path: its file, for the message.
        empty_too: whether a database without any table will do.

    Raises:
        CacheError: it is something else.
    """
    names = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if empty_too and not names:
        return
    for table, columns in TABLES.items():
        if columns != tuple(row[1] for row in db.execute(f"PRAGMA table_info({table})")):
            raise CacheError(
                f"{path}: is a database, but no call cache (it has {', '.join(sorted(names)) or 'no tables'}); name "
                "the calls.sqlite beside a run directory"
            )


def read_result(path: Path, key: str, text: str) -> CallResult:
    """The answer in a row of the cache.

    Raises:
        CacheError: the row holds no answer.
    """
    try:
        return CallResult.from_row(json.loads(text))
    except (ValueError, LookupError, TypeError) as error:
        raise CacheError(
            f"{path}: the answer under {key} cannot be read ({type(error).__name__}: {error}); restore the file from a "
            "copy, or remove the answer and pay for it again: holdgate cache prune --damaged"
        ) from error
