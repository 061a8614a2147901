"""The ledger: an append-only, hash-chained file of events whose replay is the state of a campaign."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from lineage.canonical import canonical_json, digest, pretty_json, sync_directory, write_atomic
from lineage.errors import LedgerError
from lineage.imported import refuse_imported
from lineage.records import VOLATILE, stable

GENESIS: Final = "0" * 64
OPERATIONAL: Final = frozenset({"resumed", "stopped"})
"""Events about the process rather than the campaign; they are chained, and no part of the canonical replay."""
ASIDE: Final = "aside"
"""Key in the body of an event that is no step of its campaign; a resumed campaign steps over it."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the ledger. ``hash`` covers every other field, ``prev`` among them."""

    seq: int
    at: str
    type: str
    body: Mapping[str, Any]
    prev: str
    hash: str

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {**_unhashed(self.seq, self.at, self.type, self.body, self.prev), "hash": self.hash}


@dataclass(frozen=True, slots=True)
class Head:
    """Number of events and hash of the last one; kept elsewhere, it makes any later rewrite visible."""

    count: int
    hash: str


def _unhashed(seq: int, at: str, kind: str, body: Mapping[str, Any], prev: str) -> dict[str, Any]:
    return {"seq": seq, "at": at, "type": kind, "body": dict(body), "prev": prev}


def read_events(path: Path) -> tuple[Event, ...]:
    """Read and verify a ledger file.

    Raises:
        LedgerError: naming the ``seq`` of the first damaged event, or the unfinished last line.
    """
    events, torn = _read(path)
    if torn:
        raise LedgerError(f"{path}: the last line (seq {len(events)}) has no terminator; resume the campaign to repair")
    return events


def read_head(path: Path) -> Head | None:
    """The head kept beside a ledger, or None where there is none."""
    head_path = head_file(path)
    if not head_path.exists():
        return None
    try:
        data = json.loads(head_path.read_text(encoding="utf-8"))
        count, last = data["count"], data["hash"]
    except (ValueError, KeyError, TypeError) as error:
        raise LedgerError(f"{head_path}: is not a ledger head ({error})") from error
    if type(count) is not int or count < 0 or not isinstance(last, str):
        raise LedgerError(f"{head_path}: is not a ledger head (count {count!r}, hash {last!r})")
    return Head(count, last)


def head_file(path: Path) -> Path:
    """Where the head of the ledger at ``path`` is kept."""
    return path.with_name("ledger.head.json")


def check_head(path: Path, events: Sequence[Event], *, repairing: bool = False) -> None:
    """Compare a verified ledger with the head beside it.

    A process killed between the event and its head leaves the head one event behind; with ``repairing`` that is
    allowed.

    Raises:
        LedgerError: events are missing at the end, or the chain is not the one the head was taken of.
    """
    head = read_head(path)
    if head is None:
        if events and not (repairing and len(events) == 1):
            raise LedgerError(f"{head_file(path)} is missing beside a ledger of {len(events)} events")
        return
    if head.count > len(events):
        raise LedgerError(
            f"{path}: the head counts {head.count} events, the ledger has {len(events)}: "
            f"events from seq {len(events)} on were dropped"
        )
    if head.count < len(events) - (1 if repairing else 0):
        raise LedgerError(f"{path}: has {len(events)} events, its head counts {head.count}: events were added")
    if head.count and events[head.count - 1].hash != head.hash:
        raise LedgerError(f"{path}: event seq {head.count - 1} does not have the hash that the head holds")


def _read(path: Path) -> tuple[tuple[Event, ...], bool]:
    """Verified events, and whether an unterminated last line follows them."""
    data = path.read_bytes() if path.exists() else b""
    *lines, rest = data.split(b"\n")
    events: list[Event] = []
    prev = GENESIS
    for seq, line in enumerate(lines):
        try:
            row = json.loads(line.decode("utf-8"))
            event = Event(row["seq"], row["at"], row["type"], row["body"], row["prev"], row["hash"])
            content = digest(_unhashed(event.seq, event.at, event.type, event.body, event.prev))
            canonical = canonical_json(event.row()).encode("utf-8")
        except (ValueError, KeyError, TypeError) as error:
            raise LedgerError(f"{path}: event seq {seq} is not readable ({error})") from error
        if event.seq != seq or event.prev != prev:
            raise LedgerError(f"{path}: event seq {seq} does not follow the one before it (dropped, swapped or edited)")
        if event.hash != content:
            raise LedgerError(f"{path}: event seq {seq} was edited: its hash does not match its content")
        if line != canonical:
            raise LedgerError(f"{path}: event seq {seq} is not in canonical form (bytes were edited)")
        events.append(event)
        prev = event.hash
    return tuple(events), bool(rest)


