"""Entry of the command line: one group, one module a family of commands, errors in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Final

import click

from experiments.cli.bundling import bundle_command, replay_command
from experiments.cli.cache import cache_group
from experiments.cli.calibrate import calibrate_command
from experiments.cli.campaigns import plan_command, run_command
from experiments.cli.corpora import corpus_group
from experiments.cli.doctor import doctor_command
from experiments.cli.experiment import experiment_group
from experiments.cli.family import family_command
from experiments.cli.grounding import grounding_group
from experiments.cli.imports import import_command
from experiments.cli.judging import compare_command, judge_command
from experiments.cli.lineage import lineage_group
from experiments.cli.measures import measures_command
from experiments.cli.models import model_group
from experiments.cli.noise import noise_command
from experiments.cli.pins import models_group
from experiments.cli.power import power_command
from experiments.cli.reproduce import reproduce_group
from experiments.cli.review import review_group
from experiments.cli.runs import audit_command, report_command
from experiments.cli.simulate import simulate_command
from experiments.cli.splitting import split_group
from experiments.cli.steps import steps_group
from experiments.cli.sweep import sweep_command
from experiments.cli.watch import ui_command, watch_command
from lineage import __version__
from lineage.errors import BudgetError, HoldgateError

SECTIONS: Final[Mapping[str, tuple[click.Command, ...]]] = {
    "Campaigns": (plan_command, doctor_command, run_command, watch_command, sweep_command, experiment_group),
    "Results": (report_command, lineage_group, measures_command, ui_command, review_group),
    "Audit": (audit_command, bundle_command, replay_command, import_command),
    "Corpora and splits": (corpus_group, split_group),
    "Judges": (judge_command, compare_command, calibrate_command, noise_command, grounding_group, steps_group),
    "Statistics": (power_command, family_command, simulate_command, reproduce_group),
    "Models and calls": (model_group, models_group, cache_group),
}
"""The commands, by what they are for."""


class _Sections(click.Group):
    """A group whose help lists its commands by section, in the order in which one comes to need them."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections, with the first sentence of each command."""
        del ctx
        width = max(len(name) for name in self.commands)
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{one.name:<{width}}", one.get_short_help_str(200)) for one in commands])


@click.group(cls=_Sections, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="holdgate")
def cli() -> None:
    """Evolve the prompts of LLM judges, and believe the result only when held-out data says so.

    \b
    A first look:
      holdgate plan quickstart      what the campaign would do, and how many calls it needs
      holdgate doctor quickstart    whether everything it needs is there, and what it may cost
      holdgate run quickstart       run it, or resume it: committed splits, baseline, search, gate, report
      holdgate lineage runs/quickstart
      holdgate audit runs/quickstart

    A plan is a YAML file or the name of a bundled one: quickstart, standard, whole-note, simulated.
    """  # noqa: D301 - click reads the escape as: keep these lines


for section in SECTIONS.values():
    for command in section:
        cli.add_command(command)


def main() -> None:
    """Run the command line; exit 2 on bad input, 3 on a limit of the plan, 1 on what else went wrong."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        cli(standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("interrupted; everything paid for is kept: give the same command to go on", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BudgetError as error:
        click.echo(f"stopped at a limit: {error}", err=True)
        sys.exit(3)
    except HoldgateError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
