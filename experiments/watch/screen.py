"""A snapshot on the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from experiments.explore.frontier import Frontier
from experiments.watch.heat import heat_map
from experiments.watch.snapshot import WORDS, Snapshot
from lineage.records import Usage
from lineage.tree import STYLES, TreeRow

LAST: Final = 6
"""Proposals that are shown: the last."""
LEADERS: Final = 8
UNITS: Final = (("calls", "calls"), ("tokens", "tokens"), ("usd", "US dollars"))


def screen(snapshot: Snapshot, console: Console, *, now: datetime | None = None) -> RenderableType:
    """Everything there is to say of a snapshot, from the phase down to the heat map."""
    return Group(*_parts(snapshot, console, now or datetime.now(UTC)))


def headline(snapshot: Snapshot) -> Text:
    """Name, marks and phase."""
    line = Text(snapshot.name, style="bold")
    for mark in snapshot.marks:
        line.append(f"  {mark}", style="magenta")
    line.append(f"  {snapshot.phase}", style="bold cyan")
    if (words := WORDS[snapshot.phase]) != snapshot.phase:
        line.append(f": {words}")
    if snapshot.detail:
        line.append(f", {snapshot.detail}")
    return line


def _parts(snapshot: Snapshot, console: Console, now: datetime) -> Iterator[RenderableType]:
    yield headline(snapshot)
    yield from _state(snapshot, now)
    for opening in snapshot.openings:
        counted = opening["comparison"]
        place = f", comparison {counted['k']} of {counted['of']}" if counted else ""
        yield Text(f"seal opened for {opening['opening']}: {opening['groups']} groups{place}")
    if snapshot.verdict is None and snapshot.openings and "judging" not in snapshot.marks:
        yield Text("held-out results are shown when the campaign is decided", style="dim")
    yield from _spend(snapshot)
    if (best := snapshot.best) is not None and best.paired is not None:
        what = "winner" if best.winner else "best so far"
        yield Text(f"{what} on accept (optimistic): {best.name}, paired discrimination {best.paired:.3f}")
    if snapshot.frontier is not None and snapshot.frontier.pool:
        yield from _frontier(snapshot.frontier)
    if made := [row for row in snapshot.rows if row.parents]:
        yield from _proposals(made)
    if snapshot.frontier is not None:
        yield from heat_map(snapshot.frontier, width=console.width, ascii_only=console.options.ascii_only)
    if (verdict := snapshot.verdict) is not None:
        yield Text(f"decision: {verdict['decision']}, because {verdict['reason']}", style="bold")


def _state(snapshot: Snapshot, now: datetime) -> Iterator[Text]:
    """Whether it runs, and what to do where it does not."""
    since = "" if not snapshot.at else f", last event {_ago(snapshot.at, now)} ago"
    resumed = f", resumed {snapshot.resumptions} times" if snapshot.resumptions else ""
    process = "" if snapshot.finished else f"{snapshot.process}, "
    yield Text(f"{process}{snapshot.events} events{resumed}{since}", style="dim")
    if snapshot.finished or snapshot.process.state == "running":
        return
    if snapshot.stopped is not None:
        yield Text(f"stopped: {snapshot.stopped}", style="bold yellow")
    elif snapshot.process.state == "none" and snapshot.events:
        yield Text("interrupted: killed, or run by another machine; all that was paid for is kept", "bold yellow")
    if snapshot.process.state == "none" and snapshot.events:
        command = "holdgate judge" if "judging" in snapshot.marks else "holdgate run"
        yield Text(f"to go on: {command} PLAN --out {snapshot.directory}")


def _spend(snapshot: Snapshot) -> Iterator[RenderableType]:
    """What was paid for, by role and phase, with each limit and the share of it that is used."""
    if snapshot.paid is None:
        yield Text("spend: not known, as there is no readable calls.sqlite beside the run directory", style="dim")
        return
    table = _table("paid so far", "calls", "tokens", "US dollars", "used")
    for name, usage in snapshot.paid.by_phase.items():
        table.add_row(name, *_cells(usage), "")
    if snapshot.paid.unanswered.calls:
        table.add_row("perhaps, without an answer", *_cells(snapshot.paid.unanswered), "")
    table.add_row("in all", *_cells(snapshot.paid.total), "", style="bold")
    for label, usage, limits in _limited(snapshot):
        for name, unit in UNITS:
            if (limit := limits.get(name)) is not None:
                table.add_row(*_limit_row(label, name, unit, usage, limit))
    yield table
    if snapshot.limits is None:
        yield Text("its limits stand in its plan file: name it with --plan", style="dim")


def _limited(snapshot: Snapshot) -> Iterator[tuple[str, Usage, dict[str, float | None]]]:
    """The whole run and each role, with what it paid and its limits."""
    assert snapshot.paid is not None, "the caller has looked"
    limits = dict(snapshot.limits or {})
    yield "limit", snapshot.paid.total, limits
    for role in ("student", "reflector"):
        of_role = [usage for name, usage in snapshot.paid.by_phase.items() if name.split(" ")[0] == role]
        yield f"limit, {role}", sum(of_role, Usage()), dict(limits.get(role) or {})


def _limit_row(label: str, name: str, unit: str, usage: Usage, limit: float) -> tuple[str, ...]:
    used = {"calls": usage.calls, "tokens": usage.prompt_tokens + usage.completion_tokens, "usd": usage.cost_usd}[name]
    cells = ["", "", ""]
    cells[[key for key, _ in UNITS].index(name)] = f"{limit:,.10g}"
    if used is None:
        return (f"{label} of {unit}", *cells, "no price")
    share = used / limit if limit else 1.0
    bar = "#" * min(round(20 * share), 20)
    return (f"{label} of {unit}", *cells, f"|{bar:<20}| {share:.0%}")


def _cells(usage: Usage) -> tuple[str, str, str]:
    money = "no price" if usage.cost_usd is None else f"{usage.cost_usd:.4f}"
    return f"{usage.calls:,}", f"{usage.prompt_tokens + usage.completion_tokens:,}", money


def _frontier(frontier: Frontier) -> Iterator[RenderableType]:
    """The candidates that lead on most accept examples."""
    more = f", the first {LEADERS} of {len(frontier.leaders)}" if len(frontier.leaders) > LEADERS else ""
    yield Text(f"frontier: {len(frontier.pool)} in the pool, {len(frontier.examples)} accept examples{more}")
    table = _table("candidate", "leads", "alone", "paired", "words")
    for leader in frontier.leaders[:LEADERS]:
        row = leader.row
        paired = "" if row.paired is None else f"{row.paired:.3f}"
        table.add_row(
            row.name, f"{leader.leads}", f"{len(leader.alone)}", paired, "" if row.words is None else f"{row.words}"
        )
    yield table


def _proposals(made: Sequence[TreeRow]) -> Iterator[RenderableType]:
    """The last proposals, the newest first, with what became of each and why."""
    counts = ", ".join(
        f"{sum(row.outcome == outcome for row in made)} {outcome}" for outcome in ("accepted", "rejected", "invalid")
    )
    yield Text(f"proposals: {len(made)}, of them {counts}; the last {min(len(made), LAST)}")
    table = _table("candidate", "minibatch", "outcome", "from", "by", "why")
    for column in table.columns[2:]:
        column.justify, column.overflow = "left", "fold"
    for row in reversed(made[-LAST:]):
        table.add_row(*proposal_cells(row))
    yield table


def proposal_cells(row: TreeRow) -> tuple[Text, ...]:
    """One proposal: name, gain on its minibatch, outcome, parents, operator, reason."""
    gain = "" if row.gain is None else f"{row.gain:+.3f}"
    return (
        Text(row.name),
        Text(gain),
        Text(row.outcome, style=STYLES.get(row.outcome, "")),
        Text(" and ".join(row.parents)),
        Text(row.operator or row.kind),
        Text(row.reason or ""),
    )


def _table(*columns: str) -> Table:
    """A table without lines whose first column is words and whose others are numbers."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    return table


def _ago(at: str, now: datetime) -> str:
    seconds = max((now - datetime.fromisoformat(at)).total_seconds(), 0.0)
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
