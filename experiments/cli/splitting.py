"""``holdgate split``."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from experiments.cli.corpora import read_corpus
from lineage.errors import SplitError
from splits import Selection, commit_lock, load_lock, plan_lock
from splits.lock import SplitLock


@click.group("split")
def split_group() -> None:
    """Commit a split of groups before any search, verify it, show it."""


def _corpus_options(command: click.decorators.FC) -> click.decorators.FC:
    command = click.option("--facts", type=click.Path(path_type=Path), help="The corpus's facts.jsonl.")(command)
    return click.option("--corpus", "name", required=True, help="A corpus.jsonl, or the name of a bundled corpus.")(
        command
    )


@split_group.command("commit")
@click.argument("lock", type=click.Path(path_type=Path))
@_corpus_options
@click.option("--sizes", required=True, metavar="R,A,H", help="Groups of reflect, accept and held-out, such as 8,6,10.")
@click.option("--seed", type=int, default=0, show_default=True, help="Equal seeds give equal splits.")
@click.option("--groups", type=int, help="Use only so many groups, drawn evenly from the strata.")
@click.option("--flawed-per-group", type=int, help="Keep only so many flawed notes of each group, kinds in rotation.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Two-sided error rate of all comparisons.")
@click.option("--comparisons", type=int, default=1, show_default=True, help="Confirmatory comparisons that share it.")
def commit_command(
    lock: Path,
    name: str,
    facts: Path | None,
    sizes: str,
    seed: int,
    groups: int | None,
    flawed_per_group: int | None,
    alpha: float,
    comparisons: int,
) -> None:
    """Draw a split by group, stratified, and write it once to LOCK; an existing lock is never overwritten."""
    try:
        reflect, accept, heldout = (int(part) for part in sizes.split(","))
    except ValueError as error:
        raise SplitError(f"--sizes must be three whole numbers such as 8,6,10, got {sizes!r}") from error
    drawn = plan_lock(
        read_corpus(name, facts),
        sizes={"reflect": reflect, "accept": accept, "heldout": heldout},
        seed=seed,
        selection=Selection(groups, flawed_per_group, seed),
        alpha=alpha,
        comparisons=comparisons,
    )
    commit_lock(drawn, lock)
    click.echo(f"{lock}: {drawn.describe()}\nlock hash {drawn.hash}")


@split_group.command("verify")
@click.argument("lock", type=click.Path(path_type=Path))
@_corpus_options
def verify_command(lock: Path, name: str, facts: Path | None) -> None:
    """Check a lock against its corpus again: every group, count and byte."""
    found: SplitLock = load_lock(lock, read_corpus(name, facts))
    click.echo(f"{lock} holds: {found.describe()}\nlock hash {found.hash}")


@split_group.command("show")
@click.argument("lock", type=click.Path(path_type=Path))
def show_command(lock: Path) -> None:
    """Print groups and counts of a lock as it stands, without checking it."""
    if not lock.is_file():
        raise SplitError(f"{lock}: there is no split lock")
    try:
        data = json.loads(lock.read_text(encoding="utf-8"))
        table = Table(title=str(lock), title_justify="left")
        for column in ("split", "groups", "notes", "kinds", "traces"):
            table.add_column(column)
        for split, groups in data["splits"].items():
            counts = data["counts"][split]
            kinds, traces = (
                " ".join(f"{name}:{count}" for name, count in counts[key].items()) for key in ("kind", "trace")
            )
            table.add_row(split, " ".join(groups), str(sum(counts["kind"].values())), kinds, traces)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise SplitError(f"{lock}: is not a split lock ({error})") from error
    Console().print(table)
