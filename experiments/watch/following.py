"""Following a run until it ends: a screen that is kept up to date, or lines where the output is no terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final, Literal

from rich.console import Console
from rich.live import Live
from rich.text import Text

from experiments.live import QUIET_S
from experiments.watch.screen import headline, proposal_cells, screen
from experiments.watch.snapshot import Follower, Snapshot
from lineage.tree import PENDING

Ended = Literal["finished", "limit", "interrupted"]
"""How a run ended: with its verdict or table, at a limit of its plan, or otherwise."""
INTERVAL_S: Final = 1.0


def follow(
    follower: Follower,
    console: Console,
    *,
    wait: bool = False,
    interval: float = INTERVAL_S,
    sleep: Callable[[float], None] = time.sleep,
) -> Ended:
    """Show a run until it has ended, and say how.

    Args:
        follower: of its directory.
        console: where to.
        wait: whether to stay where no process of this machine runs it, until it finishes.
        interval: seconds between two looks.
        sleep: what passes the time between them.

    Raises:
        LedgerError: the ledger was damaged, replaced or removed.
    """
    snapshot = follower.look()
    if (ended := _ended(snapshot, wait=wait)) is not None:
        console.print(screen(snapshot, console), highlight=False)
        return ended
    if console.is_terminal:
        with Live(console=console, auto_refresh=False, vertical_overflow="ellipsis", transient=True) as live:
            while (ended := _ended(snapshot, wait=wait)) is None:
                live.update(screen(snapshot, console), refresh=True)
                sleep(interval)
                snapshot = follower.look()
        console.print(screen(snapshot, console), highlight=False)
        return ended
    console.print(screen(snapshot, console), highlight=False)
    quiet = 0.0
    while (ended := _ended(snapshot, wait=wait)) is None:
        sleep(interval)
        before, snapshot = snapshot, follower.look()
        lines = list(_news(before, snapshot))
        quiet = 0.0 if lines else quiet + interval
        if quiet >= QUIET_S:
            lines, quiet = [_running(snapshot)], 0.0
        for line in lines:
            console.print(line, highlight=False, soft_wrap=True)
    console.print(screen(snapshot, console), highlight=False)
    return ended


def _ended(snapshot: Snapshot, *, wait: bool) -> Ended | None:
    if snapshot.finished:
        return "finished"
    if wait or snapshot.process.state != "none":
        return None
    return "limit" if snapshot.limit is not None else "interrupted"


def _news(before: Snapshot, after: Snapshot) -> Iterator[Text]:
    """What happened between two looks, in lines."""
    if (after.phase, after.detail) != (before.phase, before.detail):
        yield headline(after)
    for opening in after.openings[len(before.openings) :]:
        yield Text(f"seal opened for {opening['opening']}: {opening['groups']} groups")
    old = {row.seq: row.outcome for row in before.rows}
    for row in after.rows:
        if row.parents and row.outcome not in (PENDING, old.get(row.seq)):
            name, gain, outcome, parents, operator, reason = proposal_cells(row)
            yield Text("  ").join([name, outcome, gain, Text("from ") + parents, operator, reason])
    if after.verdict is not None and before.verdict is None:
        yield Text(f"decision: {after.verdict['decision']}, because {after.verdict['reason']}")
    if after.process != before.process and not after.finished:
        yield Text(str(after.process))


def _running(snapshot: Snapshot) -> Text:
    calls = "" if snapshot.paid is None else f", {snapshot.paid.total.calls} calls paid"
    return headline(snapshot) + Text(calls)
