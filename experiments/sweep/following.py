"""Progress of a worker on the terminal: a line a step, and one status line."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console

from experiments.sweep.loading import LoadedStudy
from experiments.sweep.tables import ended_words
from optimize.sweep import point_words
from optimize.sweep.pruning import Halving
from optimize.sweep.space import Label
from students import Progress

QUIET_S: Final = 20.0
"""Seconds between lines where the output is not a terminal."""


class Lines:
    """A follower that prints a line a step, and keeps a status line on a terminal.

    Args:
        console: where to print.
        loaded: the study.
        quiet: whether other workers print to the same place, so that there is no status line.
    """

    def __init__(self, console: Console, loaded: LoadedStudy, *, quiet: bool) -> None:
        self._console, self._objectives = console, loaded.plan.objectives
        self._status = console.status("opening the study") if console.is_terminal and not quiet else None
        self._trial, self._last = "", time.monotonic()
        self._waited = False
        if self._status is not None:
            self._status.start()

    def begun(self, number: int, of: int, parameters: Mapping[str, Label], attempts: int) -> None:
        """A trial begins, or is taken up again."""
        self._trial, self._waited = f"trial {number} of {of}", False
        again = "" if attempts == 1 else f" (taken up again, {attempts}. time)"
        self._say(f"{self._trial}{again}: {point_words(parameters)}")

    def judged(self, progress: Progress) -> None:
        """An evaluation of it has come further."""
        line = (
            f"{self._trial} · judged {progress.done} of {progress.of} · {progress.paid} calls paid, "
            f"{progress.cached} cached"
        )
        if self._status is not None:
            self._status.update(line)
        elif time.monotonic() - self._last > QUIET_S:
            self._last = time.monotonic()
            self._say(f"  {line}")

    def halved(self, halving: Halving) -> None:
        """It was judged on a set of accept groups."""
        place = f"{halving.above} of {halving.judged} rank above it"
        self._say(f"  {self._trial} · {halving.groups} accept groups: {halving.value:.3f}, {place}")

    def ended(self, number: int, outcome: Mapping[str, Any]) -> None:
        """It came to an outcome."""
        self._say(f"  trial {number} · {ended_words(outcome, self._objectives)}")

    def waiting(self, numbers: tuple[int, ...]) -> None:
        """Only trials of other workers are left."""
        if not self._waited:
            self._waited = True
            which = ", ".join(map(str, numbers))
            self._say(f"waiting for other workers at trial {which}; a dead one's is taken up")

    def _say(self, line: str) -> None:
        self._console.print(line, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Take the status line away."""
        if self._status is not None:
            self._status.stop()
