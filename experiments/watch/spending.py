"""What a run has paid for: from its ledger when it has ended, and from the call cache beside it while it runs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lineage.ledger import OPERATIONAL, Event
from lineage.records import VOLATILE, Usage

CACHE: Final = "calls.sqlite"
"""Name of the call cache that the runs of one directory share."""


@dataclass(frozen=True, slots=True)
class Paid:
    """What was paid for.

    Attributes:
        by_phase: by role and phase, in words.
        unanswered: the most that may have been paid for calls without an answer.
    """

    by_phase: Mapping[str, Usage]
    unanswered: Usage

    @property
    def total(self) -> Usage:
        """All of it, as limits count it."""
        return sum(self.by_phase.values(), self.unanswered)


class SpendReader:
    """Reads the call cache beside a run directory, which its process writes, and never writes to it.

    Args:
        path: the cache.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = 0
        self._paid: dict[str, Usage] = {}

    def read(self, campaign: str) -> Paid | None:
        """What a run has paid for so far; None where the cache is not there or cannot be read now."""
        if not self._path.is_file():
            return None
        try:
            db = sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True, timeout=1.0)
        except sqlite3.Error:
            return None
        try:
            query = "SELECT number, role, phase, usage FROM paid WHERE campaign = ? AND number > ? ORDER BY number"
            for number, role, phase, usage in db.execute(query, (campaign, self._last)):
                name = f"{role} {phase}"
                self._paid[name] = self._paid.get(name, Usage()) + Usage(**json.loads(usage))
                self._last = number
            rows = db.execute("SELECT worst FROM unanswered WHERE campaign = ?", (campaign,)).fetchall()
            return Paid(dict(self._paid), sum((Usage(**json.loads(row[0])) for row in rows), Usage()))
        except (sqlite3.Error, ValueError, TypeError):
            return None  # written at this moment by a process that was killed, or something else: the next look may do
        finally:
            db.close()


def recorded_spend(events: Sequence[Event]) -> Paid | None:
    """What a run had paid for when it finished, or stopped last; None if it has gone on since, or did neither."""
    last = last_spend(events)
    if last is None:
        return None
    record: Mapping[str, Any] = last.body[VOLATILE]
    paid = {name: Usage(**usage) for name, usage in record["paid"].items()}
    return Paid(paid, Usage(**record.get("unanswered", {})))


def last_spend(events: Sequence[Event]) -> Event | None:
    """The event that says what a run has paid for, where none of it can have been paid since."""
    finished = [event for event in events if event.type == "spend"]
    process = [event for event in events if event.type in OPERATIONAL]
    last = finished[-1] if finished else process[-1] if process else None
    return None if last is None or last.type == "resumed" else last
