"""What a watched run has come to, as far as anybody may know it: nothing of held-out data before the decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from experiments.explore.frontier import (
    Frontier,
    accept_rewards,
    frontier_of,
    is_campaign,
    is_on_accept,
    read_examples,
    scales,
)
from experiments.live import PHASE_WORDS
from experiments.watch.limits import bundled_limits, recorded_limits
from experiments.watch.process import RunningProcess, running_process
from experiments.watch.spending import CACHE, Paid, SpendReader, recorded_spend
from experiments.watch.tail import LedgerTail
from lineage.ledger import Event
from lineage.openings import exploratory_reason
from lineage.records import VOLATILE
from lineage.tree import PENDING, TreeRow, tree_rows
from optimize.judging.registering import KIND
from splits.corpus import Example

Row = Mapping[str, Any]

FINISHED: Final = "finished"
OTHER: Final = "running"
WORDS: Final[Mapping[str, str]] = {
    **PHASE_WORDS,
    "register": "registering plan and splits",
    "judge": "judging",
    FINISHED: "finished",
    OTHER: "a run that is no campaign, of which this shows what it has paid for",
}
"""What a phase is, in words."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A run at one moment.

    Attributes:
        directory: the run directory.
        name: of its plan.
        marks: ``simulated``, ``exploratory``, ``judging``: what its numbers cannot mean.
        phase: one of ``WORDS``.
        detail: where in the phase it is, in words; empty where there is nothing to say.
        process: who runs it.
        events: how many there are.
        at: time of the last one, ISO 8601; empty where there is none.
        resumptions: how often it was resumed.
        rows: the proposals, in order.
        frontier: the pool with its rewards on accept; None where nothing is judged there.
        paid: what was paid for; None where that is not known.
        limits: the limits in force; None where they are not known.
        openings: bodies of the openings of the held-out seal, which say how often and what for.
        stopped: why it stopped last, if it has not gone on since.
        limit: the limit that stopped it, or None.
        verdict: the verdict; None before the decision.
    """

    directory: Path
    name: str
    marks: tuple[str, ...]
    phase: str
    detail: str
    process: RunningProcess
    events: int
    at: str
    resumptions: int
    rows: tuple[TreeRow, ...] = ()
    frontier: Frontier | None = None
    paid: Paid | None = None
    limits: Row | None = None
    openings: tuple[Row, ...] = ()
    stopped: str | None = None
    limit: str | None = None
    verdict: Row | None = None

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end."""
        return self.phase == FINISHED

    @property
    def best(self) -> TreeRow | None:
        """The pool's best candidate on accept so far, by paired discrimination; the winner once it is chosen."""
        known = [row for row in self.rows if row.paired is not None and row.outcome in ("seed", "accepted", PENDING)]
        return max(known, key=lambda row: (row.winner, row.paired or 0.0), default=None)


class Follower:
    """Follows one run directory; every look costs what is new in it.

    Args:
        directory: the run directory, which need not exist yet.
        limits: the limits of its plan file, where that is given.
    """

    def __init__(self, directory: Path, *, limits: Row | None = None) -> None:
        self._directory, self._limits = directory, limits
        self._bundled: Row | None = None
        self._tail = LedgerTail(directory / "ledger.jsonl")
        self._cache = SpendReader(directory.parent / CACHE)
        self._events: list[Event] = []
        self._examples: dict[str, Example] = {}
        self._rewards: dict[str, dict[str, float]] = {}
        self._rows: tuple[TreeRow, ...] = ()
        self._frontier: Frontier | None = None
        self._campaign = False

    @property
    def events(self) -> tuple[Event, ...]:
        """The events read so far."""
        return tuple(self._events)

    def look(self) -> Snapshot:
        """The run as it is now.

        Raises:
            LedgerError: its ledger was damaged, replaced or removed, or a segment of accept was.
        """
        process = running_process(self._directory)  # before the ledger: what it wrote until it ended is then read
        new = self._tail.read()
        self._events += new
        if new:
            self._take(new)
        events = self._events
        first: Row = events[0].body if events else {}
        judging = first.get("kind") == KIND
        phase, detail = _judging_phase(events) if judging else _phase(events, self._campaign)
        marks = (
            ("simulated", first.get("simulated")),
            ("exploratory", bool(events) and exploratory_reason(events) is not None),
            ("judging", judging),
        )
        process_events = [event for event in events if event.type in ("stopped", "resumed")]
        stop: Row = {}
        if phase != FINISHED and process_events and process_events[-1].type == "stopped":
            stop = process_events[-1].body[VOLATILE]
        paid = recorded_spend(events)
        return Snapshot(
            directory=self._directory,
            name=first.get("plan", first).get("name", self._directory.name),
            marks=tuple(name for name, holds in marks if holds),
            phase=phase,
            detail=detail,
            process=process,
            events=len(events),
            at=events[-1].at if events else "",
            resumptions=sum(event.type == "resumed" for event in events),
            rows=self._rows,
            frontier=self._frontier,
            paid=paid if paid is not None or not events else self._cache.read(events[0].hash),
            limits=self._limits or recorded_limits(events) or self._bundled,
            openings=tuple(event.body for event in events if event.type == "seal_opened"),
            stopped=stop.get("reason"),
            limit=stop.get("limit"),
            verdict=next((event.body["verdict"] for event in events if event.type == "verdict"), None),
        )

    def _take(self, new: Sequence[Event]) -> None:
        """What new events say of the search."""
        if len(self._events) == len(new):
            self._bundled = bundled_limits(self._events[0].body)
        self._campaign = is_campaign(self._events)
        if not self._campaign:
            return
        plan = self._events[0].body["plan"]
        self._rows = tuple(tree_rows(self._events))
        on_accept = [event for event in new if is_on_accept(event)]
        if on_accept:
            self._examples = self._examples or read_examples(self._directory)
            self._rewards |= accept_rewards(self._directory, on_accept, plan, self._examples)
        if self._rewards:
            self._frontier = frontier_of(self._rows, self._rewards, **scales(plan, self._examples))


def _phase(events: Sequence[Event], campaign: bool) -> tuple[str, str]:
    """The phase of a campaign, from what is done: the next step is under way. Of other runs, whether they finished."""
    done = {event.type for event in events}
    purposes = {event.body["purpose"] for event in events if event.type == "evaluation"}
    openings = {event.body["opening"] for event in events if event.type == "seal_opened"}
    if "finished" in done:
        return FINISHED, ""
    if events and not campaign:
        return OTHER, ""
    if "confirm" in purposes or "verdict" in done:
        return "gate", ""
    if "choice" in done:
        return ("confirm", "") if "confirm" in openings else ("choose", "")
    if "baseline" in purposes:
        search = events[0].body["plan"]["search"]
        of, proposals = search["iterations"], sum(event.type == "outcome" for event in events)
        return "search", f"iteration {min(1 + proposals // search.get('parallel', 1), of)} of {of}"
    if "accept" in purposes:
        return "baseline", ""
    return ("calibrate", "") if "candidate" in done else ("register", "")


def _judging_phase(events: Sequence[Event]) -> tuple[str, str]:
    if any(event.type == "finished" for event in events):
        return FINISHED, ""
    names = [judge["name"] for judge in events[0].body["judges"]]
    judged = [event.body["purpose"] for event in events if event.type == "evaluation"]
    left = [name for name in names if name not in judged]
    return "judge", f"{left[0]} ({len(judged) + 1} of {len(names)})" if left else "all have judged"
