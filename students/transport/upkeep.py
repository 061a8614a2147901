"""Upkeep of a call cache: what is in it, whether it is sound, and removing from it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from lineage.errors import CacheError
from lineage.records import Usage
from students.transport.base import CallResult
from students.transport.cache_file import BUSY_S, readable_database, require_tables
from students.transport.replay import is_database, is_intact, open_readonly


@dataclass(frozen=True, slots=True)
class PaidRow:
    """What one campaign paid for in one role.

    ``candidates`` counts those whose calls a further run would find here; ``unpriced`` the calls whose price is not
    known, which are missing from ``usage.cost_usd``.
    """

    campaign: str
    role: str
    candidates: int
    usage: Usage
    unpriced: int


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Contents of a call cache: ``answers`` that are kept, what was ``paid`` for, and ``size`` in bytes on disk.

    ``twice`` counts calls that were paid for though another process had the same one under way, ``unanswered`` those
    that may have been paid for and have no answer.
    """

    path: Path
    size: int
    answers: int
    twice: int
    unanswered: int
    first: str | None
    last: str | None
    paid: tuple[PaidRow, ...]


@dataclass(frozen=True, slots=True)
class Flaw:
    """An answer that is not what its key stands for, or cannot be read."""

    key: str
    words: str


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed, or would be: answers, notes of payment, and the bytes by which the file shrank."""

    answers: int
    notes: int
    campaigns: tuple[str, ...]
    freed: int


def cache_stats(path: Path) -> CacheStats:
    """What a call cache holds.

    Raises:
        CacheError: the file is no call cache.
    """
    totals: dict[tuple[str, str], PaidRow] = {}
    with closing(existing_cache(path)) as db, readable_database(path):
        answers, first, last = db.execute("SELECT count(*), min(at), max(at) FROM calls").fetchone()
        twice = db.execute("SELECT count(*) - count(DISTINCT key) FROM paid").fetchone()[0]
        counts = "SELECT campaign, role, count(DISTINCT nullif(candidate, '')) FROM paid GROUP BY campaign, role"
        for campaign, role, candidates in db.execute(counts):
            totals[campaign, role] = PaidRow(campaign, role, candidates, Usage(), 0)
        unanswered = sum(count for _, count in _unanswered(db))
        for campaign, role, key, text in db.execute("SELECT campaign, role, key, usage FROM paid ORDER BY number"):
            row, usage = totals[campaign, role], _usage(text)
            if usage is None:
                raise CacheError(f"{path}: the note of payment of {key} is damaged; see holdgate cache verify {path}")
            totals[campaign, role] = replace(
                row, usage=row.usage + usage, unpriced=row.unpriced + (usage.cost_usd is None)
            )
    size = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*") if file.is_file())
    rows = tuple(totals[key] for key in sorted(totals))
    return CacheStats(path, size, answers, twice, unanswered, first, last, rows)


def verify_cache(path: Path) -> Iterator[Flaw]:
    """Check every answer: its request hashes to its key, and it can be read; then the notes of payment.

    Raises:
        CacheError: the file is no call cache, or SQLite finds it damaged.
    """
    with closing(existing_cache(path)) as db, readable_database(path):
        found = db.execute("PRAGMA quick_check").fetchone()[0]
        if found != "ok":
            raise CacheError(f"{path}: the file is damaged ({found}); restore it from a copy")
        for key, identity, request, result in db.execute("SELECT key, identity, request, result FROM calls"):
            if not is_intact(key, identity, request):
                yield Flaw(key, "the request does not hash to its key: it was edited")
            elif (why := _unreadable(result)) is not None:
                yield Flaw(key, f"the answer cannot be read ({why})")
        for key, usage in db.execute("SELECT key, usage FROM paid"):
            if _usage(usage) is None:
                yield Flaw(key, "the note of its payment cannot be read")


def prune_cache(
    path: Path,
    *,
    before: datetime | None = None,
    keep: Collection[str] | None = None,
    damaged: bool = False,
    dry_run: bool = False,
) -> Pruned:
    """Remove answers.

    Notes of payment stay with the campaigns that stay, as their limits count on them. An answer goes with a campaign
    only if no campaign that stays paid for it too.

    Args:
        path: the call cache.
        before: remove answers stored before this time.
        keep: remove what was paid for by campaigns (ledger identities) other than these, and the notes of it.
        damaged: remove answers that :func:`verify_cache` finds fault with.
        dry_run: remove nothing, and say what would be.

    Raises:
        CacheError: the file is no call cache.
    """
    flaws = {flaw.key for flaw in verify_cache(path)} if damaged else set()
    with closing(existing_cache(path, write=not dry_run)) as db, readable_database(path):
        size = path.stat().st_size
        db.execute("BEGIN" if dry_run else "BEGIN IMMEDIATE")
        payers: dict[str, set[str]] = {}
        for key, campaign in db.execute("SELECT DISTINCT key, campaign FROM paid"):
            payers.setdefault(key, set()).add(campaign)
        here = {campaign for campaign, _ in _unanswered(db)}.union(*payers.values())
        gone = sorted(here - set(keep)) if keep is not None else []
        keys = {
            key
            for key, at in db.execute("SELECT key, at FROM calls")
            if key in flaws
            or (before is not None and datetime.fromisoformat(at) < before)
            or (gone and key in payers and payers[key] <= set(gone))
        }
        marks = [(campaign,) for campaign in gone]
        notes = sum(db.execute("SELECT count(*) FROM paid WHERE campaign = ?", mark).fetchone()[0] for mark in marks)
        if dry_run:
            db.execute("ROLLBACK")
            return Pruned(len(keys), notes, tuple(gone), 0)
        db.executemany("DELETE FROM calls WHERE key = ?", [(key,) for key in sorted(keys)])
        db.executemany("DELETE FROM paid WHERE campaign = ?", marks)
        if _unanswered(db):
            db.executemany("DELETE FROM unanswered WHERE campaign = ?", marks)
        db.execute("COMMIT")
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Pruned(len(keys), notes, tuple(gone), max(size - path.stat().st_size, 0))


def existing_cache(path: Path, *, write: bool = False) -> sqlite3.Connection:
    """Open a call cache that exists, for reading or for changing it.

    Raises:
        CacheError: the file is no call cache.
    """
    if not is_database(path):
        raise CacheError(f"{path}: is no call cache; name the calls.sqlite beside a run directory")
    if not write:
        return open_readonly(path)
    with readable_database(path):
        db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        require_tables(db, path)
        return db


def _unanswered(db: sqlite3.Connection) -> list[tuple[str, int]]:
    """Campaigns with calls that have no answer, and how many; an older file has no such notes."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'unanswered'").fetchone() is None:
        return []
    return db.execute("SELECT campaign, count(*) FROM unanswered GROUP BY campaign").fetchall()


def _usage(text: str) -> Usage | None:
    """The usage in a note of payment, or None where it cannot be read."""
    try:
        return Usage(**json.loads(text))
    except (ValueError, TypeError):
        return None


def _unreadable(result: str) -> str | None:
    try:
        CallResult.from_row(json.loads(result))
    except (ValueError, LookupError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return None
