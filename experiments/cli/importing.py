"""``holdgate corpus import``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from experiments.loading import is_plan, load_named_corpus, read_corpus_plan
from lineage.canonical import write_atomic
from lineage.errors import CorpusError
from splits import Corpus, Imported, import_corpus, save_corpus
from splits.adapters import ADAPTERS, Adapter, find_adapter

_HELP = """Write a public corpus, or the corpus that a plan names, as corpus.jsonl and facts.jsonl.

NAME is that of a public corpus, and PATH the folder of the upstream files or the first of them. Upstream's known
defects are repaired or left out, and each is named. Or NAME is a plan (YAML) alone: its table or dataset is written.
What is imported:

\b
{adapters}
"""


def _listed() -> str:
    width = max(map(len, ADAPTERS))
    return "\n".join(f"  {name:<{width}}  {adapter.summary}" for name, adapter in ADAPTERS.items())


@dataclass(frozen=True, slots=True)
class _Named:
    """What is to be written: its name, its adapter where it is a public corpus, and how it is read."""

    name: str
    adapter: Adapter | None
    read: Callable[[], Imported]


@click.command("import", help=_HELP.format(adapters=_listed()))
@click.argument("name", metavar="NAME|PLAN")
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Where to write; by default ./NAME.")
def import_command(name: str, path: Path | None, out: Path | None) -> None:
    """Write a public corpus, or the corpus that a plan names."""
    found = _of_plan(Path(name), path) if is_plan(Path(name)) else _public(name, path)
    adapter, directory = found.adapter, Path(found.name) if out is None else out
    files = [directory / file for file in ("corpus.jsonl", "facts.jsonl", "ATTRIBUTION.txt")]
    for file in files:
        if file.exists():
            raise CorpusError("is there already; remove it, or give another directory (--out)", file=str(file))
    imported = found.read()
    save_corpus(imported.corpus, directory)
    if not imported.corpus.facts:
        files[1].unlink()
    console = Console(soft_wrap=True, highlight=False, markup=False)
    console.print(_size(found.name, imported.corpus), _counts(imported.corpus), sep="\n")
    for notice in imported.notices:
        console.print(str(notice))
    if adapter is not None:
        write_atomic(files[2], _attribution(adapter, imported))
        if adapter.caveat:
            console.print(adapter.caveat, style="bold")
        console.print(f"licence: {adapter.licence}")
        console.print(f"attribution: {adapter.attribution}")
    console.print(f"written: {', '.join(str(file) for file in files if file.exists())}")
    console.print(f"corpus hash {imported.corpus.hash}")


def _public(name: str, path: Path | None) -> _Named:
    adapter = find_adapter(name)
    if path is None:
        raise CorpusError(f"{name} needs a PATH: the folder with {' and '.join(adapter.files)}")
    return _Named(name, adapter, partial(import_corpus, name, path))


def _of_plan(plan: Path, path: Path | None) -> _Named:
    named = read_corpus_plan(plan)
    if path is not None:
        raise CorpusError("a plan names its files itself, so that PATH has no effect; remove it", file=str(plan))
    if named.adapter is not None and named.path is not None:
        return _public(named.adapter, plan.parent / named.path)
    return _Named(plan.stem, None, lambda: Imported(load_named_corpus(named, plan), ()))


def _size(name: str, corpus: Corpus) -> str:
    facts = sum(map(len, corpus.facts.values()))
    listed = f"{facts} facts of {len(corpus.facts)} groups" if facts else "no facts"
    return f"{name}: {len(corpus.groups)} groups, {len(corpus.examples)} examples, {listed}"


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
