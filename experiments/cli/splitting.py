"""``holdgate split``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from experiments.cli.corpora import read_corpus
from lineage.errors import SplitError
from splits import SPLITS, Corpus, Exclusion, Selection, Union, commit_lock, load_lock, plan_lock, read_exclusion
from splits.lock import SplitLock
from splits.near_duplicates import THRESHOLD
from splits.needs import NEEDS, OBJECTIVE
from splits.partition import Sizes
from splits.profiles import STRATIFY, Balance, lock_balance

NEAR: Final = "near-duplicates"
NAMED: Final = 40
"""Most groups of a split that are named one by one."""


@click.group("split")
def split_group() -> None:
    """Plan a split of groups, commit it before any search, verify it, show it."""


def _corpus_options(command: click.decorators.FC) -> click.decorators.FC:
    command = click.option("--facts", type=click.Path(path_type=Path), help="The corpus's facts.jsonl.")(command)
    return click.option(
        "--corpus",
        "name",
        required=True,
        metavar="NAME|PATH",
        help="A bundled corpus, a corpus.jsonl, a directory that holds one, or the plan (YAML) that names the corpus.",
    )(command)


def _draw_options(command: click.decorators.FC) -> click.decorators.FC:
    """The options that say what is drawn, the same for plan and commit."""
    path = click.Path(path_type=Path)
    for option in reversed(
        (
            click.option(
                "--sizes",
                required=True,
                metavar="R,A,H",
                help="Reflect, accept and held-out in groups (8,6,10) or in fractions of all (0.4,0.2,0.4).",
            ),
            click.option("--seed", type=int, default=0, show_default=True, help="Equal seeds give equal splits."),
            click.option("--groups", type=int, help="Use only so many groups, drawn evenly from the strata."),
            click.option(
                "--flawed-per-group", type=int, help="Keep only so many flawed notes of each group, kinds in rotation."
            ),
            click.option(
                "--stratify",
                default=",".join(STRATIFY),
                show_default=True,
                metavar="LIST",
                help=f"Balance the splits over some of {', '.join(STRATIFY)}.",
            ),
            click.option(
                "--unite",
                multiple=True,
                metavar="RULE",
                help=f"Keep groups together that have {NEAR} ({NEAR}:SIMILARITY), or share a field, or a meta.KEY.",
            ),
            click.option(
                "--exclude",
                type=path,
                multiple=True,
                metavar="PATH",
                help="Leave out the groups that a run directory trained on, or that a file names.",
            ),
            click.option(
                "--exclude-pairs",
                type=path,
                multiple=True,
                metavar="PATH",
                help="Leave out only the flawed notes that it trained on, or that a file names.",
            ),
            click.option(
                "--needs",
                default=",".join(OBJECTIVE),
                show_default=True,
                metavar="LIST",
                help=f"Refuse splits that lack one of these: some of {', '.join(NEEDS)}.",
            ),
            click.option(
                "--alpha", type=float, default=0.05, show_default=True, help="Two-sided error rate of all comparisons."
            ),
            click.option(
                "--comparisons", type=int, default=1, show_default=True, help="Confirmatory comparisons that share it."
            ),
        )
    ):
        command = option(command)
    return command


@split_group.command("plan")
@_corpus_options
@_draw_options
def plan_command(name: str, facts: Path | None, **options: Any) -> None:
    """Print the split that commit would write, and how well it is balanced; nothing is written."""
    corpus = read_corpus(name, facts)
    lock = _planned(corpus, options)
    _print(Console(), lock.row(), title="a split that is not committed", balanced=lock_balance(lock, corpus))


@split_group.command("commit")
@click.argument("lock", type=click.Path(path_type=Path))
@_corpus_options
@_draw_options
def commit_command(lock: Path, name: str, facts: Path | None, **options: Any) -> None:
    """Draw a split by group, balanced, and write it once to LOCK; an existing lock is never overwritten."""
    drawn = commit_lock(_planned(read_corpus(name, facts), options), lock)
    click.echo(f"{lock}: {drawn.describe()}\nlock hash {drawn.hash}")
    if drawn.git is not None:
        state = ", with changes that are not committed" if drawn.git.dirty else ""
        click.echo(f"git commit {drawn.git.commit}{state}")


@split_group.command("verify")
@click.argument("lock", type=click.Path(path_type=Path))
@_corpus_options
def verify_command(lock: Path, name: str, facts: Path | None) -> None:
    """Check a lock against its corpus again: every assertion that it states, every group, count and byte."""
    found: SplitLock = load_lock(lock, read_corpus(name, facts))
    click.echo(f"{lock} holds: {found.describe()}\nlock hash {found.hash}")
    for assertion in found.row()["assertions"]:
        click.echo(f"  {assertion}")


@split_group.command("show")
@click.argument("lock", type=click.Path(path_type=Path))
def show_command(lock: Path) -> None:
    """Print groups and counts of a lock as it stands, without checking it."""
    if not lock.is_file():
        raise SplitError(f"{lock}: there is no split lock")
    try:
        _print(Console(), json.loads(lock.read_text(encoding="utf-8")), title=str(lock))
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise SplitError(f"{lock}: is not a split lock ({error!r})") from error


def _planned(corpus: Corpus, options: Mapping[str, Any]) -> SplitLock:
    seed = options["seed"]
    return plan_lock(
        corpus,
        sizes=_sizes(options["sizes"]),
        seed=seed,
        selection=Selection(options["groups"], options["flawed_per_group"], seed),
        stratify=_listed(options["stratify"]),
        needs=_listed(options["needs"]),
        union=_union(options["unite"]),
        exclusions=_exclusions(options["exclude"], options["exclude_pairs"]),
        alpha=options["alpha"],
        comparisons=options["comparisons"],
    )


def _sizes(text: str) -> Sizes:
    parts = text.split(",")
    try:
        if len(parts) != len(SPLITS):
            raise ValueError
        if "." in text or "/" in text:
            return {name: Fraction(part.strip()) for name, part in zip(SPLITS, parts, strict=True)}
        return {name: int(part) for name, part in zip(SPLITS, parts, strict=True)}
    except (ValueError, ZeroDivisionError) as error:
        raise SplitError(
            "--sizes must be three whole numbers such as 8,6,10, or three fractions such as 0.4,0.2,0.4 or "
            f"1/3,1/3,1/3, got {text!r}"
        ) from error


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _union(rules: Sequence[str]) -> Union:
    near: float | None = None
    fields: list[str] = []
    for rule in rules:
        name, _, value = rule.partition(":")
        if name != NEAR:
            fields.append(rule)
            continue
        if near is not None:
            raise SplitError(f"--unite {NEAR} is given twice; once is enough")
        try:
            near = float(value) if value else THRESHOLD
        except ValueError as error:
            raise SplitError(f"--unite {NEAR}:SIMILARITY needs a number in (0, 1], got {value!r}") from error
    return Union(near, tuple(sorted(set(fields))))


def _exclusions(groups: Sequence[Path], pairs: Sequence[Path]) -> dict[str, Exclusion]:
    found = {str(path): read_exclusion(path) for path in groups}
    return found | {f"{path} (pairs)": read_exclusion(path, grain="pairs") for path in pairs}


def _print(console: Console, data: Mapping[str, Any], *, title: str, balanced: Sequence[Balance] = ()) -> None:
    """A lock as tables: examples by split, groups by feature where they are known, and the groups themselves."""
    splits, counts = {name: data["splits"][name] for name in SPLITS}, data["counts"]
    table = Table(title=title, title_justify="left")
    for column in ("", *splits):
        table.add_column(column, justify="right" if column else "left")
    table.add_row("groups", *(str(len(groups)) for groups in splits.values()))
    table.add_row("notes", *(str(sum(counts[split]["kind"].values())) for split in splits), end_section=True)
    for field in ("kind", "trace", "severity", "stratum"):
        values = sorted({value for split in splits for value in counts[split][field] if value != "None"})
        for value in values:
            cells = (str(counts[split][field].get(value, 0)) for split in splits)
            table.add_row(f"{field} {value}", *cells, end_section=value == values[-1])
    console.print(table)
    if balanced:
        console.print(_balance_table(balanced, list(splits)))
    for split, groups in splits.items():
        more = f" and {len(groups) - NAMED} more" if len(groups) > NAMED else ""
        console.print(f"{split}: {' '.join(groups[:NAMED])}{more}", soft_wrap=True, highlight=False)
    for line in _said(data):
        console.print(line, soft_wrap=True, highlight=False)


def _balance_table(balanced: Sequence[Balance], splits: Sequence[str]) -> Table:
    table = Table(title="groups, and their proportional number", title_justify="left")
    for column in ("", *splits, "most off"):
        table.add_column(column, justify="right" if column else "left")
    for row in balanced:
        cells = (f"{row.counts[split]} of {row.shares[split]:.1f}" for split in splits)
        table.add_row(row.feature, *cells, f"{row.off:.1f}")
    table.caption = "below 1.0 nothing is nearer by a whole group"
    return table


def _said(data: Mapping[str, Any]) -> list[str]:
    """What else a lock states, a line each."""
    said = [f"{data['method']}; seed {data['seed']}; alpha {data['alpha']:g} over {data['comparisons']} comparison(s)"]
    united = data.get("union", {}).get("united", ())
    if united:
        said.append(f"{sum(map(len, united))} groups are united in {len(united)} sets")
    for name, row in data["exclusions"].items():
        said.append(f"excluded by {name}: {len(row['groups'])} groups, {len(row.get('pairs', ()))} pairs")
    if git := data.get("git"):
        said.append(f"git commit {git['commit']}{', with changes that are not committed' if git['dirty'] else ''}")
    return said
