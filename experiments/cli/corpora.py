"""``holdgate corpus`` and ``holdgate split``."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from lineage.errors import CorpusError, SplitError
from splits import Corpus, Selection, bundled_directory, commit_lock, load_bundled, load_corpus, load_lock, plan_lock
from splits.construct import build_files, read_sources
from splits.construct.quality import quality_defects
from splits.lock import SplitLock


@click.group("corpus")
def corpus_group() -> None:
    """Build and check corpora."""


@corpus_group.command("build")
@click.argument("name")
def build_command(name: str) -> None:
    """Build a bundled corpus (or a directory with sources/*.yaml) from its consultations, byte for byte the same."""
    directory = Path(name) if (Path(name) / "sources").is_dir() else bundled_directory(name)
    sources = read_sources(directory / "sources")
    defects = [f"{source.group}: {defect}" for source in sources for defect in quality_defects(source)]
    if defects:
        raise CorpusError("\n  ".join([f"{len(defects)} defects in {directory}", *defects]))
    corpus = build_files(directory)
    click.echo(f"{directory}: {len(corpus.groups)} groups, {len(corpus.examples)} notes, corpus hash {corpus.hash}")


@corpus_group.command("check")
@click.argument("name")
@click.option("--facts", type=click.Path(path_type=Path), help="The facts.jsonl that goes with it.")
def check_command(name: str, facts: Path | None) -> None:
    """Check a corpus.jsonl, or a bundled corpus by its name; the first defect is named by file, line and field."""
    corpus = read_corpus(name, facts)
    table = Table(title=f"{name}: {len(corpus.groups)} groups, {len(corpus.examples)} notes", title_justify="left")
    for column in ("label", "kind", "trace", "notes"):
        table.add_column(column, justify="right" if column == "notes" else "left")
    rows: dict[tuple[str, str, str], int] = {}
    for example in corpus.examples:
        key = (example.label, example.kind, example.trace or "")
        rows[key] = rows.get(key, 0) + 1
    for key in sorted(rows):
        table.add_row(*key, str(rows[key]))
    console = Console()
    console.print(table)
    console.print(f"{sum(map(len, corpus.facts.values()))} facts; corpus hash {corpus.hash}", soft_wrap=True)


def read_corpus(name: str, facts: Path | None) -> Corpus:
    """A corpus by path or bundled name."""
    if Path(name).is_file():
        return load_corpus(Path(name), facts=facts)
    if facts is not None or name.endswith(".jsonl"):
        return load_corpus(Path(name), facts=facts)
    return load_bundled(name)


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
