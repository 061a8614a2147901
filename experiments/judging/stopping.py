"""What a judging run that a limit stopped has paid for, and what it would take to go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.stopping import _cells, _table, _words
from lineage.canonical import write_atomic
from lineage.ledger import read_events
from lineage.records import VOLATILE, Usage
from optimize.judging.run import STOPPED

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoppedJudging:
    """A stopped judging run.

    Attributes:
        reason: why, as the ledger has it.
        limit: the limit that was reached, as the plan names it, or None where something else stopped it.
        paid: what was paid for, by judge.
        unanswered: the most that may have been paid for calls without an answer.
        needed: the most calls that each judge still needs.
        limits: the limits that were in force.
    """

    reason: str
    limit: str | None
    paid: Mapping[str, Usage]
    unanswered: Usage
    needed: Mapping[str, int]
    limits: Row

    @property
    def all_paid(self) -> Usage:
        """What was paid for in all, or may have been."""
        return sum(self.paid.values(), self.unanswered)

    def enough(self) -> tuple[tuple[str, str, str], ...]:
        """Each limit in force, what it is and what would be enough; tokens and money at the mean so far."""
        paid, needed = self.all_paid, sum(self.needed.values())
        share = (paid.calls + needed) / paid.calls if paid.calls else None
        rows = []
        for name in ("calls", "tokens", "usd"):
            if self.limits[name] is None:
                continue
            spent = {
                "calls": float(paid.calls),
                "tokens": float(paid.prompt_tokens + paid.completion_tokens),
                "usd": paid.cost_usd,
            }[name]
            if name == "calls":
                value = f"{paid.calls + needed}"
            elif share is None or spent is None:
                value = "not known: no call is paid yet"
            else:
                value = f"about {spent * share:.0f}" if name == "tokens" else f"about {spent * share:.4f}"
            rows.append((f"limits.{name}", f"{self.limits[name]:.10g}", value))
        return tuple(rows)


def read_stopped(directory: Path, most: Mapping[str, int]) -> StoppedJudging:
    """The last stop of a judging run, from its directory.

    Args:
        directory: the run directory.
        most: most calls of each judge, as if nothing were cached.
    """
    events = read_events(directory / "ledger.jsonl")
    body = next(event.body[VOLATILE] for event in reversed(events) if event.type == "stopped")
    judged = {event.body["purpose"] for event in events if event.type == "evaluation"}
    paid = {name: Usage(**row) for name, row in body["paid"].items()}
    needed = {name: max(calls - paid.get(name, Usage()).calls, 0) for name, calls in most.items() if name not in judged}
    return StoppedJudging(body["reason"], body["limit"], paid, Usage(**body["unanswered"]), needed, body["limits"])


def stopped_words(stop: StoppedJudging, directory: Path) -> str:
    """What a terminal says of a stop."""
    paid = ", ".join(f"{name} {_words(usage)}" for name, usage in stop.paid.items()) or "nothing"
    lines = [stop.reason, f"paid so far: {paid}"]
    if stop.unanswered.calls:
        lines.append(f"perhaps paid without an answer, at most: {_words(stop.unanswered)}")
    lines.append(
        f"to go on: at most {sum(stop.needed.values())} calls more, for {', '.join(stop.needed)}"
        + "".join(f"; {name} {value} is enough" for name, _, value in stop.enough() if not value.startswith("not"))
    )
    return "\n".join([*lines, f"all of it: {directory / STOPPED}"])


def write_stopped(stop: StoppedJudging, plan: Path, directory: Path) -> Path:
    """Write ``stopped.md``, which a resumed run removes."""
    lines = [
        f"# Stopped: {stop.limit or directory.name}",
        "",
        f"{stop.reason}.",
        "",
        "## Paid so far",
        "",
        *_table(
            ("judge", "calls", "prompt tokens", "completion tokens", "US dollars"),
            [(name, *_cells(usage)) for name, usage in stop.paid.items()],
        ),
    ]
    if stop.unanswered.calls:
        lines += [f"Perhaps paid without an answer, at most: {_words(stop.unanswered)}.", ""]
    lines += ["## What it would take to go on", "", "At most, as if nothing more were found in the cache:", ""]
    lines += _table(("judge", "calls"), [(name, f"{calls}") for name, calls in stop.needed.items()])
    if rows := stop.enough():
        lines += _table(("limit", "now", "enough to finish"), list(rows))
    lines += [
        f"Raise the limit that was reached in {plan}, and give the same command to go on: limits are no part of what",
        "was registered. Nothing that was paid for is paid for again. Wall time begins anew with each process.",
        "",
    ]
    path = directory / STOPPED
    write_atomic(path, "\n".join(lines))
    return path
