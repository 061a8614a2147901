"""``holdgate noise``."""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from experiments.cli.campaigns import not_a_run
from experiments.loading import load_plan
from lineage.errors import CampaignError, InputError
from optimize.evaluation import Evaluation
from optimize.gate import clean_counts
from optimize.noise import NoiseFloor, noise_floor
from optimize.noise_run import MeasuredNoise, NoiseRun
from optimize.recompute import load_run
from optimize.replicates import WHOLE, judged, recorded_evaluation, seed_of
from students import Progress

QUIET_S: Final = 20.0
"""Seconds between lines where the output is not a terminal."""
MEASURES: Final = {
    "omissions": "omissions",
    "commissions": "commissions",
    "detection": "detection",
    "false_alarms": "{flags}",
}


@click.command("noise")
@click.argument("plan", required=False)
@click.option("--split", type=click.Choice(["reflect", "accept"]), help="Groups to judge (default: accept).")
@click.option("--replicates", type=int, help="Replicates, at least 3 (default: 3).")
@click.option("--out", type=click.Path(path_type=Path), help="Directory (default: runs/NAME-noise); resumed if there.")
@click.option(
    "--run", "run", type=click.Path(path_type=Path), help="Read a run's replicates instead; nothing is called."
)
@click.option("--json", "as_json", is_flag=True, help="Print the floor as JSON.")
def noise_command(
    plan: str | None,
    split: str | None,
    replicates: int | None,
    out: Path | None,
    run: Path | None,
    as_json: bool,
) -> None:
    """Measure how far the plan's baseline differs from itself, over replicates on accept. Held-out is never judged.

    Replicates that campaigns beside the directory have paid for come from their cache. Where the first two are
    identical the judge is deterministic, and no more are bought. With --run the replicates that a run has recorded are
    read, those of a finished one on held-out groups among them.
    """
    console = Console(width=None if sys.stdout.isatty() else 110, stderr=as_json)
    if run is not None:
        given = {"PLAN": plan, "--split": split, "--replicates": replicates, "--out": out}
        if idle := [name for name, value in given.items() if value is not None]:
            raise InputError(f"{', '.join(idle)} has no effect with --run, which judges nothing; leave it out")
        _recorded(console, run, as_json)
        return
    if plan is None:
        raise click.UsageError("name a plan, such as simulated, or a run with --run RUN")
    loaded = load_plan(plan)
    directory = (out or Path("runs") / f"{loaded.plan.name}-noise").absolute()
    follower = _Lines(console)
    try:
        measured = NoiseRun(
            loaded.plan,
            loaded.corpus,
            loaded.lock,
            directory,
            baseline=loaded.baseline,
            split="reflect" if split == "reflect" else "accept",
            replicates=3 if replicates is None else replicates,
            follower=follower,
            models_hash=loaded.models_hash,
        ).run()
    finally:
        follower.close()
    if as_json:
        click.echo(json.dumps(_row(measured.split, measured.floor, simulated=loaded.plan.simulated), indent=2))
        return
    _show(console, measured.evaluation, measured.floor, where=f"{loaded.plan.name}, {measured.split}")
    _say_measured(console, measured, simulated=loaded.plan.simulated)


def _recorded(console: Console, directory: Path, as_json: bool) -> None:
    if not (directory / "ledger.jsonl").is_file():
        raise not_a_run(directory)
    run = load_run(directory)
    seed = seed_of(run)
    splits = [split for split in WHOLE if seed in judged(run, split) and (split != "heldout" or run.all("finished"))]
    found = {split: recorded_evaluation(run, split=split, candidate=seed) for split in splits}
    if not found:
        raise CampaignError(f"{directory} holds no evaluation of its baseline yet; let it go on")
    simulated = bool(run.events[0].body["simulated"])
    if as_json:
        floors = [_row(split, noise_floor(evaluation), simulated=simulated) for split, evaluation in found.items()]
        click.echo(json.dumps(floors, indent=2))
        return
    for split, evaluation in found.items():
        _show(console, evaluation, noise_floor(evaluation), where=f"{directory.name}, {split}")
    if simulated:
        _say(console, "[bold]SIMULATED[/bold] judge: this says nothing about any model.")


