"""The call cache and the record of what was paid for, in one SQLite file."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from lineage.canonical import canonical_json
from lineage.records import Usage
from students.transport.base import CallRequest, CallResult
from students.transport.cache_file import BUSY_S, SCHEMA, read_result, readable_database, require_tables


@dataclass(frozen=True, slots=True)
class Tags:
    """What a call is paid for: campaign, role, phase and candidate."""

    campaign: str
    role: str
    phase: str
    candidate: str = ""


class Recorded(Protocol):
    """Answers that were recorded elsewhere."""

    def find(self, key: str) -> CallResult | None:
        """The answer recorded under a key, marked as cached."""
        ...


class CallCache:
    """Completed answers by content, shared by all campaigns that name the same file.

    An answer and the note that it was paid for are one transaction, in WAL mode: what was answered before a process
    died is there when it comes back. Failures are never stored.

    Args:
        path: the SQLite file; created with its directory where it does not exist.
        recorded: where answers are looked for that the file does not have; they are not copied into it.

    Raises:
        CacheError: the file is no call cache; nothing is written to it.
    """

    def __init__(self, path: Path, *, recorded: Sequence[Recorded] = ()) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._recorded = tuple(recorded)
        with readable_database(path):
            self._db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def _prepare(self) -> None:
        """Set WAL mode and make the tables; SQLite does not wait by itself where two processes do so at once."""
        deadline = time.monotonic() + BUSY_S
        while True:
            try:
                require_tables(self._db, self.path, empty_too=True)
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._db.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
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
        with readable_database(self.path):
            row = self._db.execute("SELECT result FROM calls WHERE key = ?", (key,)).fetchone()
        if row is not None:
            return read_result(self.path, key, row[0])
        return next((found for source in self._recorded if (found := source.find(key)) is not None), None)

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
        """Store an answer and note that it was paid for, in one transaction.

        Args:
            key: the call's key.
            identity: the endpoint's.
            request: what was asked.
            result: the answer.
            tags: what it was paid for.
            sent: what :meth:`note_sent` gave.
            charged: what counts as paid, where that is not what the answer says that it used.

        Returns:
            The answer that is kept: the one that was there first, where another process paid for the same call.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = (key, canonical_json(dict(identity)), canonical_json(request.row()), canonical_json(result.row()), at)
        paid = charged or result.usage
        with readable_database(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            stored = self._db.execute("INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?)", row)
            self._db.execute(
                "INSERT INTO paid (key, campaign, role, phase, candidate, usage, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (key, tags.campaign, tags.role, tags.phase, tags.candidate, canonical_json(paid.row()), at),
            )
            if sent is not None:
                self._db.execute("DELETE FROM unanswered WHERE number = ?", (sent,))
            if stored.rowcount:
                return result
            kept = self._db.execute("SELECT result FROM calls WHERE key = ?", (key,)).fetchone()
        return read_result(self.path, key, kept[0])

    def note_sent(self, key: str, tags: Tags, worst: Usage) -> int:
        """Note that a call is about to be sent: should this process die, it may be paid for without an answer.

        Args:
            key: its key.
            tags: what it is paid for.
            worst: the most that it can cost.

        Returns:
            The number of the note, which :meth:`store` or :meth:`note_unpaid` takes back.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = (key, tags.campaign, tags.role, tags.phase, tags.candidate, canonical_json(worst.row()), "under way", at)
        with readable_database(self.path):
            number = self._db.execute(
                "INSERT INTO unanswered (key, campaign, role, phase, candidate, worst, reason, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            ).lastrowid
        assert number is not None, "a row was inserted"
        return number

    def note_unanswered(self, sent: int, reason: str) -> None:
        """Note why a call that was sent, and may be paid for, has no answer."""
        with readable_database(self.path):
            self._db.execute("UPDATE unanswered SET reason = ? WHERE number = ?", (reason, sent))

    def note_unpaid(self, sent: int) -> None:
        """Take back the note on a call that was turned away, and so is not paid for."""
        with readable_database(self.path):
            self._db.execute("DELETE FROM unanswered WHERE number = ?", (sent,))

    def unanswered(self, campaign: str, *, role: str | None = None) -> Usage:
        """The most that a campaign may have paid for calls that it has no answer of, in all of its processes."""
        query = "SELECT worst FROM unanswered WHERE campaign = ?1 AND (?2 IS NULL OR role = ?2) ORDER BY number"
        rows = self._db.execute(query, (campaign, role)).fetchall()
        return sum((Usage(**json.loads(row[0])) for row in rows), Usage())

    def paid_by_candidate(self, campaign: str) -> dict[tuple[str, str, str], Usage]:
        """What a campaign paid for, by role, phase and candidate id (empty where a call is for none)."""
        totals: dict[tuple[str, str, str], Usage] = {}
        query = "SELECT role, phase, candidate, usage FROM paid WHERE campaign = ? ORDER BY number"
        for *place, usage in self._db.execute(query, (campaign,)):
            key = (place[0], place[1], place[2])
            totals[key] = totals.get(key, Usage()) + Usage(**json.loads(usage))
        return totals

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
