"""``holdgate lineage``: the family tree, one candidate whole, two word by word, data frames, and who leads where."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console
from rich.text import Text

from experiments.cli.campaigns import not_a_run, tracking_uri
from experiments.explore import find_candidate, read_candidates, read_frontiers, text_differences
from experiments.explore.screen import candidate_blocks, leader_table
from lineage.errors import InputError
from lineage.frames import candidates_frame, evaluations_frame
from lineage.ledger import Event, read_events
from lineage.mirror import sync_directory
from lineage.tree import render_tree
from optimize.judging.registering import KIND

if TYPE_CHECKING:
    import pandas as pd

RunDirectory = click.argument("run", type=click.Path(path_type=Path))
AsJson = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
FORMATS: Final = ("csv", "parquet", "json")
SHOWN: Final = 20
"""Rows of a frame that a screen shows."""


class _TreeByDefault(click.Group):
    """A group whose first argument may be a run directory instead of a command."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """A command of the group, or the tree of the run directory named."""
        if args and self.get_command(ctx, args[0]) is None:
            return "tree", self.get_command(ctx, "tree"), args
        return super().resolve_command(ctx, args)


@click.group("lineage", cls=_TreeByDefault)
def lineage_group() -> None:
    """Look at a campaign's candidates: holdgate lineage RUN prints the family tree.

    A candidate is named as the tree names it (seed, c03), by the beginning of its id, or as winner.
    """


@lineage_group.command("tree")
@RunDirectory
def tree_command(run: Path) -> None:
    """Print the family tree: every candidate with its outcome, gain, measures and the reason."""
    _console().print(render_tree(_events(run)))


@lineage_group.command("show")
@RunDirectory
@click.argument("candidate", default="winner")
@AsJson
def show_command(run: Path, candidate: str, as_json: bool) -> None:
    """Print one candidate whole: texts, parents, reflection, outcome, measures; the winner by default.

    Measures on accept are optimistic for whichever candidate was chosen by them. What held-out data say of the winner
    is shown once the campaign is decided.
    """
    record = find_candidate(read_candidates(_events(run)), candidate)
    if as_json:
        click.echo(json.dumps(record.json(), ensure_ascii=False, indent=2))
        return
    console = _console()
    for block in candidate_blocks(record):
        console.print(block, highlight=False, soft_wrap=isinstance(block, Text))


@lineage_group.command("diff")
@RunDirectory
@click.argument("candidate", default="winner")
@click.argument("against", required=False)
@AsJson
def diff_command(run: Path, candidate: str, against: str | None, as_json: bool) -> None:
    """Show word by word what a candidate changed: against its parent, against each of two, or AGAINST another.

    Removed words stand as [-words-], added ones as {+words+}.
    """
    records = read_candidates(_events(run))
    after = find_candidate(records, candidate)
    by_seq = {record.row.seq: record for record in records}
    others = [find_candidate(records, against)] if against else [by_seq[seq] for seq in after.row.parent_seqs]
    if not others:
        raise InputError(
            f"{after.row.name} is a seed and has no parent; name the candidate to compare it with: "
            f"holdgate lineage diff {run} {after.row.name} OTHER"
        )
    for record in (after, *others):
        if not record.texts:
            raise InputError(f"the text of {record.row.name} was not published, so that no word of it can be compared")
    found = [(before, list(text_differences(before.texts, after.texts))) for before in others]
    if as_json:
        rows = [
            {
                "before": before.row.name,
                "after": after.row.name,
                "texts": {one.name: [list(part) for part in one.parts] for one in differences},
            }
            for before, differences in found
        ]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    console = _console()
    for before, differences in found:
        console.print(Text(f"from {before.row.name} to {after.row.name}", style="bold"))
        for one in differences:
            removed, added = one.counts
            changes = f"{removed} words removed, {added} added" if one.changed else "unchanged"
            console.print(Text(f"{one.name}: {changes}", style="dim"))
            if one.changed:
                console.print(one.text(), soft_wrap=True)


@lineage_group.command("frame")
@RunDirectory
@click.option(
    "--of",
    type=click.Choice(["candidates", "judgements"]),
    default="candidates",
    help="One row a proposal (default), or one row a judgement.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write it to this file: .csv, .parquet or .json.")
@click.option("--format", "file_format", type=click.Choice(FORMATS), help="Format of --out, where its name says none.")
def frame_command(run: Path, of: str, out: Path | None, file_format: str | None) -> None:
    """Show candidates or judgements as a table, or write it for pandas, a spreadsheet or R.

    No example's text is in it. Judgements of held-out examples are left out until the campaign is decided.
    """
    if file_format is not None and out is None:
        raise click.UsageError("--format is of the file that --out names; give both, or neither")
    chosen = None if out is None else file_format or out.suffix.removeprefix(".")
    if chosen is not None and chosen not in FORMATS:
        raise InputError(f"--out {out}: its ending is not .csv, .parquet or .json; give --format")
    events = _events(run)
    if of == "candidates":
        frame, left_out = candidates_frame(events), 0
    else:
        shown, left_out = _shown(events)
        frame = evaluations_frame(run, shown)
    if out is None:
        click.echo(frame.head(SHOWN).to_string(max_colwidth=40))
        if len(frame) > SHOWN:
            click.echo(f"{SHOWN} of {len(frame)} rows; write all of them with --out FILE.csv")
    else:
        _write(frame, out, chosen or "")
        click.echo(f"{out}: {len(frame)} rows, {len(frame.columns)} columns")
    if left_out:
        click.echo(f"{left_out} held-out judgements are left out: the campaign is not decided yet", err=True)


@lineage_group.command("leaders")
@RunDirectory
@AsJson
def leaders_command(run: Path, as_json: bool) -> None:
    """List which accept examples each frontier candidate leads: has the highest reward on, alone or with others."""
    _existing(run)
    frontiers = read_frontiers(run)
    if as_json:
        rows = [
            {
                "target": target,
                "examples": len(frontier.examples),
                "pool": len(frontier.pool),
                "leaders": [
                    {
                        "name": leader.row.name,
                        "candidate": leader.row.candidate,
                        "leads": leader.leads,
                        "alone": list(leader.alone),
                        "shared": list(leader.shared),
                    }
                    for leader in frontier.leaders
                ],
            }
            for target, frontier in frontiers.items()
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    for target, frontier in frontiers.items():
        _console().print(leader_table(frontier, target=target))


@lineage_group.command("sync")
@RunDirectory
@click.option(
    "--tracking-uri", "store", help="MLflow store; by default MLFLOW_TRACKING_URI, or mlflow.db beside the run."
)
def sync_command(run: Path, store: str | None) -> None:
    """Mirror a run or a study into MLflow now, for what was made while the store could not be reached."""
    uri = store or tracking_uri(run.absolute())
    sync_directory(run.absolute(), tracking_uri=uri, experiment="holdgate")
    click.echo(f"mirrored into {uri}")


def _events(run: Path) -> tuple[Event, ...]:
    _existing(run)
    return read_events(run / "ledger.jsonl")


def _existing(run: Path) -> None:
    if not (run / "ledger.jsonl").is_file():
        raise not_a_run(run)


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else 160)


def _shown(events: Sequence[Event]) -> tuple[list[Event], int]:
    """The evaluations that may be looked at, and how many judgements the others hold.

    What a judging run looks at on held-out examples is exploratory, and shown with its table.
    """
    decided = any(event.type == "verdict" for event in events) or events[0].body.get("kind") == KIND
    evaluations = [event for event in events if event.type == "evaluation"]
    shown = [event for event in evaluations if decided or event.body["split"] != "heldout"]
    hidden = (event.body["segment"]["judgements"] for event in evaluations if event not in shown)
    return shown, sum(hidden) if len(shown) < len(evaluations) else 0


def _write(frame: pd.DataFrame, out: Path, chosen: str) -> None:
    """The frame as a file; what is not defined is empty in CSV and null elsewhere."""
    import pandas as pd

    out.parent.mkdir(parents=True, exist_ok=True)
    if chosen == "parquet":
        frame.to_parquet(out, index=False)
        return
    if "parents" in frame:
        parents = pd.Series([list(names) if chosen == "json" else " ".join(names) for names in frame["parents"]])
        frame = frame.assign(parents=parents.astype("object"))
    if chosen == "csv":
        frame.to_csv(out, index=False, lineterminator="\n")
    else:
        frame.to_json(out, orient="records", force_ascii=False, indent=2)
