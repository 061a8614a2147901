"""``holdgate watch`` and ``holdgate ui``."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click
from rich.console import Console

from experiments.cli.campaigns import not_a_run, tracking_uri
from experiments.watch import Ended, Follower, follow, limits_of
from experiments.watch.mlflow_server import store_server
from experiments.watch.screen import screen
from lineage.errors import InputError
from lineage.ledger import read_events
from lineage.mirror.store import STATE

STATUS: dict[Ended, int] = {"finished": 0, "limit": 3, "interrupted": 1}
"""Exit status by how a run that was followed has ended."""


@click.command("watch")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--once", is_flag=True, help="Print how it stands now, and end.")
@click.option("--wait", is_flag=True, help="Wait for a run that has not begun, or that no process here runs.")
@click.option("--plan", metavar="PLAN", help="The plan file, for its limits, which a run directory does not hold.")
@click.option("--interval", type=click.FloatRange(min=0.1), default=1.0, help="Seconds between looks (default: 1).")
def watch_command(run: Path, once: bool, wait: bool, plan: str | None, interval: float) -> None:
    """Follow a running campaign or judging run from another terminal, or look at a finished one.

    Shows the phase, spend against limits, the best so far, the frontier, the last proposals and why they were
    rejected, and the reward of each candidate on each accept example. Nothing is locked and nothing is changed.
    Held-out results are shown when the campaign is decided, and not before. Ends with the run: status 0 if it
    finished, 3 at a limit, 1 if it was interrupted; ctrl-C ends the watching, not the run.
    """
    if once and wait:
        raise click.UsageError("--once looks now, and --wait waits: give one of them")
    directory, path = run.absolute(), run / "ledger.jsonl"
    if not wait and not path.is_file():
        raise not_a_run(run)
    limits = None
    if plan is not None:
        if not path.is_file():
            raise InputError(f"--plan is checked against what {run} has registered, which is nothing yet; leave it out")
        limits = limits_of(plan, read_events(path)[0].body)
    console = Console(width=None if sys.stdout.isatty() else 110)
    follower = Follower(directory, limits=limits)
    if once:
        console.print(screen(follower.look(), console), highlight=False)
        return
    try:
        ended = follow(follower, console, wait=wait, interval=interval)
    except KeyboardInterrupt:
        return
    sys.exit(STATUS[ended])


@click.command("ui")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(1, 65535), default=5000, help="Where to listen (default: 5000).")
@click.option("--tracking-uri", "store", help="MLflow store; by default where the run is mirrored.")
def ui_command(run: Path, port: int, store: str | None) -> None:
    """Open MLflow's user interface on the store of a campaign, on 127.0.0.1; ctrl-C ends it.

    A run that is not mirrored yet is mirrored by: holdgate lineage sync RUN.
    """
    if not (run / "ledger.jsonl").is_file():
        raise not_a_run(run)
    directory = run.absolute()
    mirrored = _mirrored(directory)
    uri = store or mirrored.get("tracking_uri") or tracking_uri(directory)
    if uri.startswith(("http://", "https://")):
        click.echo(f"the run is mirrored to a server that is running: open {uri}")
        return
    if uri.startswith("sqlite:///") and not Path(uri.removeprefix("sqlite:///")).is_file():
        raise InputError(f"there is no MLflow store at {uri}; make it with: holdgate lineage sync {run}")
    signal.signal(signal.SIGTERM, _interrupted)
    with tempfile.TemporaryDirectory(prefix="holdgate-ui-") as scratch:
        log = Path(scratch) / "mlflow.log"
        try:
            with store_server(uri, port=port, log=log) as server:
                place = mirrored.get("run")
                click.echo(f"{server.url}   the store {uri}" + (f", run {place}" if place else ""))
                click.echo("ctrl-C ends it")
                sys.stdout.flush()
                server.wait()
        except KeyboardInterrupt:
            click.echo("ended")


def _mirrored(directory: Path) -> dict[str, Any]:
    """What the run directory remembers of its mirror; nothing where it has none."""
    try:
        kept = json.loads((directory / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _interrupted(number: int, frame: FrameType | None) -> NoReturn:
    """Being told to end is ctrl-C by another name."""
    del number, frame
    raise KeyboardInterrupt
