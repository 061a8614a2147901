"""``holdgate experiment``: searches crossed over reasoning budgets, ablations, accept sizes, and optimisers."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from experiments.cli.compared import ablations_command, curve_command, optimisers_command
from experiments.cli.views import Views, say
from experiments.crossing import (
    LoadedExperiment,
    experiment_size,
    load_experiment_plan,
    write_experiment_report,
)
from experiments.loading import LoadedPlan
from experiments.sizing import SECONDS_A_LOCAL_CHECK
from lineage.errors import BudgetError
from optimize.crossing import CrossedExperiment, CrossedPlan, audit_experiment, targets
from optimize.models import capabilities_of
from optimize.plan import Plan
from optimize.student_plan import StudentPlan
from students import ReasoningBudget

PlanArgument = click.argument("plan")
DirectoryArgument = click.argument("directory", type=click.Path(path_type=Path))


class _RunByDefault(click.Group):
    """A group whose first argument may be a plan instead of a command."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """A command of the group, or the run of the plan named."""
        if args and self.get_command(ctx, args[0]) is None:
            return "run", self.get_command(ctx, "run"), args
        return super().resolve_command(ctx, args)


@click.group("experiment", cls=_RunByDefault)
def experiment_group() -> None:
    """Experiments of several searches: holdgate experiment PLAN searches at several reasoning budgets and crosses.

    \b
    holdgate experiment reasoning-budget-simulated     the crossed experiment, with a judge that is a formula
    holdgate experiment plan reasoning-budget          how many calls one needs at most
    holdgate experiment ablations                      bundled ablations, one table
    holdgate experiment curve reference --sizes 3,6    optimism against the size of accept, of any plan
    holdgate experiment optimisers optimisers          ours, dspy.GEPA and MIPROv2 at one budget
    """  # noqa: D301 - click reads the escape as: keep these lines


@experiment_group.command("run")
@PlanArgument
@click.option("--out", type=click.Path(path_type=Path), help="Directory, by default runs/NAME; an old one is resumed.")
@click.option("--exploratory", metavar="REASON", help="Confirm nothing: mark every held-out number, and say why.")
def run_command(plan: str, out: Path | None, exploratory: str | None) -> None:
    """Search under every reasoning budget of the plan, and cross the winners over all of them; or resume it.

    The same seeds, splits and search budget for every setting. Held-out data are opened for the seed before any search,
    and for the registered comparisons after all of them; nothing is emitted.
    """
    loaded = load_experiment_plan(plan)
    console = Console(width=None if sys.stdout.isatty() else 110)
    directory = (out or Path("runs") / loaded.plan.name).absolute()
    base = loaded.base
    say(console, f"[bold]holdgate experiment {loaded.plan.name}[/bold]  base campaign {base.plan.name}  {directory}")
    say(console, f"splits: {base.lock.describe()}; committed {base.lock.created_at}")
    _notices(console, simulated=base.plan.simulated, exploratory=exploratory)
    views = Views(console)
    experiment = CrossedExperiment(
        loaded.plan,
        base.plan,
        base.corpus,
        base.lock,
        directory,
        baseline=base.baseline,
        seeds=base.seeds,
        exploratory=exploratory,
        watching=lambda setting, arm: views.next(setting, _with_plan(base, arm)),
        progress=lambda words: views.say(f"[bold]{words}[/bold]"),
        models_hash=base.models_hash,
    )
    try:
        result = experiment.run()
    except BudgetError as error:
        raise BudgetError(f"{error}; what is paid for is kept: raise the limit, and give the same command") from error
    finally:
        views.close()
    paths = write_experiment_report(directory)
    _cells(console, loaded, result.result)
    for words in result.result["words"]:
        say(console, f"- {words}")
    _notices(console, simulated=base.plan.simulated, exploratory=result.result["exploratory"])
    say(console, f"crossing: {result.paid} calls paid, {result.cached} found in the cache")
    say(console, f"report:   {paths.html}")
    say(console, f"check:    holdgate experiment audit {directory}")


@experiment_group.command("plan")
@click.argument("plan", required=False)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of an experiment's plan, for editors.")
def plan_command(plan: str | None, schema: bool) -> None:
    """Check an experiment's plan, and print how many calls it needs at most. Nothing is called."""
    if schema:
        click.echo(json.dumps(CrossedPlan.model_json_schema(), indent=2))
        return
    if plan is None:
        raise click.UsageError("name an experiment, such as reasoning-budget-simulated, or give --schema")
    loaded = load_experiment_plan(plan)
    size, console = experiment_size(loaded), Console(width=None if sys.stdout.isatty() else 110)
    table = Table(title=f"{loaded.plan.name}: calls at most", title_justify="left")
    table.add_column("what")
    table.add_column("calls", justify="right")
    for name, calls in size.rows():
        table.add_row(name, str(calls))
    table.add_section()
    table.add_row("student, all", str(size.student))
    table.add_row("reflector", str(size.reflector))
    say(console, f"splits: {loaded.base.lock.describe()}")
    console.print(table)
    amounts = loaded.plan.budget.model_dump().items()
    budget = ", ".join(f"{value:g} {name}" for name, value in amounts if value is not None)
    say(console, f"Each search ends once it has used {budget}, so it usually needs fewer calls than its row says.")
    names = [target.name for target in targets(list(loaded.plan.settings), loaded.plan.compared)]
    say(
        console,
        f"Registered held-out comparisons: {len(names)} ({', '.join(names)}); the split lock has "
        f"{loaded.base.lock.comparisons}, each at two-sided alpha {loaded.base.lock.spend:g}.",
    )
    if loaded.base.plan.student.model.local is not None:
        _time(console, loaded, size.crossed)


