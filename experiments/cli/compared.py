"""``holdgate experiment ablations``, ``curve`` and ``optimisers``: campaigns compared in one table."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from experiments.cli.views import Views, say
from experiments.crossing.against import What
from experiments.crossing.members import CampaignSet, Member
from experiments.crossing.sets import ablation_members, curve_members, load_bundled_campaign, optimiser_members
from experiments.crossing.tables import compared_document, compared_row, compared_table
from experiments.crossing.writing import write_document
from lineage.canonical import pretty_json, write_atomic
from lineage.errors import InputError
from optimize.engines import ENGINES

PlanArgument = click.argument("plan")
SeedsOption = click.option(
    "--seeds", default=1, show_default=True, type=click.IntRange(1, 100), help="Search seeds, from the plan's own on."
)
RegisterOption = click.option(
    "--register", is_flag=True, help="Take a confirmatory comparison of the split lock for each campaign."
)


@click.command("ablations")
@click.argument("plans", nargs=-1)
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs/ablations"), show_default=True)
@SeedsOption
@RegisterOption
@click.option("--models", is_flag=True, help="Run plans that ask a model too; without it the simulated ones alone.")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def ablations_command(
    plans: tuple[str, ...], out: Path, seeds: int, register: bool, models: bool, as_json: bool
) -> None:
    """Run ablation plans, bundled or your own, and print one table: gains, optimism and calls.

    Every ablation of the bundled set differs from the reference in one thing; the comment of its plan says in what.
    Their held-out numbers are exploratory: together they look at one split more often than its lock pays for. Give
    plans on a lock with a comparison for each, and --register, to confirm.
    """
    _compare("ablations", ablation_members(plans), out, seeds, register=register, models=models, as_json=as_json)


@click.command("curve")
@PlanArgument
@click.option("--sizes", required=True, help="Numbers of accept groups, such as 3,6,12; smaller sets lie in larger.")
@click.option("--out", type=click.Path(path_type=Path), help="Directory, by default runs/NAME-curve.")
@SeedsOption
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def curve_command(plan: str, sizes: str, out: Path | None, seeds: int, as_json: bool) -> None:
    """Run one plan with growing, nested accept sets, and print optimism against their size.

    Each is a campaign with a control, so every number is exploratory.
    """
    loaded = load_bundled_campaign(plan)
    try:
        wanted = [int(size) for size in sizes.split(",")]
    except ValueError as error:
        raise InputError(f"--sizes must be whole numbers such as 3,6,12, got {sizes!r}") from error
    place = out or Path("runs") / f"{loaded.plan.name}-curve"
    _compare("accept sizes", curve_members(loaded, wanted), place, seeds, as_json=as_json)


@click.command("optimisers")
@PlanArgument
@click.option(
    "--engine", "engines", multiple=True, type=click.Choice(list(ENGINES)), help="Engines, by default all of them."
)
@click.option("--out", type=click.Path(path_type=Path), help="Directory, by default runs/NAME-optimisers.")
@SeedsOption
@RegisterOption
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def optimisers_command(
    plan: str, engines: tuple[str, ...], out: Path | None, seeds: int, register: bool, as_json: bool
) -> None:
    """Search one plan with our own engine, dspy.GEPA and MIPROv2, at the same split, calls and budget.

    The plan states the budget (search.budget) and asks a model for its prompts (reflector.kind: llm). The table
    compares the winners by held-out result, and by what it took.
    """
    loaded = load_bundled_campaign(plan)
    place = out or Path("runs") / f"{loaded.plan.name}-optimisers"
    members = optimiser_members(loaded, engines or list(ENGINES))
    _compare("optimisers", members, place, seeds, register=register, as_json=as_json)


def _compare(
    what: What,
    members: tuple[Member, ...],
    out: Path,
    seeds: int,
    *,
    register: bool = False,
    models: bool = True,
    as_json: bool = False,
) -> None:
    console = Console(width=None if sys.stdout.isatty() else 160, stderr=as_json)
    directory, views = out.absolute(), Views(console)
    first = members[0].loaded.plan.search.seed
    compared = CampaignSet(
        what,
        members,
        directory,
        tuple(range(first, first + seeds)),
        registered=register,
        models=models,
        watching=views.next,
    )
    try:
        found, skipped = compared.run()
    finally:
        views.close()
    if not found:
        raise InputError("; ".join(f"{each.member.name}: {each.why}" for each in skipped) or "there is no plan to run")
    table, row = compared_table(what, found, skipped), compared_row(what, found, skipped)
    write_atomic(directory / "comparison.json", pretty_json(row))
    paths = write_document(compared_document(table, found, name=directory.name), directory)
    if as_json:
        click.echo(json.dumps(row, indent=2))
        return
    shown = Table(title=table.title, title_justify="left")
    for place, column in enumerate(table.head):
        shown.add_column(column, justify="right" if place else "left", overflow="fold")
    for cells in table.rows:
        shown.add_row(*cells)
    for notice in table.notices:
        say(console, f"[bold]{notice}[/bold]")
    console.print(shown)
    for words in table.words:
        say(console, words)
    say(console, f"written: {paths.html}, {paths.markdown.name}, comparison.json")
