"""``holdgate calibrate``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from experiments.cli.campaigns import not_a_run
from lineage.canonical import pretty_json, write_atomic
from lineage.errors import InputError
from optimize.flag_rule import CAP, FlagRule, set_flag_rule
from optimize.flag_share import FlagShare
from optimize.flag_transfer import Transfer, transfers
from optimize.recompute import load_run
from optimize.replicates import judged, seed_of
from optimize.score_table import ScoreTable, read_scores, recorded_scores

FILE = "flag-rule.json"


@click.command("calibrate")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--arm", type=click.Choice(["winner", "baseline"]), help="Whose scores of a run (default: the winner's).")
@click.option(
    "--to", "others", type=click.Path(path_type=Path), multiple=True, help="Another set's scores; repeatable."
)
@click.option("--deployment", type=click.Path(path_type=Path), help="Scores of a deployment's own clean notes.")
@click.option("--cap", type=float, default=CAP, show_default=True, help="Share of clean documents that may be flagged.")
@click.option("--out", type=click.Path(path_type=Path), help=f"Directory in which {FILE} is written.")
@click.option("--json", "as_json", is_flag=True, help="Print the rule and its transfer as JSON.")
def calibrate_command(
    source: Path,
    arm: str | None,
    others: tuple[Path, ...],
    deployment: Path | None,
    cap: float,
    out: Path | None,
    as_json: bool,
) -> None:
    """Set a flag rule on clean documents, and say how it transfers to other ones. Nothing is called.

    SOURCE is a run directory, whose rule is set on accept and read on held-out groups where the run is finished; or a
    table of scores (CSV or JSONL: id, group, site, stratum, label, score), read on each --to table. With --deployment
    the rule is set anew on a deployment's own clean notes, and the old one is shown beside it.
    """
    given = _sets(source, arm)
    calibration, targets = given.calibration, [*given.heldout, *(read_scores(path) for path in others)]
    rule = set_flag_rule(calibration, cap=cap)
    found = [transfer for target in targets for transfer in transfers(rule, target)]
    deployed, own = None, None
    if deployment is not None:
        own = read_scores(deployment, clean=True)
        found += transfers(rule, own)
        deployed = set_flag_rule(own, cap=cap)
    warnings = list((deployed or rule).warnings)
    row = {
        **(deployed or rule).row(),
        "candidate": given.candidate,
        "simulated": given.simulated,
        "carried_from": None if deployed is None else rule.row(),
        "transfer": [transfer.row() for transfer in found],
        "inputs": {table.name: table.hash for table in (calibration, *targets, *([own] if own else []))},
        "warnings": warnings,
    }
    if out is not None:
        _write(out / FILE, pretty_json(row))
    if as_json:
        click.echo(json.dumps(row, indent=2))
        return
    console = Console(width=None if sys.stdout.isatty() else 110)
    _show(console, rule, found, deployed)
    for warning in warnings:
        _say(console, f"[bold]warning[/bold]: {warning}")
    if given.simulated:
        _say(console, "[bold]SIMULATED[/bold] judge: this says nothing about any model.")
    if out is not None:
        _say(console, f"written: {out / FILE}")


@dataclass(frozen=True, slots=True)
class _Sets:
    """The calibration set, the held-out one that comes with a finished run, and whose scores they are."""

    calibration: ScoreTable
    heldout: tuple[ScoreTable, ...] = ()
    candidate: str | None = None
    simulated: bool = False


def _sets(source: Path, arm: str | None) -> _Sets:
    if not source.is_dir():
        if arm is not None:
            raise InputError("--arm has no effect on a table of scores, which is of one judge; leave it out")
        return _Sets(read_scores(source))
    if not (source / "ledger.jsonl").is_file():
        raise not_a_run(source)
    run = load_run(source)
    seed = seed_of(run)
    choice = next(iter(run.all("choice")), None)
    candidate = seed if arm == "baseline" or choice is None else str(choice.body["winner"])
    if arm == "winner" and choice is None:
        raise InputError(f"{source} has chosen no winner yet; resume it, or give --arm baseline")
    calibration = recorded_scores(run, split="accept", candidate=candidate)
    finished = run.all("finished") and candidate in judged(run, "heldout")
    heldout = (recorded_scores(run, split="heldout", candidate=candidate),) if finished else ()
    return _Sets(calibration, heldout, candidate, bool(run.events[0].body["simulated"]))


def _write(path: Path, text: str) -> None:
    """Write the rule once; another one is not overwritten, as something may flag by it."""
    if path.is_file() and path.read_text(encoding="utf-8") != text:
        raise InputError(f"{path} holds another flag rule; give another --out, or remove it")
    write_atomic(path, text)


def _show(console: Console, rule: FlagRule, found: Sequence[Transfer], deployed: FlagRule | None) -> None:
    _say(console, f"[bold]flag rule[/bold]: {rule.words}")
    if found:
        labels = sorted({label for transfer in found for label in transfer.flawed})
        table = Table(title=f"how the threshold {rule.threshold:g} transfers: documents flagged", title_justify="left")
        for column in ("set", "clean", "Wilson", "by group", *labels, f"cap {rule.cap:.2f}"):
            table.add_column(column)
        for transfer in found:
            table.add_row(*_cells(transfer, labels))
        console.print(table)
        for rate in dict.fromkeys(transfer.counts.rate for transfer in found if transfer.clean.n):
            _say(console, f"the share of flagged clean documents is a {rate}")
    else:
        _say(console, "no other set is given: how the rule transfers is not known (--to, --deployment)")
    if deployed is not None:
        _say(console, f"[bold]set anew[/bold]: {deployed.words}")


def _cells(transfer: Transfer, labels: Sequence[str]) -> tuple[str, ...]:
    clean = transfer.clean
    by_group = clean.grouped.interval
    return (
        f"  {transfer.by} {transfer.part}" if transfer.by else transfer.on,
        _share(clean) + (f", {clean.unscored} unscored" if clean.unscored else ""),
        f"{clean.interval.low:.3f} to {clean.interval.high:.3f}" if clean.n else "",
        f"{by_group.low:.3f} to {by_group.high:.3f}" if by_group.defined else "undefined",
        *(_share(transfer.flawed[label]) if label in transfer.flawed else "" for label in labels),
        transfer.words,
    )


def _share(share: FlagShare) -> str:
    return f"{share.flagged} of {share.n} ({share.rate:.3f})" if share.n else "none"


def _say(console: Console, line: str) -> None:
    console.print(line, highlight=False, soft_wrap=True)
