"""Reading a run directory back: its events, its examples and lock, its evaluations and the pool of its search."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lineage.canonical import json_lines
from lineage.errors import LedgerError, SplitError
from lineage.ledger import OPERATIONAL, Event, read_events
from lineage.records import Candidate
from lineage.segments import read_segment
from lineage.tree import tree_rows
from optimize.choice import Standing, choose
from optimize.evaluation import Evaluation
from optimize.recompute.columns import Chunk, Columns, RecordedEvaluation, by_candidate, chunks
from optimize.search import PoolEntry, SearchResult
from splits.corpus import Example
from splits.lock import SplitLock
from splits.lock_file import parse_lock
from students.designs import DESIGNS

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run directory read back: verified events, the examples without their texts, and the committed split lock."""

    directory: Path
    events: tuple[Event, ...]
    examples: Mapping[str, Example]
    lock: SplitLock
    _by_type: dict[str, list[Event]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _held: dict[int, Columns] = field(default_factory=dict, init=False, repr=False, compare=False)
    _evaluated: dict[int, tuple[Evaluation, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _listed: dict[tuple[str, ...], tuple[Example, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _places: dict[Any, list[Event]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for event in self.events:
            self._by_type.setdefault(event.type, []).append(event)

    @property
    def plan(self) -> Mapping[str, Any]:
        """The plan's JSON form, as registered."""
        found: Mapping[str, Any] = self.events[0].body["plan"]
        return found

    def all(self, kind: str) -> list[Event]:
        """The events of one type, in order."""
        return list(self._by_type.get(kind, ()))

    def judged(self, purpose: str, *, candidate: str | None = None) -> Sequence[Event]:
        """The evaluations for a purpose, and of a candidate, in order."""
        if not self._places:
            for event in self._by_type.get("evaluation", ()):
                for key in (None, *event.body["candidates"]):
                    self._places.setdefault((event.body["purpose"], key), []).append(event)
        return self._places.get((purpose, candidate), ())

    def evaluations(self, event: Event) -> tuple[Evaluation, ...]:
        """The evaluations of an ``evaluation`` event, one a candidate, in the event's order.

        Raises:
            LedgerError: the segment is not the recorded one, or judges an example that is not in the run's list.
        """
        if (known := self._evaluated.get(event.seq)) is not None:
            return known
        if event.seq not in self._held:
            for chunk in chunks(self.directory / "judgements", [event]):
                self.hold(chunk)
        columns = self._held[event.seq]
        examples = self._structure(event, columns)
        directory, segment = self.directory / "judgements", event.body["segment"]
        parts = by_candidate(columns, event.body["candidates"])
        found = tuple(
            RecordedEvaluation(candidate, examples, part, partial(read_segment, directory, segment))
            for candidate, part in parts.items()
        )
        if event.body["purpose"] == "accept":  # asked for by its outcome, its measures and the choice
            self._evaluated[event.seq] = found
        return found

    def hold(self, chunk: Chunk) -> None:
        """Keep the scores of some segments at hand."""
        for event, columns in chunk.columns():
            self._held[event.seq] = self._shared(columns)

    def hold_all(self, events: Sequence[Event]) -> None:
        """Have the scores of evaluations at hand: many segments are read faster together.

        Raises:
            LedgerError: a segment is not the recorded one.
        """
        for chunk in chunks(self.directory / "judgements", [event for event in events if event.seq not in self._held]):
            self.hold(chunk)

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What is computed of the whole run once, by its name."""
        if name not in self._kept:
            self._kept[name] = make()
        found: Made = self._kept[name]
        return found

    def _shared(self, columns: Columns) -> Columns:
        """The columns, whose lists are held once where many evaluations have the same."""
        shared = self._kept.setdefault("lists", {})
        names = ("examples", "candidates", "replicates", "samples")
        lists = {name: shared.setdefault(value := getattr(columns, name), value) for name in names}
        return Columns(**lists, scores=columns.scores)

    def _structure(self, event: Event, columns: Columns) -> tuple[Example, ...]:
        if (found := self._listed.get(columns.examples)) is None:
            ids = sorted(set(columns.examples))
            if unknown := [example for example in ids if example not in self.examples]:
                raise LedgerError(f"seq {event.seq}: judges {unknown[0]!r}, which is not in examples.jsonl")
            found = self._listed[columns.examples] = tuple(self.examples[example] for example in ids)
        return found


def load_run(directory: Path, *, verified: Sequence[Event] | None = None) -> RecordedRun:
    """Read a run directory.

    Args:
        directory: the run directory.
        verified: the events of its ledger, where they have been read and verified.

    Raises:
        LedgerError: the ledger is damaged, or a file that it needs is missing or not in its format.
    """
    read = read_events(directory / "ledger.jsonl") if verified is None else verified
    events = tuple(event for event in read if event.type not in OPERATIONAL)
    if not events or events[0].type != "plan":
        raise LedgerError(f"{directory}: the ledger does not begin with a plan")
    if (kind := events[0].body.get("kind")) is not None:
        raise LedgerError(f"{directory} is a {kind} run and no campaign; read it with holdgate report or compare")
    try:
        listed = json_lines((directory / "examples.jsonl").read_text(encoding="utf-8"))
        rows = [{key: value for key, value in row.items() if key != "split"} for row in listed]
        examples = {row["id"]: Example(source="", document="", **row) for row in rows}
        lock = parse_lock(json.loads((directory / "split.lock.json").read_text(encoding="utf-8")))
    except SplitError as error:
        raise LedgerError(f"{directory / 'split.lock.json'}: {error}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LedgerError(
            f"{directory}: examples.jsonl or split.lock.json is missing or damaged ({error!r})"
        ) from error
    return RecordedRun(directory, events, examples, lock)


def recorded_pool(run: RecordedRun) -> SearchResult:
    """The pool of a finished search, with its evaluations on accept, as the choice of the winner saw it."""
    return run.once("pool", lambda: _pool(run))


def recorded_choice(run: RecordedRun) -> tuple[Standing, list[Standing]]:
    """The winner of the pool and all standings, best first."""
    return run.once("choice", lambda: choose(recorded_pool(run).pool))


def _pool(run: RecordedRun) -> SearchResult:
    texts = {event.body["candidate"]: event.body for event in reversed(run.all("candidate"))}
    proposals = tree_rows(event for event in run.events if event.type in ("candidate", "outcome"))
    names = {row.candidate: row.name for row in proposals if row.outcome in ("seed", "accepted")}
    result = SearchResult()
    for name in ("rejected", "invalid"):
        setattr(result, name, sum(event.body["outcome"] == name for event in run.all("outcome")))
    run.hold_all(run.judged("accept"))
    for event in run.judged("accept"):
        (evaluation,) = run.evaluations(event)
        if evaluation.candidate not in names:
            continue
        body = texts[evaluation.candidate]
        iteration = event.body["iteration"]
        candidate = Candidate(body["texts"], body["kind"], tuple(body["parents"]), iteration)
        name = names[evaluation.candidate]
        result.pool.append(PoolEntry(candidate, evaluation, rewards_of(run, evaluation), name))
    return result


def nearest(run: RecordedRun, before: Event, purpose: str, *, candidate: str | None = None) -> Event:
    """The nearest evaluation for a purpose, and of a candidate, before an event."""
    judged = run.judged(purpose, candidate=candidate)
    place = bisect_left(judged, before.seq, key=lambda event: event.seq)
    if not place:
        raise LedgerError(f"seq {before.seq}: {before.type} without an evaluation for {purpose} before it")
    return judged[place - 1]


def rewards_of(run: RecordedRun, evaluation: Evaluation) -> dict[str, float]:
    """The rewards of an evaluation under the plan's objective, by example id."""
    scale = DESIGNS[run.plan["student"]["shape"]].scale
    objective = run.plan["objective"]
    return evaluation.rewards(scale=scale, margin=objective["margin"], clean_weight=objective["clean_weight"])
