"""``holdgate reproduce``: published figures recomputed from published records."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from experiments.reproduce import Reproduction, Resampling, reproduce_omissionbench

_STYLES = {"match": "green", "differs": "bold red", "not determined": "dim"}


@click.group("reproduce")
def reproduce_group() -> None:
    """Recompute published figures from published records, and say which of them the records determine."""


@reproduce_group.command("omissionbench")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    required=True,
    help="Directory of the published records: results, statistics, accept scores and trajectory.",
)
@click.option("--resamples", type=click.IntRange(min=100), default=20_000, show_default=True, help="Of the bootstrap.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the bootstrap.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the tables.")
def omissionbench_command(data: Path, resamples: int, seed: int, as_json: bool) -> None:
    """Recompute the results and statistics of the published OmissionBench campaign.

    A figure matches if what was printed lies in the range that the rounding of the printed inputs allows; the ends of
    bootstrap intervals may be 0.01 apart. Figures that the records do not determine are listed with the reason. The
    gate's rules are then read on the published held-out numbers.

    Exit status 0 if everything determined matches, 1 if something differs, 2 if a record is missing or damaged.
    """
    found = reproduce_omissionbench(data, resampling=Resampling(resamples, seed))
    if as_json:
        click.echo(json.dumps(found.row(), indent=2))
    else:
        _print(Console(width=None if sys.stdout.isatty() else 160), found)
    sys.exit(1 if found.differing else 0)


def _print(console: Console, found: Reproduction) -> None:
    for file in dict.fromkeys(figure.file for figure in found.figures):
        table = Table(title=file or "not published", title_justify="left")
        for column in ("figure", "published", "ours", "match", "how, or why not"):
            table.add_column(column, overflow="fold")
        for figure in found.figures:
            if figure.file == file:
                status = {"match": "yes", "differs": "NO", "not determined": "not determined"}[figure.status]
                mark = f"[{_STYLES[figure.status]}]{status}[/]"
                table.add_row(figure.key, figure.published, figure.ours, mark, figure.how)
        console.print(table)
    table = Table(title="the gate's rules, fed the published held-out numbers", title_justify="left")
    for column in ("target", "rule", "decision", "it saw", "published"):
        table.add_column(column, overflow="fold")
    for reading in found.readings:
        emitted = "emitted" if reading.emitted else "not emitted"
        table.add_row(reading.target, reading.rule, reading.decision, reading.words, emitted)
    console.print(table)
    counts = found.counts
    console.print(
        f"{counts['match']} figures match, {counts['differs']} differ, {counts['not determined']} are not determined "
        "by the records.",
        highlight=False,
    )
    for figure in found.differing:
        console.print(
            f"differs: {figure.file}, {figure.key}: published {figure.published}, ours {figure.ours}",
            style="bold red",
            soft_wrap=True,
            highlight=False,
        )
