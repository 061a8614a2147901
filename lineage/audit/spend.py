"""Whether the spend adds up: by phase and by candidate, over the judgements, and in the call cache beside the run."""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from lineage.audit.record import Finding, RunRecord
from lineage.audit.segments import Judged
from lineage.records import VOLATILE

CACHE: Final = "calls.sqlite"
"""The call cache of a run directory, unless it was named otherwise: beside it."""
STUDENT: Final = "student"
COUNTS: Final = ("calls", "prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
Place = tuple[str, str, str]
"""Role, phase and candidate of a payment."""


def sent_calls(judged: Judged) -> Counter[tuple[str, str]]:
    """The calls that an evaluation's judgements say they paid for, by purpose and candidate."""
    found: Counter[tuple[str, str]] = Counter()
    for candidate, paid in zip(judged.columns["candidate"], judged.paid, strict=True):
        found[judged.event.body["purpose"], candidate] += paid
    return found


def check_spend(run: RunRecord) -> Iterator[Finding]:
    """The recorded spend is one sum by phase and by candidate, covers the judgements, and is that of the call cache."""
    event = run.first("spend")
    if event is None:
        return
    place, record = f"seq {event.seq}", event.body[VOLATILE]
    rows: list[Mapping[str, Any]] = record.get("candidates", [])
    by_phase: dict[str, Counter[str]] = {}
    for row in rows:
        by_phase.setdefault(f"{row['role']} {row['phase']}", Counter()).update(_counts(row["usage"]))
    if rows:
        for phase in sorted({*by_phase, *record["paid"]}):
            stated = _counts(record["paid"].get(phase, {}))
            costs = [row["usage"]["cost_usd"] for row in rows if f"{row['role']} {row['phase']}" == phase]
            same = _same_cost(record["paid"].get(phase, {}).get("cost_usd"), costs)
            if +by_phase.get(phase, Counter()) != +stated or not same:
                words = f"what was paid for {phase} is not the sum over its candidates"
                yield Finding("error", place, words)
    for row in rows:
        if row["candidate"] and row["candidate"] not in run.candidates:
            yield Finding("error", place, f"paid for {row['candidate'][:12]}, which is no candidate")
    yield from _judgements(run, place, record)
    yield from _unpriced(place, record)
    yield from _cache(run, place, rows)


def _same_cost(stated: float | None, costs: list[float | None]) -> bool:
    """Whether a sum of money is that of its parts; what has no price is in neither."""
    priced = [cost for cost in costs if cost is not None]
    if stated is None or not priced:
        return stated is None and not priced
    return math.isclose(stated, math.fsum(priced), rel_tol=1e-9, abs_tol=1e-9)


def _judgements(run: RunRecord, place: str, record: Mapping[str, Any]) -> Iterator[Finding]:
    """Judgements sent no more than was paid for; just that much, where no process paid and died before it recorded."""
    stated, sent = _stated(record), Counter(run.sent)
    if "candidates" not in record:  # as of a judging run, whose judges are its phases
        sent = Counter()
        for (phase, _), calls in run.sent.items():
            sent[phase, ""] += calls
    whole = not any(event.type == "resumed" for event in run.events)
    for phase, candidate in sorted({*sent, *stated}):
        made, paid = sent[phase, candidate], stated.get((phase, candidate), 0)
        if made > paid or (whole and made < paid and (phase, candidate) in sent):
            who = f"judgements of {candidate[:12]} for {phase}" if candidate else f"judgements for {phase}"
            yield Finding("error", place, f"{who} say that they sent {made} calls, and {paid} are paid for")


def _stated(record: Mapping[str, Any]) -> Mapping[tuple[str, str], int]:
    """The student's calls that were paid for, by phase and candidate, as far as they are told apart."""
    if "candidates" in record:
        return {
            (row["phase"], row["candidate"]): row["usage"]["calls"]
            for row in record["candidates"]
            if row["role"] == STUDENT
        }
    phases = {name.removeprefix(f"{STUDENT} "): usage["calls"] for name, usage in record["paid"].items()}
    return {(phase, ""): calls for phase, calls in phases.items()}


def _unpriced(place: str, record: Mapping[str, Any]) -> Iterator[Finding]:
    """A sum of money is there where a price is, and then not negative; calls that nobody answered are worth a word."""
    for phase, usage in sorted(record.get("paid", {}).items()):
        cost = usage["cost_usd"]
        if cost is not None and not (math.isfinite(cost) and cost >= 0):
            yield Finding("error", place, f"what was paid for {phase} is {cost!r} US dollars")
    unanswered = record.get("unanswered", {}).get("calls", 0)
    if unanswered:
        words = f"{unanswered} calls may have been paid for and have no answer; they are not in the sums"
        yield Finding("info", place, words, "compare with the provider's bill")


def _cache(run: RunRecord, place: str, rows: list[Mapping[str, Any]]) -> Iterator[Finding]:
    """The call cache beside the run says the same of this campaign; one that is elsewhere cannot be asked."""
    path = run.directory.absolute().parent / CACHE
    if not rows:
        return
    if not path.is_file():
        words = "no call cache lies beside the run: what was paid for is checked within the ledger alone"
        yield Finding("info", place, words, "nothing to do; keep the cache beside the run to have it compared")
        return
    assert run.plan is not None or not run.events, "spend is checked of a run that begins with a plan"
    try:
        cached = _paid(path, run.events[0].hash)
    except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
        yield Finding("warning", f"../{CACHE}", f"cannot be read ({error})", "run holdgate cache verify on it")
        return
    if not cached:
        words = "the call cache beside the run knows nothing of this campaign"
        yield Finding("info", f"../{CACHE}", words, "nothing to do, if it was run with another --cache")
        return
    stated = {(row["role"], row["phase"], row["candidate"]): _counts(row["usage"]) for row in rows}
    for key in sorted(stated):
        if +stated[key] != +cached.get(key, Counter()):
            role, phase, candidate = key
            words = f"{role} {phase} {candidate[:12]}: the spend of the ledger is not what the call cache was paid for"
            yield Finding("error", place, words)


def _paid(path: Path, campaign: str) -> dict[Place, Counter[str]]:
    """What a campaign paid for as its call cache has it, read without changing it."""
    found: dict[Place, Counter[str]] = {}
    database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        query = "SELECT role, phase, candidate, usage FROM paid WHERE campaign = ?"
        for role, phase, candidate, usage in database.execute(query, (campaign,)):
            found.setdefault((role, phase, candidate), Counter()).update(_counts(json.loads(usage)))
    finally:
        database.close()
    return found


def _counts(usage: Mapping[str, Any]) -> Counter[str]:
    return Counter({name: usage.get(name, 0) for name in COUNTS})
