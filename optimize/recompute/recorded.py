"""Reading a run directory back: its events, its examples and lock, its evaluations and the pool of its search."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineage.canonical import json_lines
from lineage.errors import LedgerError, SplitError
from lineage.ledger import OPERATIONAL, Event, read_events
from lineage.records import Candidate
from lineage.segments import read_segment
from lineage.tree import tree_rows
from optimize.evaluation import Evaluation
from optimize.search import PoolEntry, SearchResult
from splits.corpus import Example
from splits.lock import SplitLock
from splits.lock_file import parse_lock
from students.designs import DESIGNS


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run directory read back: verified events, the examples without their texts, and the committed split lock."""

    directory: Path
    events: tuple[Event, ...]
    examples: Mapping[str, Example]
    lock: SplitLock

    @property
    def plan(self) -> Mapping[str, Any]:
        """The plan's JSON form, as registered."""
        found: Mapping[str, Any] = self.events[0].body["plan"]
        return found

    def all(self, kind: str) -> list[Event]:
        """The events of one type, in order."""
        return [event for event in self.events if event.type == kind]

    def evaluations(self, event: Event) -> tuple[Evaluation, ...]:
        """The evaluations of an ``evaluation`` event, one a candidate, in the event's order.

        Raises:
            LedgerError: the segment is not the recorded one, or judges an example that is not in the run's list.
        """
        judged = read_segment(self.directory / "judgements", event.body["segment"])
        ids = sorted({judgement.example for judgement in judged})
        if unknown := [example for example in ids if example not in self.examples]:
            raise LedgerError(f"seq {event.seq}: judges {unknown[0]!r}, which is not in examples.jsonl")
        examples = tuple(self.examples[example] for example in ids)
        return tuple(
            Evaluation(candidate, examples, tuple(j for j in judged if j.candidate == candidate))
            for candidate in event.body["candidates"]
        )


def load_run(directory: Path) -> RecordedRun:
    """Read a run directory.

    Raises:
        LedgerError: the ledger is damaged, or a file that it needs is missing or not in its format.
    """
    events = tuple(event for event in read_events(directory / "ledger.jsonl") if event.type not in OPERATIONAL)
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
    texts = {event.body["candidate"]: event.body for event in reversed(run.all("candidate"))}
    proposals = tree_rows(event for event in run.events if event.type in ("candidate", "outcome"))
    names = {row.candidate: row.name for row in proposals if row.outcome in ("seed", "accepted")}
    result = SearchResult()
    for name in ("rejected", "invalid"):
        setattr(result, name, sum(event.body["outcome"] == name for event in run.all("outcome")))
    for event in run.all("evaluation"):
        if event.body["purpose"] != "accept":
            continue
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
    for event in reversed(run.all("evaluation")):
        body = event.body
        if event.seq < before.seq and body["purpose"] == purpose and candidate in (None, *body["candidates"]):
            return event
    raise LedgerError(f"seq {before.seq}: {before.type} without an evaluation for {purpose} before it")


def rewards_of(run: RecordedRun, evaluation: Evaluation) -> dict[str, float]:
    """The rewards of an evaluation under the plan's objective, by example id."""
    scale = DESIGNS[run.plan["student"]["shape"]].scale
    objective = run.plan["objective"]
    return evaluation.rewards(scale=scale, margin=objective["margin"], clean_weight=objective["clean_weight"])
