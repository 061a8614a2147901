"""What a terminal shows of a study: what it would do, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from experiments.sweep.loading import LoadedStudy
from experiments.sweep.tables import (
    FAILED_HEAD,
    PRUNED_HEAD,
    best_head,
    best_rows,
    best_words,
    counts,
    failed_rows,
    pruned_rows,
    spend_words,
)
from optimize.sweep import StudyResult, point_words

SHOWN: Final = 10
"""Most trials in a table of the terminal; the report has all."""


def introduce(console: Console, loaded: LoadedStudy, directory: Path, workers: int) -> None:
    """What is about to run."""
    plan = loaded.plan
    who = "" if workers == 1 else f", {workers} workers"
    console.print(f"[bold]holdgate {plan.name}[/bold]  {loaded.inputs.trials} trials{who}  {directory}", soft_wrap=True)
    say(console, f"splits: {loaded.lock.describe()}; held-out groups stay sealed for the whole study")
    if loaded.simulated:
        say(console, "[bold]SIMULATED[/bold]: the judge answers from a formula; nothing here says anything of a model.")
    _say_defects(console, loaded)


def say_what(console: Console, loaded: LoadedStudy) -> None:
    """What a study would do."""
    plan, space = loaded.plan, loaded.inputs.space
    say(
        console,
        f"[bold]{plan.name}[/bold]: {loaded.inputs.trials} trials by {plan.sampler.kind}, seed {plan.sampler.seed}",
    )
    table = Table(title="what is varied", title_justify="left")
    table.add_column("setting")
    table.add_column("values")
    for path, dimension in plan.space.items():
        labels = space.labels(path)
        values = f"{dimension.low} to {dimension.high}" if labels is None else ", ".join(map(str, labels))
        when = "".join(f"; when {other} is {wanted}" for other, wanted in dimension.when.items())
        table.add_row(path, values + when)
    console.print(table)
    say(
        console,
        f"objectives, of each search's winner on accept: {', '.join(plan.objectives)} (cost in {loaded.inputs.unit})",
    )
    say(console, f"splits: {loaded.lock.describe()}; held-out groups stay sealed")
    if plan.pruning is not None:
        say(
            console,
            f"pruning: one of {plan.pruning.reduction} judges goes on after {', '.join(map(str, plan.pruning.groups))} "
            f"accept groups, by {plan.objectives[0]}",
        )
    limits = [f"{value:.10g} {name}" for name, value in plan.limits.model_dump().items() if value is not None]
    say(console, f"limits of the whole study: {', '.join(limits) or 'none'}")
    least, most = loaded.calls()
    say(
        console,
        f"a trial takes at most {least} to {most} calls, all trials at most {most * loaded.inputs.trials}, before "
        "anything is pruned or found in the cache",
    )
    say(console, f"{loaded.points} points of the space were checked")
    _say_defects(console, loaded)


def _say_defects(console: Console, loaded: LoadedStudy) -> None:
    if loaded.defects:
        point, why = loaded.defects[0]
        say(
            console,
            f"{len(loaded.defects)} of {loaded.points} points that were checked cannot be searched, and fail at no "
            f"cost (when: leaves a dimension out of them); first: {point_words(point)}: {why}",
        )


def show(console: Console, result: StudyResult) -> None:
    """The result as tables."""
    say(console, f"[bold]{counts(result)}[/bold]; {result.candidates} candidates looked at on accept")
    tables = [
        ("complete, best first; * on the Pareto front", best_head(result), best_rows(result, most=SHOWN)),
        ("pruned", PRUNED_HEAD, pruned_rows(result)[:SHOWN]),
        ("failed", FAILED_HEAD, failed_rows(result)[:SHOWN]),
    ]
    for title, head, rows in tables:
        if rows:
            table = Table(title=title, title_justify="left")
            for place, name in enumerate(head):
                table.add_column(name, overflow="fold", justify="left" if place < 2 else "right")
            for row in rows:
                table.add_row(*row)
            console.print(table)
    say(console, spend_words(result))
    if result.simulated:
        say(console, "[bold]SIMULATED[/bold] judge: this says nothing about any model.")
    say(
        console,
        f"{best_words(result.ranked[0] if result.ranked else None)}. Nothing is confirmed: accept chose every winner, "
        "and the best of many trials is optimistic once more. Confirm it: --emit-plan FILE",
    )


def say(console: Console, line: str) -> None:
    """A line that is wrapped by the terminal alone."""
    console.print(line, highlight=False, soft_wrap=True)
