"""``holdgate import``: a published lineage as a read-only campaign."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from optimize.importing import KINDS, import_lineage


@click.command("import")
@click.argument("kind", metavar="KIND", type=click.Choice(sorted(KINDS)))
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="New run directory to write it into.")
@click.option("--name", help="What to call it; by default as the file or folder is called.")
def import_command(kind: str, path: Path, out: Path, name: str | None) -> None:
    """Make a published GEPA lineage a read-only campaign, which lineage, report and audit can open.

    \b
    KIND is one of
      omissionbench   the folder of that release, or its trajectory.jsonl
      gepa            gepa's run_dir, its gepa_state.bin, or its result as JSON
      dspy            dspy's detailed_results as JSON (to_dict), or its log_dir

    A pickle is read without running anything in it: whatever it names beside plain data is refused. An imported
    campaign cannot be resumed, emits no prompt, and takes no comparison on any held-out split.
    """  # noqa: D301 - click reads the escape as: keep these lines
    lineage = import_lineage(kind, path, out.absolute(), name=name)
    counts = Counter(candidate.outcome for candidate in lineage.candidates)
    said = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("seed", "accepted", "rejected") if counts[outcome])
    click.echo(f"{out}: imported {lineage.name} ({lineage.format}), read-only; {said}")
    for words in lineage.has:
        click.echo(f"  has {words}")
    for words in lineage.lacks:
        click.echo(f"  lacks {words}")
