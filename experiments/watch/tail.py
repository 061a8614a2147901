"""Reading a ledger that another process writes: only what is new, verified, and without its lock."""

from __future__ import annotations

import json
from pathlib import Path

from lineage.canonical import digest
from lineage.errors import LedgerError
from lineage.ledger import GENESIS, Event


class LedgerTail:
    """The events of a ledger as they come.

    A line without its terminator is being written, or was when its process was killed; it is left for later.

    Args:
        path: the ``ledger.jsonl`` file, which need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = self._count = 0
        self._prev = GENESIS

    def read(self) -> list[Event]:
        """The events that were added since the last reading; none where there is no file yet.

        Raises:
            LedgerError: an event does not follow the one before it or was edited, or what was read before is gone.
        """
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, 2)
                if size < self._offset:
                    raise LedgerError(
                        f"{self.path}: is shorter than when it was read last: events were dropped, or another run "
                        "took its place; watch it anew, and check it with holdgate audit"
                    )
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError as error:
            if self._count:
                raise LedgerError(f"{self.path}: is gone; the run directory was moved or removed") from error
            return []
        *lines, _ = data.split(b"\n")
        found = [self._event(line) for line in lines]
        self._offset += sum(len(line) + 1 for line in lines)
        return found

    def _event(self, line: bytes) -> Event:
        seq = self._count
        try:
            row = json.loads(line.decode("utf-8"))
            event = Event(row["seq"], row["at"], row["type"], row["body"], row["prev"], row.pop("hash"))
            content = digest(row)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LedgerError(f"{self.path}: event seq {seq} is not readable ({error})") from error
        if event.seq != seq or event.prev != self._prev or event.hash != content:
            raise LedgerError(
                f"{self.path}: event seq {seq} was edited or does not follow the one before it; if another run took "
                "its place, watch it anew, and check it with holdgate audit"
            )
        self._count, self._prev = seq + 1, event.hash
        return event
