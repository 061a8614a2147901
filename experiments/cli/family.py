"""``holdgate family``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from experiments.cli.campaigns import not_a_run
from optimize.family import family_of
from optimize.recompute import load_run
from optimize.verdict_words import in_points


@click.command("family")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the family as JSON.")
def family_command(runs: tuple[Path, ...], as_json: bool) -> None:
    """Correct the comparisons of several finished runs on one held-out split together, by Holm.

    Each gate decided alone, at its equal share of the lock's alpha. Holm over all comparisons that the lock allows,
    those not made counted as p = 1, may show a gain that a share did not. It writes no prompt and changes no verdict.
    """
    for run in runs:
        if not (run / "ledger.jsonl").is_file():
            raise not_a_run(run)
    family = family_of([load_run(run) for run in runs])
    if as_json:
        rows = [{**member.row(), "gain_shown": family.gains(member)} for member in family.members]
        data = {"simulated": family.simulated, "comparisons": family.comparisons, "alpha": family.alpha, "runs": rows}
        click.echo(json.dumps(data, indent=2))
        return
    console = Console(width=None if sys.stdout.isatty() else 110)
    table = Table()
    for column in ("run", "its gate", "difference", "one-sided p", "by Holm", "gain shown"):
        table.add_column(column, justify="left" if column in ("run", "its gate") else "right")
    for member in family.members:
        table.add_row(
            member.run,
            member.decision,
            f"{in_points(member.difference)} points",
            f"{member.p:.4f} ({member.test})",
            f"{member.adjusted:.4f}",
            "yes" if family.gains(member) else "no",
        )
    console.print(table)
    _say(
        console,
        f"Holm over the {family.comparisons} comparisons that the split lock allows, {len(family.members)} given and "
        f"the others counted as p = 1; a gain is shown below {family.alpha / 2:g}",
    )
    if family.simulated:
        _say(console, "[bold]SIMULATED[/bold] judge: this says nothing about any model.")


def _say(console: Console, line: str) -> None:
    console.print(line, highlight=False, soft_wrap=True)
