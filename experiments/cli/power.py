"""``holdgate power``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from experiments.cli.campaigns import not_a_run
from experiments.loading import LoadedPlan, load_plan
from lineage.errors import InputError
from optimize.power import (
    POWERS,
    Discordance,
    PlannedRule,
    Power,
    between,
    plan_power,
    read_pilot,
    split_sizes,
    stated_discordance,
)
from optimize.power.discordance import CORRELATION
from optimize.recompute import load_run


@click.command("power")
@click.argument("plan")
@click.option(
    "--pilot",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="A run directory, of a search or of holdgate noise, whose candidates or replicates show how arms differ.",
)
@click.option(
    "--discordance",
    metavar="WINS,LOSSES",
    help="Share of omission pairs that differ between two arms, such as 8/131,13/131.",
)
@click.option("--correlation", type=float, help="Within-group correlation of the differences (default: 0.5).")
@click.option("--swaps", type=float, help="Share of differing pairs that swap fully (default: the share squared).")
@click.option("--noise-share", type=float, help="Share of the variance that replicates reduce (default: 0).")
@click.option("--hope", type=float, help="The gain hoped for, as a share (default: the plan's gate.hoped_gain).")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def power_command(
    plan: str,
    pilot: Path | None,
    discordance: str | None,
    correlation: float | None,
    swaps: float | None,
    noise_share: float | None,
    hope: float | None,
    as_json: bool,
) -> None:
    """Say what a plan can see on its held-out groups, before anything is spent. Nothing is called.

    The effects are true gains in paired discrimination on omissions that the plan's own rule detects with a power of
    50, 80 and 90%. With neither --pilot nor --discordance they are ranges, over what is plausible. Held-out groups are
    counted, and no held-out text is read: it is not an opening.
    """
    loaded = load_plan(plan)
    found, warnings = _discordance(loaded, pilot, discordance, correlation, swaps, noise_share)
    gate, guardrails = loaded.plan.gate, loaded.plan.guardrails
    power = plan_power(
        PlannedRule(gate.rule, gate.margin, loaded.lock.spend, loaded.plan.replicates),
        split_sizes(loaded.lock, loaded.corpus),
        discordance=found,
        false_alarm_margin=guardrails.false_alarm_margin,
        commission_margin=guardrails.commission_margin,
        false_alarm_cap=guardrails.false_alarm_cap,
        guardrail_alpha=loaded.lock.alpha,
        hope=gate.hoped_gain if hope is None else hope,
        rng=np.random.default_rng(int(loaded.plan.hash[:16], 16)),
    )
    power = replace(power, warnings=(*warnings, *power.warnings))
    if as_json:
        click.echo(json.dumps({"plan": loaded.plan.name, "plan_hash": loaded.plan.hash, **power.row()}, indent=2))
        return
    _show(Console(width=None if sys.stdout.isatty() else 110), loaded, power)


def _discordance(
    loaded: LoadedPlan,
    pilot: Path | None,
    stated: str | None,
    correlation: float | None,
    swaps: float | None,
    noise: float | None,
) -> tuple[Discordance | None, tuple[str, ...]]:
    """How the arms differ, as measured or stated; None where neither is given."""
    if pilot is not None and stated is not None:
        raise InputError("give --pilot or --discordance, not both: one of them would have no effect")
    settings = {"--correlation": correlation, "--swaps": swaps, "--noise-share": noise}
    idle = [name for name, value in settings.items() if value is not None]
    if stated is None and idle:
        raise InputError(f"{', '.join(idle)} has no effect without --discordance WINS,LOSSES; give both or neither")
    if pilot is not None:
        if not (pilot / "ledger.jsonl").is_file():
            raise not_a_run(pilot)
        read = read_pilot(load_run(pilot))
        other = read.student != loaded.plan.row()["student"]
        said = ("The pilot's student is not the plan's: another judge may differ by more or less.",) if other else ()
        return read.discordance, (*said, *(f"{words[0].upper()}{words[1:]}." for words in read.warnings))
    if stated is None:
        return None, ()
    try:
        wins, losses = (float(Fraction(part.strip())) for part in stated.split(","))
    except (ValueError, ZeroDivisionError) as error:
        raise InputError(
            f"--discordance must be two shares such as 8/131,13/131 or 0.061,0.099; got {stated!r}"
        ) from error
    return stated_discordance(
        wins,
        losses,
        correlation=CORRELATION if correlation is None else correlation,
        swaps=swaps,
        noise=noise or 0.0,
    ), ()


def _show(console: Console, loaded: LoadedPlan, power: Power) -> None:
    def say(line: str) -> None:
        console.print(line, highlight=False, soft_wrap=True)

    say(f"[bold]holdgate power {loaded.plan.name}[/bold]  {power.rule.words}")
    say(f"held-out: {power.heldout.words}")
    if len(power.span) > 1:
        say("how two prompts differ is not known, so everything below is a range, from the first to the second:")
    for found in power.span:
        say(f"  {found.words}" if len(power.span) > 1 else f"discordance: {found.words}")
    own = power.own
    seen = ", ".join(
        f"{between([100 * one.effects[p] for one in own], '.1f', unit=' points')} at {p:.0%} power" for p in POWERS
    )
    say(f"[bold]detected on the plan's {own[0].groups} held-out groups[/bold]: {seen}")
    console.print(_table(power))
    _alarms(say, power)
    for margin in power.margins:
        if margin.margin == margin.margin:
            say(
                f"guardrail on {margin.name}: where {margin.differ:.0%} differ between equal arms, a margin of "
                f"{100 * margin.margin:.1f} points is shown 80% of the time; the plan's {100 * margin.planned:.0f} "
                f"points {margin.holds:.0%} of the time"
            )
    for warning in power.warnings:
        say(f"[bold]warning[/bold]: {warning}")
    say("Nothing was called or spent, and no held-out text was read.")


def _table(power: Power) -> Table:
    table = Table(title="effect detected, in points of paired discrimination on omissions", title_justify="left")
    for column in ("groups", "pairs", *(f"{p:.0%} power" for p in POWERS)):
        table.add_column(column, justify="right")
    if power.hope is not None:
        table.add_column(f"{100 * power.hope:.1f} points seen", justify="right")
    table.add_column("reads")
    table.add_column("computed")
    for line in power.table:
        is_own = line[0].groups == power.own[0].groups
        cells = [f"{line[0].groups}{' (plan)' if is_own else ''}", str(line[0].pairs)]
        cells += [between([100 * one.effects[p] for one in line], ".1f") for p in POWERS]
        if power.hope is not None:
            cells.append(between([100 * one.at_hope for one in line], ".0f", unit="%"))
        table.add_row(*cells, line[0].reading, line[0].method, style="bold" if is_own else None)
    return table


def _alarms(say: Callable[[str], None], power: Power) -> None:
    rate = power.heldout.counts.rate
    for name, steps in power.steps.items():
        where = "held-out" if name == "heldout" else name
        if not steps.n:
            say(f"{rate} on {where}: there is no clean document")
            continue
        low, high = 100 * steps.interval.low, 100 * steps.interval.high
        say(
            f"{rate} on {where}: {steps.n} clean documents, steps of {100 * steps.step:.1f} points; the cap of "
            f"{steps.cap:.2f} allows {steps.allowed} of {steps.n}, which may be a true rate of {low:.1f} to {high:.1f}%"
            f" ({100 * steps.interval.level:.4g}% Wilson interval)"
        )
    if power.beyond == power.beyond:
        held = power.steps["heldout"]
        say(
            f"a threshold that just keeps the cap on accept exceeds it on held-out documents {power.beyond:.0%} of the "
            "time"
            + ("" if held.shown is None else f"; only {held.shown} of {held.n} or more show a rate above the cap")
        )
