"""The live view of a campaign: phase, iteration, best so far, calls paid and cached, time left."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.status import Status

from experiments.sizing import PlanSize
from lineage.ledger import Event
from lineage.tree import proposal_name
from optimize.plan import Plan
from students import Progress

PHASE_WORDS: Final = {
    "calibrate": "measuring the baseline on accept",
    "baseline": "measuring the baseline on held-out data, behind the seal",
    "search": "searching",
    "choose": "choosing the winner on accept",
    "confirm": "opening the seal to confirm the winner",
    "gate": "reading the gate",
}
QUIET_S: Final = 20.0
"""Seconds between lines where the output is not a terminal."""


class LiveView:
    """A watcher that prints events as lines and keeps one status line up to date.

    Args:
        console: where to print.
        plan: the campaign's plan.
        size: its most calls, for the time left.
    """

    def __init__(self, console: Console, plan: Plan, size: PlanSize) -> None:
        self._console, self._plan, self._size = console, plan, size
        self._status: Status | None = console.status("reading the ledger") if console.is_terminal else None
        self._start = time.monotonic()
        self._phase = ""
        self._proposals = 0
        self._best: tuple[float, str] | None = None
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self._undecided: list[tuple[str, str]] = []
        self._last_line = 0.0
        if self._status is not None:
            self._status.start()

    def close(self) -> None:
        """Take the status line away."""
        if self._status is not None:
            self._status.stop()

    def phase(self, name: str) -> None:
        """A phase begins."""
        self._phase = name
        if self._status is not None:
            self._status.update(PHASE_WORDS[name])
        self._say(f"[bold]{name}[/bold]: {PHASE_WORDS[name]}")

    def judged(self, progress: Progress) -> None:
        """An evaluation has come further."""
        left = self._time_left(progress)
        of = self._plan.search.iterations
        at = min(1 + self._proposals // self._plan.search.parallel, of)
        iteration = f" {at}/{of}" if self._phase == "search" else ""
        best = f" · best on accept {self._best[0]:.3f} ({self._best[1]})" if self._best else ""
        line = (
            f"{self._phase}{iteration} · judged {progress.done} of {progress.of}{best} · "
            f"{progress.paid} calls paid, {progress.cached} cached{left}"
        )
        if self._status is not None:
            self._status.update(line)
        elif time.monotonic() - self._last_line > QUIET_S:
            self._last_line = time.monotonic()
            self._console.print(f"  {line}", highlight=False)

    def waiting(self, file: Path) -> None:
        """A person's answer is waited for."""
        if self._status is not None:
            self._status.update(f"{self._phase} · waiting for {file.name}")
        self._say(f"  waiting for the answer in {file}; what is asked stands in the request beside it")

    def event(self, event: Event) -> None:
        """An event is in the ledger, now or from an earlier process."""
        shown = {
            "candidate": self._candidate,
            "outcome": self._outcome,
            "measured": self._measured,
            "calibration": self._calibration,
            "seal_opened": self._seal,
        }.get(event.type)
        if shown is not None:
            shown(event.body)

    def _candidate(self, body: Any) -> None:
        name = proposal_name(body["kind"], body["iteration"], self._taken)
        self._taken.add(name)
        self._undecided.append((body["candidate"], name))
        self._names.setdefault(body["candidate"], name)

    def _outcome(self, body: Any) -> None:
        self._proposals += body["iteration"] > 0
        # A repetition is decided at once, so the latest open proposal of a text is the one.
        at = max(at for at, (candidate, _) in enumerate(self._undecided) if candidate == body["candidate"])
        _, name = self._undecided.pop(at)
        self._say(f"  {name} [bold]{body['outcome']}[/bold]: {body['reason']}")

    def _measured(self, body: Any) -> None:
        measured = body["measures"]["omissions"]
        name = self._names[body["candidate"]]
        value = measured["value"]
        if body["purpose"] != "accept":  # nobody is to look at a held-out result before the decision
            self._say(f"  {name} measured on held-out data ({body['purpose']}); shown with the decision")
            return
        if value is None:
            self._say(f"  {name} on accept: no pair has a score")
            return
        self._say(
            f"  {name} on accept: paired discrimination {value:.3f} "
            f"({measured['wins']} won, {measured['ties']} tied, {measured['losses']} lost)"
        )
        if self._best is None or value > self._best[0]:
            self._best = (value, name)

    def _calibration(self, body: Any) -> None:
        self._say(f"  a fact counts as present from P(yes) = {body['threshold']:.2f}, set on accept and now fixed")

    def _seal(self, body: Any) -> None:
        place = body["comparison"]
        counted = f", comparison {place['k']} of {place['of']}" if place else ""
        self._say(f"  seal opened for {body['opening']}: {body['groups']} groups{counted}")

    def _say(self, line: str) -> None:
        self._last_line = time.monotonic()
        self._console.print(line, highlight=False)

    def _time_left(self, progress: Progress) -> str:
        """At most: as if every proposal were accepted, at the speed of the calls paid so far."""
        if progress.paid < 10:
            return ""
        seconds = (time.monotonic() - self._start) / progress.paid
        left = max(self._size.student - progress.paid - progress.cached, 0) * seconds
        return f" · at most {left / 60:.0f} min left" if left >= 60 else " · less than a minute left"
