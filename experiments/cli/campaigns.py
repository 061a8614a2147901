"""``holdgate run`` and ``holdgate plan``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from experiments.live import LiveView
from experiments.loading import LoadedPlan, load_plan
from experiments.report import ReportPaths, write_report
from experiments.screen import final_screen
from experiments.sizing import SECONDS_A_LOCAL_CHECK, plan_size
from experiments.stopping import read_stop, stop_words, write_stop
from lineage.errors import BudgetError, HoldgateError
from lineage.ledger import Event
from lineage.mirror import MirrorError, MirrorProcess
from optimize import Campaign, Plan
from optimize.reflector_plan import OFFLINE
from students import Progress

SMALL_HELDOUT = 20


@click.command("run")
@click.argument("plan")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Run directory, by default runs/NAME; an old one is resumed."
)
@click.option("--exploratory", metavar="REASON", help="Confirm nothing: mark every held-out number, and say why.")
@click.option("--mlflow/--no-mlflow", default=True, help="Mirror the campaign into MLflow (default: yes).")
@click.option("--wait/--no-wait", default=True, help="Wait for the answers of a person who reflects, or stop (wait).")
def run_command(plan: str, out: Path | None, exploratory: str | None, mlflow: bool, wait: bool) -> None:
    """Run a campaign from committed splits to the gate's decision, or resume it where it stopped.

    Everything is in the run directory: ledger, judgements, verdict, report. Calls are kept in calls.sqlite beside it,
    so that nothing is paid for twice. MLflow goes to mlflow.db beside it, or to MLFLOW_TRACKING_URI.
    """
    loaded = load_plan(plan)
    directory = (out or Path("runs") / loaded.plan.name).absolute()
    console = Console(width=None if sys.stdout.isatty() else 110)
    _introduce(console, loaded, directory, exploratory)
    watcher = _Watched(LiveView(console, loaded.plan, plan_size(loaded)), _mirror(directory) if mlflow else None)
    campaign = Campaign(
        loaded.plan,
        loaded.corpus,
        loaded.lock,
        directory,
        baseline=loaded.baseline,
        seeds=loaded.seeds,
        exploratory=exploratory,
        watcher=watcher,
        models_hash=loaded.models_hash,
        wait=wait,
    )
    status = "FAILED"
    try:
        result = campaign.run()
        status = "FINISHED"
    except KeyboardInterrupt:
        status = "KILLED"
        raise
    except BudgetError as error:
        stop = read_stop(loaded, directory)
        write_stop(stop, loaded, directory)
        raise BudgetError(stop_words(stop, directory)) from error
    finally:
        watcher.close(status)
    paths: ReportPaths = write_report(directory)
    if watcher.mirror_problem:
        console.print(f"[bold]MLflow[/bold]: {watcher.mirror_problem}; later: holdgate lineage sync {directory}")
    store = None if watcher.mirror is None else tracking_uri(directory)
    final_screen(console, directory, result, report=paths.html, store=store)


@click.command("plan")
@click.argument("plan", required=False)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of a plan, for editors.")
def plan_command(plan: str | None, schema: bool) -> None:
    """Check a plan, and print how many calls it needs at most and how long they take. Nothing is called."""
    if schema:
        click.echo(json.dumps(Plan.model_json_schema(), indent=2))
        return
    if plan is None:
        raise click.UsageError("name a plan, such as quickstart, or give --schema")
    loaded = load_plan(plan)
    size = plan_size(loaded)
    console = Console()
    table = Table(title=f"{loaded.plan.name}: calls at most", title_justify="left")
    table.add_column("phase")
    table.add_column("calls", justify="right")
    for name, calls in size.rows():
        table.add_row(name, str(calls))
    table.add_section()
    table.add_row("student, all", str(size.student))
    table.add_row("reflector", str(size.reflector))
    console.print(f"splits: {loaded.lock.describe()}")
    console.print(table)
    console.print("Counted as if every proposal were accepted and nothing were cached; usually it is fewer.")
    if loaded.plan.student.model.local is not None and loaded.plan.student.shape == "per-fact":
        fast, slow = (seconds * size.student / 60 for seconds in SECONDS_A_LOCAL_CHECK)
        console.print(
            f"On the embedded model a check takes about a quarter to three quarters of a second: "
            f"{fast:.0f} to {slow:.0f} minutes."
        )
    if loaded.plan.limits.calls is not None and loaded.plan.limits.calls < size.student + size.reflector:
        console.print(
            f"limits.calls = {loaded.plan.limits.calls} may stop it; it could then be resumed with a higher limit."
        )
    _warn_of_size(console, loaded)
    console.print(f"plan hash {loaded.plan.hash}")


def tracking_uri(directory: Path) -> str:
    """The MLflow store of a run directory: MLFLOW_TRACKING_URI, or a SQLite file beside it."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{directory.parent / 'mlflow.db'}"


def _mirror(directory: Path) -> MirrorProcess:
    return MirrorProcess(tracking_uri(directory), experiment="holdgate", directory=directory)


class _Watched:
    """The live view and the MLflow mirror together; a mirror that fails is reported, and can be synchronised later."""

    def __init__(self, view: LiveView, mirror: MirrorProcess | None) -> None:
        self.view, self.mirror = view, mirror
        self.mirror_problem: str | None = None

    def phase(self, name: str) -> None:
        """A phase begins."""
        self.view.phase(name)

    def judged(self, progress: Progress) -> None:
        """An evaluation has come further."""
        self.view.judged(progress)

    def waiting(self, file: Path) -> None:
        """A person's answer is waited for."""
        self.view.waiting(file)

    def event(self, event: Event) -> None:
        """An event is in the ledger."""
        self.view.event(event)
        if self.mirror is not None and self.mirror_problem is None:
            try:
                self.mirror.event(event)
            except MirrorError as error:
                self.mirror_problem = str(error)

    def close(self, status: str) -> None:
        """The campaign ended with an MLflow run status."""
        self.view.close()
        if self.mirror is not None and self.mirror_problem is None:
            try:
                self.mirror.close(status)  # type: ignore[arg-type]  # one of the three statuses above
            except MirrorError as error:
                self.mirror_problem = str(error)


def _introduce(console: Console, loaded: LoadedPlan, directory: Path, exploratory: str | None) -> None:
    plan = loaded.plan
    console.print(
        f"[bold]holdgate {plan.name}[/bold]  plan {plan.hash[:12]}…  lock {loaded.lock.hash[:12]}…  {directory}"
    )
    console.print(f"splits: {loaded.lock.describe()}; committed {loaded.lock.created_at}", highlight=False)
    if plan.simulated:
        console.print(
            "[bold]SIMULATED[/bold]: the judge answers from a formula; nothing here says anything about a model."
        )
    if exploratory is not None:
        console.print(f"[bold]EXPLORATORY[/bold] ({exploratory}): no number of this campaign confirms anything.")
    if (words := OFFLINE.get(plan.reflector.kind)) is not None:
        console.print(f"reflector: {words}; no reflector model is asked.", highlight=False)
    _warn_of_size(console, loaded)


def _warn_of_size(console: Console, loaded: LoadedPlan) -> None:
    groups = len(loaded.lock.splits["heldout"])
    if groups < SMALL_HELDOUT:
        console.print(
            f"{groups} held-out groups cannot confirm a moderate gain: expect the gate to refuse.", highlight=False
        )


def not_a_run(directory: Path) -> HoldgateError:
    """The error for a directory that holds no campaign."""
    return HoldgateError(
        f"{directory} holds no campaign (no ledger.jsonl); name a run directory such as runs/quickstart"
    )
