"""``holdgate simulate``: what the protocol does with judges that are formulas."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from experiments.simulated import SimulationRequest, What, answer
from lineage.canonical import write_atomic
from lineage.errors import InputError
from optimize.simulation import JUDGES, RULES, CampaignShape, PromptEffect, Simulation
from students.budget import EFFORTS

# What would change nothing is refused rather than ignored.
_IDLE: Final = {
    "emission": {},
    "power": {},
    "optimism": {"rules": "no gate is read", "alpha": "no gate is read", "replicates": "held-out is not opened"},
    "coverage": {
        "rules": "intervals are read, not rules",
        "candidates": "nothing is searched",
        "spread": "one prompt is compared",
        "share": "one prompt is compared",
    },
}
_SEVERAL: Final = {
    "emission": (),
    "power": ("effects", "groups"),
    "optimism": ("candidates",),
    "coverage": ("groups",),
}


class _Groups(click.ParamType[tuple[int, ...]]):
    """Groups of the three splits, or of held-out alone."""

    name = "REFLECT,ACCEPT,HELDOUT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Three whole numbers, or one."""
        try:
            sizes = tuple(int(part) for part in str(value).split(","))
        except ValueError:
            sizes = ()
        if len(sizes) not in (1, 3):
            self.fail(f"{value!r} must be three numbers, such as 45,20,47, or one for held-out alone", param, ctx)
        return sizes


