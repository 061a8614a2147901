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
from lineage.audit import audit_ledger, check_kept_head
from lineage.bundle import is_bundle
from optimize.bundling import audit_bundle
from optimize.judging.recorded import is_judging
from optimize.recompute import audit_numbers

RunDirectory = click.argument("run", type=click.Path(path_type=Path))


@click.command("audit")
@RunDirectory
@click.option("--head", metavar="HASH", help="A ledger head kept elsewhere, which must be in the chain.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def audit_command(run: Path, head: str | None, as_json: bool) -> None:
    """Check a run without keys or network: chain, order, hashes, and every number recomputed from the judgements.

    Exit status 0 if nothing is wrong, 1 if there is an error. A rewrite of everything shows only against a head that
    was kept elsewhere (--head); nothing in the run directory itself could show it.
    """
    if is_bundle(run):
        findings = audit_bundle(run, head=head)
    else:
        _existing(run)
        findings = audit_ledger(run)
        if not any(finding.severity == "error" for finding in findings):
            findings += audit_numbers(run)
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
        console.print(
            f"{run}: {len(errors)} errors, {len(findings) - len(errors)} remarks. "
            + ("The numbers are those of the judgements." if not errors else ""),
            highlight=False,
            soft_wrap=True,
        )
    sys.exit(1 if errors else 0)


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
