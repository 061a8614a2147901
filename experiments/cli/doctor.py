"""``holdgate doctor``: whether a plan could run, and what it may cost, before anything is spent."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from experiments.costing import Range, RoleCost
from experiments.doctor import Examination, examine

_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


@click.command("doctor")
@click.argument("plan")
@click.option("--out", type=click.Path(path_type=Path), help="Run directory, by default runs/NAME.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor_command(plan: str, out: Path | None, as_json: bool) -> None:
    """Look at everything a plan needs before anything is spent: models, prices, parameters, context, locks, disk.

    Prints what the whole plan may take, as a range. Endpoints are asked for their list of models, hosted providers are
    not called. Exit status 0 unless something fails.
    """
    found = examine(plan, out)
    if as_json:
        click.echo(json.dumps({**asdict(found), "failed": found.failed}, indent=2))
    else:
        _print(Console(width=None if sys.stdout.isatty() else 110), found)
    sys.exit(1 if found.failed else 0)


def _print(console: Console, found: Examination) -> None:
    table = Table()
    for column in ("", "check", "place", "found, and the fix"):
        table.add_column(column, overflow="fold")
    for check in found.checks:
        words = check.words + (f"\n→ {check.fix}" if check.fix and check.state != "ok" else "")
        state = f"[{_STYLES[check.state]}]{check.state}[/]"
        table.add_row(state, check.name, check.place, words)
    console.print(table)
    if found.costs:
        console.print(_costs(found.costs))
        console.print(
            "Low: half of the proposals accepted, short answers. High: all accepted, every answer at its cap. "
            "Estimated from the lengths of the prompts; retries and providers' cache discounts are not in it.",
            highlight=False,
        )
    count = {state: sum(check.state == state for check in found.checks) for state in _STYLES}
    console.print(f"{count['ok']} ok, {count['warn']} warnings, {count['fail']} failures", highlight=False)


def _costs(costs: tuple[RoleCost, ...]) -> Table:
    table = Table(title="the whole plan, about", title_justify="left")
    table.add_column("role")
    for name in ("calls", "prompt tokens", "completion tokens", "US dollars", "minutes"):
        table.add_column(name, justify="right")
    for cost in costs:
        table.add_row(
            cost.role,
            _range(cost.calls, ",.0f"),
            _range(cost.prompt_tokens, ",.0f"),
            _range(cost.completion_tokens, ",.0f"),
            "no price" if cost.usd is None else "0" if cost.usd.high == 0 else _range(cost.usd, ",.2f"),
            _range(Range(cost.seconds.low / 60, cost.seconds.high / 60), ",.1f"),
        )
    return table


def _range(found: Range, form: str) -> str:
    low, high = format(found.low, form), format(found.high, form)
    return low if low == high else f"{low} to {high}"