@experiment_group.command("report")
@DirectoryArgument
def report_command(directory: Path) -> None:
    """Write report.html and report.md of a finished experiment, from its directory alone."""
    paths = write_experiment_report(directory.absolute())
    click.echo(f"{paths.html}\n{paths.markdown}")


@experiment_group.command("audit")
@DirectoryArgument
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def audit_command(directory: Path, as_json: bool) -> None:
    """Check an experiment and each of its searches: chains, order, openings, and every number computed again."""
    findings = audit_experiment(directory)
    errors = [finding for finding in findings if finding.severity == "error"]
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
        sys.exit(1 if errors else 0)
    console = Console(width=None if sys.stdout.isatty() else 110)
    for finding in findings:
        say(console, f"[bold]{finding.severity}[/bold] {finding.place}: {finding.words}")
    say(console, f"{directory}: {len(errors)} errors, {len(findings) - len(errors)} remarks.")
    sys.exit(1 if errors else 0)


def _with_plan(loaded: LoadedPlan, plan: Plan) -> LoadedPlan:
    return LoadedPlan(loaded.path, plan, loaded.corpus, loaded.lock, loaded.baseline)


def _cells(console: Console, loaded: LoadedExperiment, result: Any) -> None:
    if not result["cells"]:
        return
    table = Table(title="paired discrimination on held-out omissions (0.5 is a coin flip)", title_justify="left")
    table.add_column("prompt")
    settings = list(loaded.plan.settings)
    for setting in settings:
        table.add_column(f"judged at {setting}", justify="right")
    cells = {(row["prompt"], row["setting"]): row["measures"]["omissions"] for row in result["cells"]}
    for prompt in ("seed", *settings):
        shown = [_value(cells[prompt, setting]) for setting in settings]
        table.add_row("seed" if prompt == "seed" else f"searched at {prompt}", *shown)
    console.print(table)


def _value(row: Any) -> str:
    if row["value"] is None:
        return "no pairs"
    return f"{row['value']:.3f}" + ("" if row["low"] is None else f" [{row['low']:.3f}, {row['high']:.3f}]")


def _time(console: Console, loaded: LoadedExperiment, crossed: Any) -> None:
    """How long the checks take on the embedded model; a scratchpad before a check is a longer call."""
    size = experiment_size(loaded)
    low = high = 0.0
    for setting, search in size.searches.items():
        arm = loaded.plan.arm(loaded.base.plan, setting).student
        calls = search.calibrate + search.baseline + search.minibatches + search.accept + crossed[setting]
        thinking = arm.budget.thinking_tokens or 0
        thoughts = calls / 2 if _scratchpad(arm) else 0  # half of the calls are the thoughts before the others
        low += (calls - thoughts) * SECONDS_A_LOCAL_CHECK[0] + thoughts * thinking / 60
        high += (calls - thoughts) * SECONDS_A_LOCAL_CHECK[1] + thoughts * thinking / 15
    say(console, f"On the embedded model: {low / 60:.0f} to {high / 60:.0f} minutes, if no search ends at its budget.")


def _scratchpad(student: StudentPlan) -> bool:
    return ReasoningBudget(**student.budget.model_dump()).scratchpad(capabilities_of(student.model)) is not None


def _notices(console: Console, *, simulated: bool, exploratory: str | None) -> None:
    if simulated:
        say(console, "[bold]SIMULATED[/bold]: the judge answers from a formula; nothing here is about a model.")
    if exploratory is not None:
        say(console, f"[bold]EXPLORATORY[/bold] ({exploratory}): no number of this experiment confirms anything.")


for command in (ablations_command, curve_command, optimisers_command):
    experiment_group.add_command(command)
