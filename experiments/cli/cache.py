"""``holdgate cache``: what is in a call cache, whether it is sound, removing from it, and taking it elsewhere."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from lineage.canonical import canonical_json
from lineage.errors import CacheError, LedgerError
from students.transport import CacheStats, cache_stats, export_cache, prune_cache, verify_cache

CachePath = click.argument("path", type=click.Path(path_type=Path), default=Path("runs") / "calls.sqlite")


@click.group("cache")
def cache_group() -> None:
    """Look after the call cache, by default runs/calls.sqlite: every answer that was ever paid for."""


@cache_group.command("stats")
@CachePath
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def stats_command(path: Path, as_json: bool) -> None:
    """Print how many answers there are, and what each campaign paid for in each role.

    A candidate is one whose calls a further run would find here and not pay for.
    """
    found = cache_stats(path)
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2, default=str))
        return
    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(_table(found))
    span = f", from {found.first} to {found.last}" if found.answers else ""
    console.print(f"{found.path}: {found.answers} answers, {found.size / 1e6:.1f} MB{span}", highlight=False)
    if found.twice:
        console.print(f"{found.twice} calls were paid for twice, by processes that had the same call under way.")
    if found.unanswered:
        console.print(f"{found.unanswered} calls may have been paid for, and have no answer.")


@cache_group.command("verify")
@CachePath
def verify_command(path: Path) -> None:
    """Hash every stored request again and read every answer; exit status 1 if one is not what its key stands for."""
    flaws = list(verify_cache(path))
    for flaw in flaws:
        click.echo(f"{flaw.key}: {flaw.words}")
    if flaws:
        click.echo(f"{path}: {len(flaws)} flaws; restore a copy, or remove them: holdgate cache prune {path} --damaged")
        sys.exit(1)
    click.echo(f"{path}: {cache_stats(path).answers} answers, each as its key says")


@cache_group.command("prune")
@CachePath
@click.option("--older-than", metavar="AGE", help="Remove answers of at least this age, such as 30d, 12h or 0d.")
@click.option(
    "--runs",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Remove what was paid for only by campaigns without a run directory in here.",
)
@click.option("--damaged", is_flag=True, help="Remove answers that verify finds fault with.")
@click.option("--dry-run", is_flag=True, help="Remove nothing, and print what would be removed.")
def prune_command(path: Path, older_than: str | None, runs: Path | None, damaged: bool, dry_run: bool) -> None:
    """Remove answers, without asking, and print what was removed.

    A removed answer is paid for again where a campaign still needs it: an unfinished one above all, also if another
    campaign had paid. Finished campaigns keep their judgements in their run directories.
    """
    if older_than is None and runs is None and not damaged:
        raise click.UsageError("say what to remove: --older-than AGE, --runs DIRECTORY or --damaged")
    removed = prune_cache(
        path,
        before=None if older_than is None else datetime.now(UTC) - _age(older_than),
        keep=None if runs is None else frozenset(_campaigns(runs)),
        damaged=damaged,
        dry_run=dry_run,
    )
    for campaign in removed.campaigns:
        click.echo(f"campaign {campaign}")
    what = f"{removed.answers} answers and {removed.notes} notes of payment"
    what += f" of {len(removed.campaigns)} campaigns" if runs is not None else ""
    click.echo(f"{path}: would remove {what}" if dry_run else f"{path}: removed {what}, {removed.freed / 1e6:.1f} MB")


@cache_group.command("export")
@CachePath
@click.option("--out", type=click.Path(path_type=Path), help="The file to write (JSON lines); by default the screen.")
@click.option("--campaign", metavar="ID", help="Only what this campaign paid for (its identity, or its beginning).")
@click.option("--hashes-only", is_flag=True, help="Hashes in place of prompts and answers.")
def export_command(path: Path, out: Path | None, campaign: str | None, hashes_only: bool) -> None:
    """Write requests and answers as JSON lines.

    An export with texts can be replayed (model: {replay: FILE, of: …}). What a campaign found here and did not pay for
    is in the export of everything only.
    """
    rows = export_cache(path, campaign=campaign, texts=not hashes_only)
    if out is None:
        for row in rows:
            click.echo(canonical_json(row))
        return
    if out.exists():
        raise CacheError(f"{out} exists; an export overwrites nothing: give another --out")
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f".{out.name}.part")
    count = 0
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            for count, row in enumerate(rows, start=1):  # noqa: B007 - counted for the last line
                file.write(canonical_json(row) + "\n")
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    click.echo(f"{out}: {count} answers, {'hashes only' if hashes_only else 'with texts'}")


def _table(found: CacheStats) -> Table:
    table = Table(title="paid for", title_justify="left")
    table.add_column("campaign")
    table.add_column("role")
    for name in ("candidates", "calls", "prompt tokens", "completion", "reasoning", "cached", "US dollars"):
        table.add_column(name, justify="right")
    for row in found.paid:
        used = row.usage
        unpriced = f" and {row.unpriced} calls without a price" if row.unpriced and used.cost_usd is not None else ""
        table.add_row(
            row.campaign[:12],
            row.role,
            str(row.candidates),
            *(
                f"{count:,}"
                for count in (
                    used.calls,
                    used.prompt_tokens,
                    used.completion_tokens,
                    used.reasoning_tokens,
                    used.cached_tokens,
                )
            ),
            "no price" if used.cost_usd is None else f"{used.cost_usd:.4f}{unpriced}",
        )
    return table


def _age(text: str) -> timedelta:
    found = re.fullmatch(r"(\d+)([dh])", text)
    if found is None:
        raise click.UsageError(f"--older-than must be days or hours, such as 30d or 12h; got {text!r}")
    return timedelta(**{{"d": "days", "h": "hours"}[found[2]]: int(found[1])})


def _campaigns(runs: Path) -> Iterator[str]:
    """Identities of the campaigns whose run directories are somewhere in a directory."""
    for ledger in sorted(runs.rglob("ledger.jsonl")):
        try:
            with ledger.open(encoding="utf-8") as file:
                yield str(json.loads(file.readline())["hash"])
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise LedgerError(
                f"{ledger}: its campaign cannot be told ({type(error).__name__}); nothing was removed: mend it, or "
                "move it elsewhere"
            ) from error
