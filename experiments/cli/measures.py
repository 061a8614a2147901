"""``holdgate measures``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from experiments.cli.campaigns import not_a_run
from experiments.loading import load_plan
from lineage.errors import CampaignError, InputError
from optimize.choice import number
from optimize.objectives import MeasureRow, length_only, position_only
from optimize.recompute import RecordedRun, load_run
from optimize.recorded_measures import RecordedMeasures, recorded_measures
from optimize.replicates import judged, seed_of
from splits.lock import split_examples

WORDS: Final = {"reflect": "reflect", "accept": "accept", "heldout": "held-out data"}


@click.command("measures")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--split", type=click.Choice(list(WORDS)), help="Where it was judged (default: held-out, if finished).")
@click.option("--arm", type=click.Choice(["winner", "baseline"]), help="Whose measures (default: the winner's).")
@click.option("--plan", help="The run's plan: also say what length alone and position alone reach; accept only.")
@click.option("--json", "as_json", is_flag=True, help="Print the measures as JSON.")
def measures_command(run: Path, split: str | None, arm: str | None, plan: str | None, as_json: bool) -> None:
    """Show every measure of a run's winner or baseline: overall, by kind, trace, severity, stratum and cohort.

    Paired discrimination, AUC, detection, false alarms, severity-weighted detection, coverage and score compression,
    from the judgements that the run has recorded; nothing is called. On held-out data the flag rule is the candidate's
    own from accept, on accept it is swept there, which is optimistic. Held-out judgements are read of a finished run.
    """
    if not (run / "ledger.jsonl").is_file():
        raise not_a_run(run)
    recorded = load_run(run)
    name, candidate = _candidate(recorded, arm, run)
    where = split or _default(recorded, candidate)
    if plan is not None and where != "accept":
        raise InputError(f"--plan reads documents, and those of {where} are not read here; give --split accept")
    found = recorded_measures(recorded, split=where, candidate=candidate)
    checks = [] if plan is None else _confounds(recorded, found, plan)
    simulated = bool(recorded.events[0].body["simulated"])
    if as_json:
        click.echo(json.dumps({"arm": name, "simulated": simulated, **_row(found), "confounds": checks}, indent=2))
        return
    console = Console(width=None if sys.stdout.isatty() else 140)
    _show(console, found, f"{run.name}, {name} on {WORDS[where]}")
    for words in checks:
        _say(console, words)
    if where == "accept":
        _say(console, "accept is optimistic for whatever was chosen on it")
    _say(console, "among so many numbers some are striking by chance: parts are tested only after the gate has passed")
    if simulated:
        _say(console, "[bold]SIMULATED[/bold] judge: this says nothing about any model.")


def _candidate(run: RecordedRun, arm: str | None, directory: Path) -> tuple[str, str]:
    """The arm that is meant, and the id of its candidate."""
    choice = next(iter(run.all("choice")), None)
    if choice is None and arm == "winner":
        raise InputError(f"{directory} has chosen no winner yet; resume it, or give --arm baseline")
    seed = seed_of(run)
    if choice is None or arm == "baseline":
        return "baseline", seed
    winner = str(choice.body["winner"])
    return "baseline, which is the winner" if winner == seed else "winner", winner


def _default(run: RecordedRun, candidate: str) -> str:
    """Held-out data where the run is finished, else accept or whatever was judged."""
    for split in ("heldout", "accept", "reflect"):
        if candidate in judged(run, split) and (split != "heldout" or run.all("finished")):
            return split
    raise CampaignError(f"{run.directory} holds no evaluation of candidate {candidate[:12]} yet; let it go on")


def _confounds(run: RecordedRun, found: RecordedMeasures, plan: str) -> list[str]:
    """What judges without understanding reach on the same accept documents, in words.

    Raises:
        InputError: the plan's corpus or lock is not the run's.
    """
    loaded = load_plan(plan)
    if (loaded.corpus.hash, loaded.lock.hash) != (run.events[0].body["corpus_hash"], run.lock.hash):
        raise InputError(
            f"--plan {plan}: its corpus and split lock are not those of {run.directory}; name its own plan"
        )
    texts = split_examples(loaded.lock, loaded.corpus, "accept")
    return [str(check(found.scored, texts)) for check in (length_only, position_only)]


def _show(console: Console, found: RecordedMeasures, title: str) -> None:
    table = Table(title=title, title_justify="left")
    for column in found.table.header:
        table.add_column(column, justify="left" if column in ("documents", "measure", "counted") else "right")
    for row in found.table.rows():
        table.add_row(*row)
    console.print(table)
    rule = found.table.threshold
    _say(console, f"flag rule: {rule}" if rule else f"no detection: {found.table.unavailable}")
    if found.clean.candidates:
        _say(console, f"what false alarms are called here is a {found.clean.rate}: a flag on a candidate may be right")
    _say(console, str(found.table.compression))


def _row(found: RecordedMeasures) -> dict[str, Any]:
    """The JSON form; what is undefined is null, with its reason."""
    rule, shape = found.table.threshold, found.table.compression
    return {
        "split": found.split,
        "candidate": found.candidate,
        "flag_rule": str(rule) if rule else None,
        "no_detection": found.table.unavailable or None,
        "level": found.table.level,
        "clean_documents": found.clean.row(),
        "compression": {
            "distinct": shape.n_distinct,
            "top_score": number(shape.top_score),
            "top_share": number(shape.top_share),
            "entropy_bits": number(shape.entropy),
            "tie_mass": number(shape.value),
            "words": str(shape),
        },
        "rows": [_measure(entry) for entry in found.table.entries],
    }


def _measure(entry: MeasureRow) -> dict[str, Any]:
    measure, interval = entry.measure, entry.measure.interval
    independent = measure.wilson
    return {
        "by": entry.by,
        "part": entry.part or None,
        "measure": measure.name,
        "method": measure.method,
        "value": number(measure.value),
        "low": number(interval.low),
        "high": number(interval.high),
        "wilson": None if independent is None else [number(independent.low), number(independent.high)],
        "counted": dict(measure.counted),
        "n": measure.n,
        "unit": measure.unit,
        "groups": measure.n_groups,
        "failed": measure.n_failed,
        "direction": measure.direction,
        "reason": measure.reason or interval.reason or None,
    }


def _say(console: Console, line: str) -> None:
    console.print(line, highlight=False, soft_wrap=True)