class Ledger:
    """A ledger open for one campaign process.

    A resumed campaign runs through the same steps again: :meth:`perform` answers each step that the ledger already
    holds from the ledger, and carries out and appends the first that it does not. So nothing that was recorded is done
    twice, and an interrupted campaign ends with the events of an uninterrupted one.

    Args:
        path: the ``ledger.jsonl`` file; created where it does not exist.
        listen: called with every campaign event in order, those of earlier processes included.

    Raises:
        LedgerError: the file is damaged, or another process holds it.
    """

    def __init__(self, path: Path, *, listen: Callable[[Event], None] | None = None) -> None:
        self.path = path
        self._listen = listen or (lambda _: None)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock: IO[bytes] = (path.parent / "run.lock").open("wb")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._lock.close()
            raise LedgerError(
                f"{path.parent}: another process is running this campaign; wait for it or end it"
            ) from error
        try:
            events, torn = _read(path)
            check_head(path, events, repairing=True)
            refuse_imported(path, events)
            self._file: IO[bytes] = path.open("ab")
        except BaseException:
            self._lock.close()
            raise
        self._events = list(events)
        self._past = [event for event in events if event.type not in OPERATIONAL]
        self._done = 0
        if torn:
            keep = sum(len(canonical_json(event.row()).encode("utf-8")) + 1 for event in events)
            self._file.truncate(keep)
            os.fsync(self._file.fileno())
        if events:
            self._write_head()
            self._append("resumed", {VOLATILE: {"repaired_line": torn, "events": len(events)}})
        else:
            sync_directory(path.parent)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the file and its lock."""
        self._file.close()
        self._lock.close()

    @property
    def events(self) -> tuple[Event, ...]:
        """All events written so far, those of earlier processes included."""
        return tuple(self._events)

    @property
    def head(self) -> Head:
        """Count and hash of the last event written."""
        return Head(len(self._events), self._events[-1].hash if self._events else GENESIS)

    @property
    def campaign(self) -> str:
        """Identity of this campaign: the hash of its first event.

        Raises:
            LedgerError: nothing has been recorded yet.
        """
        if not self._events:
            raise LedgerError(f"{self.path}: an empty ledger has no campaign identity yet")
        return self._events[0].hash

    @property
    def replaying(self) -> bool:
        """Whether the next step will be answered from the ledger."""
        return any(not self._past[place].body.get(ASIDE) for place in range(self._done, len(self._past)))

    def perform(self, kind: str, key: Mapping[str, Any], produce: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        """One step of the campaign: from the ledger where it is recorded, else by ``produce``, then recorded.

        Args:
            kind: type of the event.
            key: what identifies the step; part of the event's body.
            produce: carries the step out and returns the rest of the body. It is not called on replay.

        Returns:
            The body of the event.

        Raises:
            LedgerError: the ledger holds another step at this place: code, plan or data are not those it began with.
        """
        self._step_over()
        if self.replaying:
            event = self._past[self._done]
            wanted = stable(dict(key))
            found = {name: stable(event.body.get(name)) for name in wanted}
            if event.type != kind or found != wanted:
                differs = [name for name in wanted if found[name] != wanted[name]] if event.type == kind else []
                raise LedgerError(
                    f"{self.path}: seq {event.seq} holds {event.type!r} where this run comes to {kind!r}"
                    + (f" (differs in {', '.join(differs)})" if differs else "")
                    + "; the run directory belongs to another plan, data or version: use another --out"
                )
            self._done += 1
            self._listen(event)
            return event.body
        event = self._append(kind, {**produce(), **key})
        self._past.append(event)
        self._done += 1
        self._listen(event)
        return event.body

    def aside(self, kind: str, body: Mapping[str, Any]) -> None:
        """Record what happened beside the steps of the campaign; every later process finds it, and steps over it."""
        self._past.append(self._append(kind, {**body, ASIDE: True}))
        if not self.replaying:
            self._step_over()

    def _step_over(self) -> None:
        """Tell of the events aside that come before the next step."""
        while self._done < len(self._past) and self._past[self._done].body.get(ASIDE):
            self._listen(self._past[self._done])
            self._done += 1

    def operational(self, kind: str, body: Mapping[str, Any]) -> None:
        """Record an event about the process (see ``OPERATIONAL``)."""
        if kind not in OPERATIONAL:
            raise ValueError(f"{kind!r} is not one of {sorted(OPERATIONAL)}")
        self._append(kind, {VOLATILE: dict(body)})

    def _append(self, kind: str, body: Mapping[str, Any]) -> Event:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = json.loads(canonical_json(_unhashed(len(self._events), at, kind, body, self.head.hash)))
        event = Event(**row, hash=digest(row))
        self._file.write(canonical_json(event.row()).encode("utf-8") + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._events.append(event)
        self._write_head()
        return event

    def _write_head(self) -> None:
        write_atomic(head_file(self.path), pretty_json({"count": self.head.count, "hash": self.head.hash}))


def canonical_replay(events: Sequence[Event]) -> Iterator[dict[str, Any]]:
    """What two equal campaigns share: types and stable bodies of the campaign events, in order."""
    for event in events:
        if event.type not in OPERATIONAL:
            yield {"type": event.type, "body": stable(event.body)}


def canonical_state(events: Sequence[Event]) -> str:
    """SHA-256 of the canonical replay: equal for a campaign and its interrupted and resumed twin."""
    return digest(list(canonical_replay(events)))
