"""``holdgate corpus import``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from lineage.canonical import write_atomic
from lineage.errors import CorpusError
from splits import Corpus, Imported, import_corpus, save_corpus
from splits.adapters import ADAPTERS, Adapter, find_adapter

_HELP = """Import a public corpus into corpus.jsonl and facts.jsonl.

PATH is the folder of the upstream files, or the first of them. Upstream's known defects are repaired or left out, and
each is named. What is imported:

\b
{adapters}
"""


def _listed() -> str:
    width = max(map(len, ADAPTERS))
    return "\n".join(f"  {name:<{width}}  {adapter.summary}" for name, adapter in ADAPTERS.items())


@click.command("import", help=_HELP.format(adapters=_listed()))
@click.argument("name")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Where to write; by default ./NAME.")
def import_command(name: str, path: Path, out: Path | None) -> None:
    """Import a public corpus."""
    adapter = find_adapter(name)
    directory = Path(name) if out is None else out
    files = [directory / file for file in ("corpus.jsonl", "facts.jsonl", "ATTRIBUTION.txt")]
    for file in files:
        if file.exists():
            raise CorpusError("is there already; remove it, or give another directory (--out)", file=str(file))
    imported = import_corpus(name, path)
    save_corpus(imported.corpus, directory)
    if not imported.corpus.facts:
        files[1].unlink()
    write_atomic(files[2], _attribution(adapter, imported))
    console = Console(soft_wrap=True, highlight=False, markup=False)
    console.print(_size(adapter, imported.corpus), _counts(imported.corpus), sep="\n")
    for notice in imported.notices:
        console.print(str(notice))
    if adapter.caveat:
        console.print(adapter.caveat, style="bold")
    console.print(f"licence: {adapter.licence}")
    console.print(f"attribution: {adapter.attribution}")
    console.print(f"written: {', '.join(str(file) for file in files if file.exists())}")
    console.print(f"corpus hash {imported.corpus.hash}")


def _size(adapter: Adapter, corpus: Corpus) -> str:
    facts = sum(map(len, corpus.facts.values()))
    listed = f"{facts} facts of {len(corpus.facts)} groups" if facts else "no facts"
    return f"{adapter.name}: {len(corpus.groups)} groups, {len(corpus.examples)} examples, {listed}"


def _counts(corpus: Corpus) -> Table:
    table = Table()
    for column in ("label", "kind", "trace", "twin", "examples"):
        table.add_column(column, justify="right" if column == "examples" else "left")
    rows = Counter(
        (
            "clean candidate" if example.candidate else example.label,
            example.kind,
            example.trace or "",
            "with twin" if example.twin else "",
        )
        for example in corpus.examples
    )
    for key in sorted(rows):
        table.add_row(*key, str(rows[key]))
    return table


def _attribution(adapter: Adapter, imported: Imported) -> str:
    """What the licences ask to travel with the data: whose it is, and what was changed."""
    changes = "\n".join(f"- {notice}" for notice in imported.notices)
    caveat = f"\n{adapter.caveat}\n" if adapter.caveat else ""
    return (
        f"{adapter.attribution}\nLicence: {adapter.licence}\n{caveat}\n"
        f"Converted to Holdgate's corpus format (adapter {adapter.name}). Changed and met:\n{changes}\n"
    )
