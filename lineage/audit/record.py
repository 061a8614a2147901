"""What an audit reads and what it says: a run directory whose chain holds, and findings about its places."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from lineage.ledger import OPERATIONAL, Event

Severity = Literal["error", "warning", "info"]
RESTORE: Final = "restore the run directory from a copy; if there is none, do not rely on its result"


@dataclass(frozen=True, slots=True)
class Finding:
    """What an audit found at one place, and what to do. No finding is not a proof: see the head kept elsewhere."""

    severity: Severity
    place: str
    words: str
    remedy: str = RESTORE


@dataclass(slots=True)
class RunRecord:
    """A run directory whose chain holds, and the lookups that the checks share.

    Three of them are filled by the checks, in their order: ``examples`` by that of the example list, ``candidates`` by
    that of the lineage, and ``sent``, the calls that judgements say they paid for by purpose and candidate, by that of
    the evaluations.
    """

    directory: Path
    events: tuple[Event, ...]
    steps: tuple[Event, ...] = ()
    finished: bool = False
    plan: Event | None = None
    candidates: dict[str, Event] = field(default_factory=dict)
    examples: dict[str, dict[str, Any]] = field(default_factory=dict)
    sent: Counter[tuple[str, str]] = field(default_factory=Counter)
    _by_type: dict[str, list[Event]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.steps = tuple(event for event in self.events if event.type not in OPERATIONAL)
        self.finished = any(event.type == "finished" for event in self.steps)
        self.plan = self.steps[0] if self.steps and self.steps[0].type == "plan" else None
        for event in self.steps:
            self._by_type.setdefault(event.type, []).append(event)

    def all(self, kind: str) -> list[Event]:
        """The events of one type, in order."""
        return list(self._by_type.get(kind, ()))

    def first(self, kind: str) -> Event | None:
        """The first event of a type."""
        return next(iter(self._by_type.get(kind, ())), None)

    def text(self, name: str) -> str | None:
        """The text of a file in the directory; None where there is none."""
        path = self.directory / name
        return path.read_bytes().decode("utf-8", errors="backslashreplace") if path.is_file() else None

    def json(self, name: str) -> dict[str, Any]:
        """The JSON object in a file; an empty one where there is none, or something else."""
        try:
            found = json.loads(self.text(name) or "")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}
