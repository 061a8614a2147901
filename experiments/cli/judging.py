"""``holdgate judge`` and ``holdgate compare``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.console import Console

from experiments.judging.loading import LoadedJudging, load_judging_plan
from experiments.judging.screen import JudgingView, say, show_comparison, show_table
from experiments.judging.sizing import most_calls
from experiments.judging.stopping import read_stopped, stopped_words, write_stopped
from experiments.judging.writing import write_table
from lineage.errors import BudgetError
from optimize.judging import JudgingPlan, JudgingRun
from optimize.judging.alignment import find_side
from optimize.judging.comparing import compare_judges


@click.command("judge")
@click.argument("plan", required=False)
@click.option("--out", type=click.Path(path_type=Path), help="Run directory (default: runs/NAME); resumed if there.")
@click.option("--students", metavar="A,B", help="Only these students of the plan.")
@click.option("--exploratory", metavar="REASON", help="Why held-out examples are looked at; nothing is confirmed.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of a judging plan, for editors.")
def judge_command(
    plan: str | None, out: Path | None, students: str | None, exploratory: str | None, schema: bool
) -> None:
    """Judge the same examples with every student of a judging plan, and print and store the table.

    PLAN is a YAML file or a bundled judging plan: designs, pipelines, ladder, simulated-judges. Word overlap and
    sentence-embedding similarity, which need no language model, always stand beside the students where there are facts.
    A run is resumed by the same command; calls are kept in calls.sqlite beside it, and paid for once.
    """
    if schema:
        click.echo(json.dumps(JudgingPlan.model_json_schema(), indent=2))
        return
    if plan is None:
        raise click.UsageError("name a judging plan, such as simulated-judges, or give --schema")
    names = [] if students is None else [name.strip() for name in students.split(",") if name.strip()]
    loaded = load_judging_plan(plan, students=names)
    directory = (out or Path("runs") / "-".join([loaded.plan.name, *names])).absolute()
    console = Console(width=None if sys.stdout.isatty() else 160)
    view = JudgingView(console)
    try:
        run = JudgingRun(
            loaded.plan,
            loaded.corpus,
            directory,
            texts=loaded.texts,
            lock=loaded.lock,
            exploratory=exploratory,
            follower=view,
            models_hash=loaded.models_hash,
        )
        most = most_calls(run, loaded.corpus)
        _introduce(console, loaded, run, sum(most.values()))
        result = run.run()
    except BudgetError as error:
        stop = read_stopped(directory, most)
        write_stopped(stop, loaded.path, directory)
        raise BudgetError(stopped_words(stop, directory)) from error
    finally:
        view.close()
    paths = write_table(directory)
    show_table(console, result.table)
    say(console, f"calls: {result.paid} paid, {result.found} found in the cache")
    say(console, f"table:  {paths.markdown}   scores: {paths.scores}")
    say(console, f"check:  holdgate audit {directory}   and   holdgate compare {directory}:A {directory}:B")


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option("--common", is_flag=True, help="Compare the common part where they did not judge the same examples.")
@click.option("--swept", is_flag=True, help="Flag by thresholds swept on these documents, not by own rules.")
@click.option("--union", is_flag=True, help="Evaluate running both: flagged if either flags.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare_command(a: str, b: str, common: bool, swept: bool, union: bool, as_json: bool) -> None:
    """Compare two judges on identical examples: RUN:student, RUN:student@budget, or RUN where it has one.

    Paired discrimination and flags are compared by group; what each flags is laid side by side. Other examples are
    refused, unless --common asks for the part that both judged.
    """
    found = compare_judges(find_side(a), find_side(b), common=common, flags_by="swept" if swept else "own", union=union)
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    show_comparison(Console(width=None if sys.stdout.isatty() else 160), found)


def _introduce(console: Console, loaded: LoadedJudging, run: JudgingRun, calls: int) -> None:
    plan, part = loaded.plan, run.part
    say(console, f"holdgate judge {plan.name}  plan {plan.hash[:12]}…  {run.directory}")
    where = "the corpus" if plan.split == "all" else f"split {plan.split}"
    say(
        console,
        f"{len(run.judges)} judges on {len(part.rows)} documents of {len(part.groups)} groups of {where}, "
        f"{plan.replicates} replicate(s): at most {calls} calls",
    )
    if plan.simulated:
        say(console, "SIMULATED: a judge answers from a formula; nothing of it says anything about a model.")
    if plan.split == "heldout":
        say(console, "EXPLORATORY: held-out examples are looked at; no number confirms anything.")
    if plan.limits.calls is not None and plan.limits.calls < calls:
        say(console, f"limits.calls = {plan.limits.calls} may stop it; it could then be resumed with a higher limit.")
