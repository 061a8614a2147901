"""The live views of campaigns that run one after the other."""

from __future__ import annotations

from rich.console import Console

from experiments.live import LiveView
from experiments.loading import LoadedPlan
from experiments.sizing import plan_size
from optimize.watching import Watcher


class Views:
    """The live view of one campaign after the other."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._view: LiveView | None = None

    def next(self, name: str, loaded: LoadedPlan) -> Watcher:
        """The view of the next campaign."""
        self.close()
        say(self._console, f"[bold]{name}[/bold]")
        self._view = LiveView(self._console, loaded.plan, plan_size(loaded))
        return self._view

    def say(self, line: str) -> None:
        """A line between campaigns."""
        self.close()
        say(self._console, line)

    def close(self) -> None:
        """End the view of the last one."""
        if self._view is not None:
            self._view.close()
            self._view = None


def say(console: Console, line: str) -> None:
    """Print a line as it is, however long."""
    console.print(line, highlight=False, soft_wrap=True)
