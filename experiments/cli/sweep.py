"""``holdgate sweep``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.console import Console

from experiments.sweep.emission import emit_plan
from experiments.sweep.following import Lines
from experiments.sweep.loading import LoadedStudy, load_study
from experiments.sweep.report import write_study
from experiments.sweep.screen import introduce, say, say_what, show
from experiments.sweep.tables import counts
from experiments.sweep.workers import LIMIT_STATUS, end_with, run_workers
from lineage.errors import BudgetError, CampaignError, InputError
from optimize.sweep import (
    Study,
    StudyPlan,
    StudyResult,
    StudyStorage,
    default_storage,
    fingerprint,
    point_words,
    read_result,
)
from optimize.sweep.study import GRACE_S, WORKERS
from optimize.sweep.verification import audit_study


@click.command("sweep")
@click.argument("study", required=False)
@click.option("--out", type=click.Path(path_type=Path), help="Directory (default: runs/NAME); an old one is resumed.")
@click.option("--workers", type=click.IntRange(1, 64), help="Workers on this machine (default: 1).")
@click.option("--storage", metavar="URL", help="Database: sqlite:///FILE (default: in the directory) or postgresql://…")
@click.option(
    "--grace",
    type=click.FloatRange(1.0),
    help=f"Seconds without a sign of life after which another worker counts as dead (default: {GRACE_S:g}).",
)
@click.option("--check", is_flag=True, help="Say what the study would do. Nothing is called.")
@click.option(
    "--emit-plan",
    "emitted",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the campaign plan that confirms the best trial on held-out groups. Nothing is called.",
)
@click.option("--trial", type=int, help="With --emit-plan: another complete trial than the best.")
@click.option("--audit", is_flag=True, help="Check the study's ledgers, and compute every number again.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of a study plan, for editors.")
@click.option("--worker-of", type=int, hidden=True)
def sweep_command(
    study: str | None,
    out: Path | None,
    workers: int | None,
    storage: str | None,
    grace: float | None,
    check: bool,
    emitted: Path | None,
    trial: int | None,
    audit: bool,
    as_json: bool,
    schema: bool,
    worker_of: int | None,
) -> None:
    """Search the settings of a campaign under one budget: each trial is a whole search at one point of a space.

    A study is a YAML file: a campaign plan, and what is varied in it (reasoning effort, answer cap, samples,
    aggregator, minibatch, reflector, acceptance, frontier, seeds, prompts). Trials see reflect and accept groups only;
    held-out groups stay sealed, and no comparison is spent. So its numbers confirm nothing: --emit-plan writes the
    campaign that does.

    \b
    What would it do?                  holdgate sweep simulated --check
    Run it, or go on with it:          holdgate sweep simulated
    With four workers:                 holdgate sweep my/study.yaml --workers 4
    On several machines, on each:      holdgate sweep my/study.yaml --storage postgresql://me@host/study
    Confirm its best point:            holdgate sweep simulated --emit-plan my/confirm.yaml
                                       holdgate run my/confirm.yaml

    Limits hold for all trials and all workers together, whenever any of them dies: a call's worst case is reserved
    before it is sent. Nothing is paid for twice, also where two workers come to the same call at once; only calls under
    way at a kill may be. A trial whose worker is killed is taken up again where it stopped. Raise limits or trials in
    the study plan to go on. PostgreSQL takes its password from PGPASSWORD or ~/.pgpass.

    A study is the name of a bundled one (simulated, local) or a file. Everything is in its directory: report.html,
    result.json, the ledgers of workers and of trials, study.sqlite. Calls are kept in calls.sqlite beside it, where the
    campaign that confirms finds those of its search.
    """  # noqa: D301 - click reads the escape as: keep these lines
    if schema:
        click.echo(json.dumps(StudyPlan.model_json_schema(), indent=2))
        return
    if study is None:
        raise click.UsageError("name a study, such as simulated, or give --schema")
    reads = {"--check": check, "--emit-plan": emitted is not None, "--audit": audit}
    asked = [name for name, given in reads.items() if given]
    idle = [name for name, given in (("--workers", workers), ("--grace", grace)) if given is not None and asked]
    if len(asked) > 1 or idle:
        raise InputError(f"{' and '.join([*asked, *idle])} do not go together; give one of them")
    if trial is not None and emitted is None:
        raise InputError("--trial has no effect without --emit-plan; remove it")
    loaded = load_study(study)
    directory = (out or Path("runs") / loaded.plan.name).absolute()
    console = Console(width=None if sys.stdout.isatty() else 110, stderr=as_json)
    if check:
        say_what(console, loaded)
        return
    if not asked:
        _work(console, loaded, study, directory, storage, workers or 1, grace or GRACE_S, worker_of)
        if worker_of is not None:
            return
    result = _result(loaded, directory, storage)
    if emitted is not None:
        chosen = emit_plan(loaded, result, emitted, number=trial)
        say(console, f"{emitted}: confirms trial {chosen.number} ({point_words(chosen.parameters or {})})")
        say(console, f"run it: holdgate run {emitted}")
    if audit:
        _audit(console, loaded, directory, result)
    if not asked:
        paths = write_study(loaded, result, directory)
        show(console, result)
        say(console, f"report: {paths.html}")
    if as_json:
        click.echo(json.dumps(result.row(), indent=2))


def _work(
    console: Console,
    loaded: LoadedStudy,
    study: str,
    directory: Path,
    storage: str | None,
    workers: int,
    grace_s: float,
    worker_of: int | None,
) -> None:
    """Run trials in this process, or in several."""
    if worker_of is None:
        introduce(console, loaded, directory, workers)
    if workers > 1:
        arguments = ["sweep", study, "--out", str(directory), "--grace", str(grace_s)]
        arguments += [] if storage is None else ["--storage", storage]
        statuses = run_workers(arguments, workers)
        if any(statuses) and not _result(loaded, directory, storage).finished:
            failed = sum(status != 0 for status in statuses)
            words = f"{failed} of {workers} workers stopped (see above); give the same command to go on"
            raise BudgetError(words) if LIMIT_STATUS in statuses else CampaignError(words)
        return
    if worker_of is not None:
        end_with(worker_of)
    follower = Lines(console, loaded, quiet=worker_of is not None)
    try:
        Study(
            loaded.inputs,
            loaded.corpus,
            loaded.lock,
            directory,
            storage=storage,
            follower=follower,
            grace_s=grace_s,
        ).work()
    finally:
        follower.close()


def _result(loaded: LoadedStudy, directory: Path, storage: str | None) -> StudyResult:
    """What came of a study so far.

    Raises:
        CampaignError: it was not begun.
    """
    if storage is None and not (directory / WORKERS).is_dir():
        raise CampaignError(f"{directory} holds no study; run it first: holdgate sweep {loaded.path}")
    opened = StudyStorage(storage or default_storage(directory), loaded.plan.name)
    try:
        return read_result(
            loaded.inputs,
            opened,
            directory=directory,
            fingerprint=fingerprint(loaded.inputs, loaded.corpus, loaded.lock),
            simulated=loaded.simulated,
        )
    finally:
        opened.close()


def _audit(console: Console, loaded: LoadedStudy, directory: Path, result: StudyResult) -> None:
    findings = audit_study(directory, result, loaded.lock)
    for finding in findings:
        console.print(
            f"[bold]{finding.severity}[/bold] {finding.place}: {finding.words}", highlight=False, soft_wrap=True
        )
        console.print(f"    {finding.remedy}", highlight=False, soft_wrap=True)
    errors = sum(finding.severity == "error" for finding in findings)
    say(console, f"{directory}: {errors} errors; {counts(result)}")
    if errors:
        sys.exit(1)
