"""``holdgate corpus``."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from lineage.errors import CorpusError
from splits import Corpus, bundled_directory, load_bundled, load_corpus
from splits.construct import build_files, read_sources
from splits.construct.quality import quality_defects


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
