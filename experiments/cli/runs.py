"""``holdgate audit`` and ``holdgate report``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console

from experiments.cli.campaigns import not_a_run
from experiments.crossing.writing import is_experiment, write_experiment_report
from experiments.judging import write_table
from experiments.report import write_report
from experiments.report.checking import check_report
from lineage.audit import Finding, audited_ledger, check_kept_head
from lineage.bundle import is_bundle
from optimize.bundling import audit_bundle
from optimize.crossing import audit_experiment
from optimize.judging.recorded import is_judging
from optimize.recompute import audit_numbers

RunDirectory = click.argument("run", type=click.Path(path_type=Path))


@click.command("audit")
@RunDirectory
@click.option("--head", metavar="HASH", help="Hash of a ledger head that was kept elsewhere; it must be in the chain.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON: severity, place, words, remedy.")
def audit_command(run: Path, head: str | None, as_json: bool) -> None:
    """Check a run, or a bundle of one, without keys or network, and say of each finding where it is and what to do.

    Checked are the chain of events and its head; the hashes of plan, split lock, examples, judgements, prompt and
    verdict; the order of events (splits before the search, the baseline before any proposal, each opening once); that
    every candidate is its texts' hash, has its parents before it and comes to one outcome; every score, measure,
    reward and outcome, the choice and the verdict, computed again from the judgements; the spend, within the ledger
    and in the call cache beside the run; the local MLflow store, read without a server; the report, written again;
    what was found of copied text; and the versions of the software.

    Every finding has a severity. An error: the run is not what its ledger says, or broke a rule; do not rely on it. A
    warning: a reader must know it, such as an unfinished run, copied text, or a mirror that is behind. Info: what was
    compared, and what could not be.

    The exit status is 0 without an error, 1 with one, and 2 where there is nothing to audit, so that it can end a step
    of continuous integration; warnings do not change it, and --json has them all.

    An unbroken chain shows that nothing was edited since it was written. Whoever rewrites the whole directory
    consistently, head included, leaves nothing in it that could show that: it is found only against a head that was
    kept elsewhere. Keep the hash of ledger.head.json, from the moment that matters, where the run's owner cannot
    change it, such as in a signed commit or a mail, and give it as --head.
    """
    if is_bundle(run):
        findings = audit_bundle(run, head=head)
    else:
        _existing(run)
        findings = audit_experiment(run) if is_experiment(run) else _audited(run)
        if head is not None:
            findings += check_kept_head(run, head)
    errors = [finding for finding in findings if finding.severity == "error"]
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        console = Console()
        for finding in findings:
            console.print(
                f"[bold]{finding.severity}[/bold] {finding.place}: {finding.words}", highlight=False, soft_wrap=True
            )
            if finding.remedy:
                console.print(f"    {finding.remedy}", highlight=False, soft_wrap=True)
        warnings = sum(finding.severity == "warning" for finding in findings)
        console.print(
            f"{run}: {len(errors)} errors, {warnings} warnings, {len(findings) - len(errors) - warnings} remarks. "
            + ("The numbers are those of the judgements." if not errors else ""),
            highlight=False,
            soft_wrap=True,
        )
    sys.exit(1 if errors else 0)


def _audited(run: Path) -> list[Finding]:
    """Findings about a run directory; numbers are computed again where the structure holds."""
    audited = audited_ledger(run)
    findings = audited.findings
    if not any(finding.severity == "error" for finding in findings):
        findings += audit_numbers(run, verified=audited.events)
        findings += check_report(run)
    return findings


@click.command("report")
@RunDirectory
def report_command(run: Path) -> None:
    """Write report.html and report.md of a run, from its directory alone.

    It is of a campaign, finished or not, of a judging run, whose table is written too, of an experiment, or of an
    imported lineage. The page asks for nothing when it is opened.
    """
    _existing(run)
    if is_judging(run):
        table = write_table(run.absolute())
        click.echo(f"{table.markdown}\n{table.scores}")
    paths = write_experiment_report(run.absolute()) if is_experiment(run) else write_report(run.absolute())
    click.echo(f"{paths.html}\n{paths.markdown}")


def _existing(run: Path) -> None:
    if not (run / "ledger.jsonl").is_file():
        raise not_a_run(run)
