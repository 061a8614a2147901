"""The call cache and the record of what was paid for, in one SQLite file."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from lineage.canonical import canonical_json
from lineage.records import Usage
from students.transport.base import CallRequest, CallResult

BUSY_S: Final = 30.0
"""Seconds that another process may hold the file."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, identity TEXT NOT NULL, request TEXT NOT NULL, result TEXT NOT NULL, at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS paid (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, campaign TEXT NOT NULL, role TEXT NOT NULL, phase TEXT NOT NULL,
    candidate TEXT NOT NULL, usage TEXT NOT NULL, at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS paid_by_campaign ON paid (campaign, role);
"""


@dataclass(frozen=True, slots=True)
class Tags:
    """What a call is paid for: campaign, role, phase and candidate."""

    campaign: str
    role: str
    phase: str
    candidate: str = ""


class CallCache:
    """Completed answers by content, shared by all campaigns that name the same file.

    An answer and the note that it was paid for are one transaction, in WAL mode: what was answered before a process
    died is there when it comes back. Failures are never stored.

    Args:
        path: the SQLite file; created with its directory where it does not exist.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        self._prepare()

    def _prepare(self) -> None:
        """Set WAL mode and make the tables; SQLite does not wait by itself where two processes do so at once."""
        deadline = time.monotonic() + BUSY_S
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    self._db.close()
                    raise
                time.sleep(0.01)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def find(self, key: str) -> CallResult | None:
        """The answer stored under a key, marked as cached."""
        row = self._db.execute("SELECT result FROM calls WHERE key = ?", (key,)).fetchone()
        return None if row is None else CallResult.from_row(json.loads(row[0]))

    def store(
        self, key: str, identity: Mapping[str, Any], request: CallRequest, result: CallResult, tags: Tags
    ) -> CallResult:
        """Store an answer and note that it was paid for, in one transaction.

        Returns:
            The answer that is kept: the one that was there first, where another process paid for the same call.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        asked = {
            "messages": [dict(message) for message in request.messages],
            "sent": request.sent,
            "sample": request.sample,
            "replicate": request.replicate,
        }
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            stored = self._db.execute(
                "INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?)",
                (key, canonical_json(dict(identity)), canonical_json(asked), canonical_json(result.row()), at),
            )
            self._db.execute(
                "INSERT INTO paid (key, campaign, role, phase, candidate, usage, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (key, tags.campaign, tags.role, tags.phase, tags.candidate, canonical_json(result.usage.row()), at),
            )
        if stored.rowcount:
            return result
        kept = self.find(key)
        assert kept is not None, "what is stored is not deleted"
        return kept

    def paid(self, campaign: str, *, role: str | None = None) -> Usage:
        """Everything that a campaign paid for, in all of its processes."""
        query = "SELECT usage FROM paid WHERE campaign = ?1 AND (?2 IS NULL OR role = ?2) ORDER BY number"
        rows = self._db.execute(query, (campaign, role)).fetchall()
        return sum((Usage(**json.loads(row[0])) for row in rows), Usage())

    def paid_by_phase(self, campaign: str) -> dict[tuple[str, str], Usage]:
        """What a campaign paid for, by role and phase."""
        totals: dict[tuple[str, str], Usage] = {}
        rows = self._db.execute("SELECT role, phase, usage FROM paid WHERE campaign = ? ORDER BY number", (campaign,))
        for role, phase, usage in rows:
            totals[role, phase] = totals.get((role, phase), Usage()) + Usage(**json.loads(usage))
        return totals
