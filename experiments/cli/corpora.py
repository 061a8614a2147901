"""``holdgate corpus``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from experiments.cli.importing import import_command
from experiments.loading import is_plan, load_named_corpus, read_corpus_plan
from experiments.report.blocks import Table as Block
from experiments.report.description import (
    bars,
    count_table,
    description_page,
    description_pictures,
    fact_table,
    notices,
    standalone,
    twin_table,
    word_table,
)
from experiments.report.page import page
from lineage.canonical import write_atomic
from lineage.errors import CorpusError, InputError
from splits import Corpus, bundled_directory, load_corpus
from splits.checking import CheckedCorpus, check_corpus
from splits.construct import build_files, read_sources
from splits.construct.quality import quality_defects
from splits.describing import CorpusDescription, describe
from splits.near_duplicates import THRESHOLD

Name = click.argument("name", metavar="NAME|PATH")
Facts = click.option("--facts", type=click.Path(path_type=Path), help="The facts.jsonl that goes with it.")
AsJson = click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")


@dataclass(frozen=True, slots=True)
class CorpusFiles:
    """The files that a user means by a name or a path."""

    corpus: Path
    facts: Path | None


@click.group("corpus")
def corpus_group() -> None:
    """Import, build, describe and check corpora."""


corpus_group.add_command(import_command)


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
@Name
@Facts
@click.option(
    "--similarity",
    type=float,
    help=f"Jaccard similarity of three-word shingles that makes texts of two groups near-duplicates ({THRESHOLD:g}).",
)
@click.option("--no-near-duplicates", "unsearched", is_flag=True, help="Look for none, which takes half of the time.")
@AsJson
def check_command(name: str, facts: Path | None, similarity: float | None, unsearched: bool, as_json: bool) -> None:
    """Name every defect of a corpus with its place: a bundled corpus, a corpus.jsonl, or a directory that holds one.

    Exit status 0 if there is no error, 2 if there is one. A warning is to be looked at and changes no status.
    """
    if unsearched and similarity is not None:
        raise InputError("--similarity has no effect with --no-near-duplicates; remove one of them")
    files = corpus_files(name, facts)
    threshold = None if unsearched else THRESHOLD if similarity is None else similarity
    found = check_corpus(files.corpus, facts=files.facts, threshold=threshold)
    if as_json:
        click.echo(json.dumps(found.row(), ensure_ascii=False, indent=2))
    else:
        _show_checked(name, found)
        if unsearched:
            click.echo("near-duplicates were not looked for")
    sys.exit(2 if found.errors else 0)


@corpus_group.command("describe")
@Name
@Facts
@click.option("--html", type=click.Path(path_type=Path), help="Write a page with tables and pictures to this file.")
@click.option("--svg", type=click.Path(path_type=Path), help="Write the pictures alone to this file.")
@AsJson
def describe_command(name: str, facts: Path | None, html: Path | None, svg: Path | None, as_json: bool) -> None:
    """Count a corpus by every field that a split rests on, and measure words, twins and facts.

    It is a bundled corpus, a corpus.jsonl, a directory that holds one, or the corpus that a plan (YAML) names.
    """
    found = describe(read_corpus(name, facts))
    if html is not None:
        write_atomic(html, page(description_page(name, found)))
    if svg is not None:
        write_atomic(svg, standalone(description_pictures(found)))
    if as_json:
        click.echo(json.dumps(asdict(found), ensure_ascii=False, indent=2))
        return
    _show_described(name, found)
    for written in (html, svg):
        if written is not None:
            click.echo(f"written: {written}")


def corpus_files(name: str, facts: Path | None) -> CorpusFiles:
    """The files of a corpus by path, by directory or by bundled name.

    Raises:
        CorpusError: there is no bundled corpus of that name, or it is a plan, whose corpus may be in other files.
    """
    path = Path(name)
    if is_plan(path):
        raise CorpusError(
            "is a plan, and what is wanted is a corpus.jsonl; write the plan's corpus as one with: holdgate corpus "
            f"import {name}",
            file=name,
        )
    if path.is_dir() and (path / "corpus.jsonl").is_file():
        beside = path / "facts.jsonl"
        return CorpusFiles(path / "corpus.jsonl", facts or (beside if beside.is_file() else None))
    if path.is_file() or facts is not None or name.endswith(".jsonl"):
        return CorpusFiles(path, facts)
    try:
        directory = bundled_directory(name)
    except CorpusError as error:
        if path.is_dir():
            raise CorpusError("there is no corpus.jsonl in this directory; name the file", file=name) from error
        raise
    return CorpusFiles(directory / "corpus.jsonl", directory / "facts.jsonl")


def read_corpus(name: str, facts: Path | None) -> Corpus:
    """A corpus by path, by directory, by bundled name, or by the plan that names it.

    Raises:
        CorpusError: it is not there, or breaks a rule; or facts are given to a plan, which names its own.
    """
    if is_plan(path := Path(name)):
        if facts is not None:
            raise CorpusError("a plan names its own facts, so that --facts has no effect; remove it", file=name)
        return load_named_corpus(read_corpus_plan(path), path)
    files = corpus_files(name, facts)
    return load_corpus(files.corpus, facts=files.facts)


def _show_checked(name: str, found: CheckedCorpus) -> None:
    console = Console()
    for defect in found.defects:
        of = f" ({defect.id})" if defect.id else ""
        line = f"{defect.severity}: {defect.place}{of}: {defect.words}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    kinds = Counter((defect.severity, defect.kind) for defect in found.defects)
    if kinds:
        table = Table(title="Defects by kind", title_justify="left")
        for column in ("severity", "kind", "defects"):
            table.add_column(column, justify="right" if column == "defects" else "left")
        for (severity, kind), count in sorted(kinds.items()):
            table.add_row(severity, kind, str(count))
        console.print(table)
    size = f"{found.groups} groups, {found.examples} documents, {found.facts} facts"
    counts = f"{found.errors} errors, {len(found.defects) - found.errors} warnings"
    console.print(f"{name}: {size}; {counts}", highlight=False, markup=False, soft_wrap=True)
    known = found.hash or "none, as it cannot be loaded"
    console.print(f"corpus hash {known}", highlight=False, soft_wrap=True)


def _show_described(name: str, found: CorpusDescription) -> None:
    console = Console()
    console.print(f"{name}: {found.groups} groups, {found.examples} documents", highlight=False, markup=False)
    console.print(f"corpus hash {found.hash}", highlight=False, soft_wrap=True)
    for words in notices(found):
        console.print(words, highlight=False, markup=False, soft_wrap=True)
    for block in (count_table(found), word_table(found), twin_table(found), fact_table(found)):
        console.print(_on_screen(block))
    for title, lengths in (("documents", found.documents), ("sources", found.sources)):
        picture = Table(title=f"Words of the {title}", title_justify="left", box=None, pad_edge=False)
        picture.add_column("words", justify="right")
        for kind, counts in lengths.counts.items():
            picture.add_column(f"{kind}, n = {sum(counts)}", min_width=30)
        for row in bars(lengths):
            picture.add_row(*row)
        console.print(picture)


def _on_screen(block: Block) -> Table:
    table = Table(title=block.caption, title_justify="left")
    for column in block.head:
        number = column not in ("Field", "Value", "What")
        table.add_column(column, justify="right" if number else "left")
    for row in block.rows:
        table.add_row(*row)
    return table
