"""Following a campaign while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from lineage.ledger import Event
from students import Progress


class Watcher(Protocol):
    """Follows a campaign: phases, judgements under way and events of the ledger, replayed ones included."""

    def phase(self, name: str) -> None:
        """A phase begins."""
        ...

    def judged(self, progress: Progress) -> None:
        """An evaluation has come further."""
        ...

    def waiting(self, file: Path) -> None:
        """A person's answer is waited for, in this file."""
        ...

    def event(self, event: Event) -> None:
        """An event is in the ledger."""
        ...


class Unwatched:
    """A watcher that looks away."""

    def phase(self, name: str) -> None:
        """Look away."""

    def judged(self, progress: Progress) -> None:
        """Look away."""

    def waiting(self, file: Path) -> None:
        """Look away."""

    def event(self, event: Event) -> None:
        """Look away."""