def _show(console: Console, evaluation: Evaluation, floor: NoiseFloor, *, where: str) -> None:
    """The floor in words and as a table."""
    _say(console, f"[bold]noise floor[/bold] ({where}): {floor.words}")
    if not floor.defined:
        return
    _say(
        console,
        f"{floor.pairs} omission pairs and {floor.documents} documents have a score in every replicate; "
        f"{floor.tie_mass:.1%} of pairs are ties, {floor.flips:.1%} flip"
        + (f"; {floor.unscored} judgements have no score" if floor.unscored else ""),
    )
    counts = clean_counts(evaluation.examples)
    table = Table(
        title="paired discrimination on omissions and commissions; detection at each replicate's own threshold, held "
        f"to 10% on clean documents; {counts.rate} at the first replicate's threshold",
        title_justify="left",
    )
    table.add_column("")
    for column in ("n", "by replicate", "spread", "SD", "SD of a difference"):
        table.add_column(column, justify="right")
    for name, spread in floor.measures.items():
        values = "  ".join(_number(value) for value in spread.values)
        numbers = (spread.spread, spread.sd, spread.difference_sd)
        label = MEASURES[name].format(flags=counts.flags)
        table.add_row(label, str(spread.n), values, *(_number(value) for value in numbers))
    console.print(table)
    if not floor.deterministic:
        _say(
            console,
            f"a difference of one replicate an arm is beyond the noise from about {200 * floor.difference_sd:.1f} "
            f"points (2 SD); from the {len(set(evaluation.planned_pairs('omission').values()))} groups rather than the "
            f"{floor.replicates} values the SD of a difference is {100 * floor.by_group_sd:.1f} points",
        )


def _say_measured(console: Console, measured: MeasuredNoise, *, simulated: bool) -> None:
    if measured.floor.deterministic:
        spared = f"; {measured.spared} of {measured.asked} were not bought" if measured.spared else ""
        _say(console, f"replicates add nothing here: they would be the same again{spared}")
    _say(console, f"calls: {measured.paid} paid, {measured.cached} found in the cache")
    if simulated:
        _say(console, "[bold]SIMULATED[/bold] judge: this says nothing about any model.")
    _say(console, f"kept: {measured.directory}   (plan with it: holdgate power PLAN --pilot {measured.directory})")


def _row(split: str, floor: NoiseFloor, *, simulated: bool) -> dict[str, Any]:
    return {"split": split, "simulated": simulated, **floor.row()}


def _number(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.3f}"


def _say(console: Console, line: str) -> None:
    console.print(line, highlight=False, soft_wrap=True)


class _Lines:
    """Progress: one status line on a terminal, and otherwise a line now and then."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = console.status("reading the ledger") if console.is_terminal else None
        self._replicate, self._last = "setting the threshold on accept", time.monotonic()
        if self._status is not None:
            self._status.start()

    def replicate(self, number: int, of: int) -> None:
        """A replicate begins."""
        self._replicate = f"replicate {number} of {of}"
        if self._status is None:
            _say(self._console, self._replicate)

    def judged(self, progress: Progress) -> None:
        """Its evaluation has come further."""
        line = (
            f"{self._replicate} · judged {progress.done} of {progress.of} · {progress.paid} calls paid, "
            f"{progress.cached} cached"
        )
        if self._status is not None:
            self._status.update(line)
        elif time.monotonic() - self._last > QUIET_S:
            self._last = time.monotonic()
            _say(self._console, f"  {line}")

    def close(self) -> None:
        """Take the status line away."""
        if self._status is not None:
            self._status.stop()