@click.command("simulate")
@click.option(
    "--what",
    type=click.Choice(get_args(What)),
    default="emission",
    show_default=True,
    help="emission: how often each rule writes a prompt. power: how often it writes one that is better. optimism: how "
    "far accept flatters its winner. coverage: how often an interval holds the truth.",
)
@click.option(
    "--groups",
    type=_Groups(),
    multiple=True,
    help="Groups of the three splits; one number is held-out alone. By default 45,20,47. Several for power; one number "
    "each, and several, for coverage.",
)
@click.option("--pairs", type=float, default=2.8, show_default=True, help="Mean omissions a group, from 1 to 4.")
@click.option(
    "--candidates", type=int, multiple=True, help="Candidates beside the baseline, by default 20. Several for optimism."
)
@click.option("--campaigns", type=int, default=10_000, show_default=True, help="Campaigns of each cell of the table.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same numbers.")
@click.option(
    "--effect",
    "effects",
    type=float,
    multiple=True,
    help="True gain of a prompt over the baseline in paired discrimination: 0.05 is 5 points. By default 0, the null. "
    "Several for power.",
)
@click.option("--spread", type=float, default=0.0, show_default=True, help="SD of the true gain between prompts.")
@click.option("--share", type=float, default=1.0, show_default=True, help="Share of prompts with any effect.")
@click.option("--effort", type=click.Choice(EFFORTS), default="none", help="Reasoning effort of the student.")
@click.option(
    "--effect-from",
    type=click.Choice(EFFORTS),
    default="none",
    help="Lowest effort at which the effect shows: a prompt that helps only a judge that reasons.",
)
@click.option("--rule", "rules", type=click.Choice(list(RULES)), multiple=True, help="Rules to show, by default all.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Two-sided error rate of the comparison.")
@click.option("--replicates", type=int, default=1, show_default=True, help="Held-out repetitions in both arms.")
@click.option("--judge", type=click.Choice(list(JUDGES)), default="per-fact", show_default=True)
@click.option("--processes", type=int, default=1, show_default=True, help="Their number changes no number.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write JSON there; the name must hold 'simulated'."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
@click.pass_context
def simulate_command(
    context: click.Context,
    what: What,
    groups: tuple[tuple[int, ...], ...],
    pairs: float,
    candidates: tuple[int, ...],
    campaigns: int,
    seed: int,
    effects: tuple[float, ...],
    spread: float,
    share: float,
    effort: str,
    effect_from: str,
    rules: tuple[str, ...],
    alpha: float,
    replicates: int,
    judge: str,
    processes: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run whole campaigns with a judge that is a formula, and count what comes of them.

    A simulated judge has a known ability, so what a campaign claims can be held against the truth. Two judges are set
    to tie and to differ as those of the published OmissionBench campaign do. All output is marked simulated.

    \b
    Would the gate emit a prompt that is no better?      holdgate simulate
    How many held-out groups does a gain of 5 need?      holdgate simulate --what power --effect 0.05 \\
                                                           --groups 20 --groups 47 --groups 100
    How far does accept flatter the best of 20?          holdgate simulate --what optimism
    Which interval may be believed at 10 groups?         holdgate simulate --what coverage --groups 10
    A prompt that helps only a judge that reasons:       holdgate simulate --effect 0.1 --effect-from high --effort low
    """  # noqa: D301 - click reads the escape as: keep these lines
    _check_idle(context, what)
    if out is not None and "simulated" not in out.name:
        raise InputError(
            f"--out {out}: the file's name must hold 'simulated', so that nobody takes it for a measurement; use "
            f"simulated-{what}.json"
        )
    request = _request(
        what,
        groups,
        candidates,
        effects,
        rules,
        judge=judge,
        effect=PromptEffect(effects[0] if effects and what != "power" else 0.0, spread, share, effect_from),
        shape=CampaignShape(pairs=pairs, replicates=replicates, effort=effort),
    )
    with Progress(
        TextColumn("simulated campaigns"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("campaigns")
        run = Simulation(campaigns, seed, processes, alpha, lambda done, of: bar.update(task, completed=done, total=of))
        found = answer(request, run)
    text = json.dumps(found.data, indent=2) + "\n"
    if out is not None:
        write_atomic(out, text)
    if as_json:
        click.echo(text, nl=False)
        return
    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(f"SIMULATED: {found.title}", style="bold", highlight=False)
    console.print(found.table())
    for words in found.words:
        console.print(words, highlight=False)
    if out is not None:
        console.print(f"written: {out}", soft_wrap=True, highlight=False)


def _check_idle(context: click.Context, what: What) -> None:
    """Refuse options that would change nothing, and several values where one is read.

    Raises:
        InputError: naming the option and why.
    """
    flags = {option.name: option.opts[0] for option in context.command.params}
    given = {name for name in flags if name and context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    for name, why in _IDLE[what].items():
        if name in given:
            raise InputError(f"{flags[name]} has no effect on --what {what}, where {why}; leave it out")
    for name in ("groups", "candidates", "effects"):
        if len(context.params[name]) > 1 and name not in _SEVERAL[what]:
            raise InputError(f"--what {what} reads one {flags[name]}, got {len(context.params[name])}; give one")
    effective = bool(given & {"effects", "spread"}) or what == "power"
    for name in ("share", "effect_from"):
        if name in given and not effective:
            raise InputError(f"{flags[name]} has no effect without --effect or --spread")
    if "effort" in given and "effect_from" not in given:
        raise InputError("--effort has no effect without --effect-from: the simulated judge is as able at every effort")


def _request(
    what: What,
    groups: tuple[tuple[int, ...], ...],
    candidates: tuple[int, ...],
    effects: tuple[float, ...],
    rules: tuple[str, ...],
    *,
    judge: str,
    effect: PromptEffect,
    shape: CampaignShape,
) -> SimulationRequest:
    """The request that the options make.

    Raises:
        InputError: groups of a split are given where they have no effect, or differ.
    """
    if what == "optimism" and any(len(sizes) == 1 for sizes in groups):
        raise InputError("--what optimism opens no held-out data; give all three numbers, such as --groups 45,20,47")
    splits = {sizes[:2] for sizes in groups if len(sizes) == 3}
    if what == "coverage" and splits:
        raise InputError("--what coverage compares on held-out alone; give one number, such as --groups 47")
    if len(splits) > 1:
        raise InputError("--groups must agree in reflect and accept, and may differ in held-out alone")
    for reflect, accept in splits:
        shape = replace(shape, reflect=reflect, accept=accept)
    heldout = tuple(sizes[-1] for sizes in groups)
    if heldout:
        shape = replace(shape, heldout=heldout[0])
    if candidates:
        shape = replace(shape, candidates=candidates[0])
    request = SimulationRequest(what, judge, shape, effect)
    if what == "power":
        request = replace(request, heldout=heldout or (shape.heldout,))
    elif heldout:
        request = replace(request, heldout=heldout)
    if effects:
        request = replace(request, effects=effects)
    if candidates:
        request = replace(request, candidates=candidates)
    if "beyond-noise" in rules and shape.replicates == 1:
        raise InputError("--rule beyond-noise needs --replicates of at least 3: one replicate has no noise floor")
    shown = rules or tuple(name for name in RULES if name != "beyond-noise" or shape.replicates > 1)
    return replace(request, rules=shown)
