"""What a large run costs to audit, to read as a frame and to report: 10,000 candidates and a million judgements.

    python experiments/benchmarks/scale.py --generate DIRECTORY [--candidates 10000] [--seed 1]
    python experiments/benchmarks/scale.py --run DIRECTORY [--only audit,frame,report]
    python experiments/benchmarks/scale.py [--candidates 1000] [--json]

The first writes the run directory of a finished campaign, which an audit takes for genuine: about a hundred judgements
a candidate, so that 10,000 candidates take two minutes and 1.3 GB. ``holdgate audit``, ``lineage`` and ``report`` open
it like any other. The second measures commands on a run directory that is there, each in a process of its own, by wall
and CPU seconds and peak memory. The third does both in a temporary directory. The scores are drawn: nothing is about a
judge.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from experiments.benchmarks.large_run import write_large_run

CANDIDATES: Final = 10_000
COMMANDS: Final = {
    "audit": ("audit", "{run}", "--json"),
    "frame": ("lineage", "frame", "{run}", "--out", "{out}/frame.parquet"),
    "report": ("report", "{run}"),
}
"""What is measured, as the command line takes it."""
WANTED_S: Final = {"audit": 60.0, "frame": 10.0, "report": 30.0}
"""Most seconds that are wanted on a run of 10,000 candidates and a million judgements."""
WANTED_MIB: Final = 2_048


@dataclass(frozen=True, slots=True)
class Cost:
    """One command on one run, in a process of its own; ``peak_mib`` is the most memory that it held."""

    command: str
    status: int
    wall_s: float
    cpu_s: float
    peak_mib: float
    said: str


def measure(name: str, run: Path, out: Path) -> Cost:
    """Run a command in a process of its own."""
    arguments = [part.format(run=run, out=out) for part in COMMANDS[name]]
    asked = json.dumps(["holdgate", *arguments])
    command = [sys.executable, __file__, "--measure", asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stderr.strip().endswith("}"):
        raise RuntimeError((done.stderr.strip().splitlines() or ["no output"])[-1])
    found = json.loads(done.stderr.strip().splitlines()[-1])
    return Cost(name, said=done.stdout.strip()[-2_000:], **found)


def measured(arguments: Sequence[str]) -> None:
    """Be the process of a command, and say last what it took."""
    start = time.perf_counter()
    from experiments.cli import main as command_line

    sys.argv = list(arguments)
    status = 0
    try:
        command_line()
    except SystemExit as ended:
        status = int(ended.code or 0)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cost = {
        "status": status,
        "wall_s": time.perf_counter() - start,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_mib": usage.ru_maxrss / 1024,
    }
    sys.stderr.write("\n" + json.dumps(cost) + "\n")


def shown(costs: Sequence[Cost], title: str) -> Table:
    """A table of the costs."""
    table = Table("", "wall s", "wanted", "CPU s", "peak MiB", "status", title=title)
    for cost in costs:
        row = (f"{cost.wall_s:.1f}", f"{WANTED_S[cost.command]:g}", f"{cost.cpu_s:.1f}", f"{cost.peak_mib:,.0f}")
        table.add_row(cost.command, *row, f"{cost.status}")
    table.caption = (
        f"wanted at {CANDIDATES:,} candidates; memory of the audit under {WANTED_MIB:,} MiB; "
        f"load {os.getloadavg()[0]:.1f}"
    )
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Generate, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generate", type=Path, metavar="DIRECTORY", help="write a run directory there, and stop")
    parser.add_argument("--run", type=Path, metavar="DIRECTORY", help="a run directory that is there")
    parser.add_argument("--candidates", type=int, default=CANDIDATES, help="how many are generated (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of all draws")
    parser.add_argument("--only", default=",".join(COMMANDS), help="what is measured (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print the costs as JSON")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.measure is not None:
        measured(json.loads(asked.measure))
        return
    if asked.generate is not None:
        made = write_large_run(asked.generate, candidates=asked.candidates, seed=asked.seed)
        sys.stdout.write(f"{made.directory}: {made.candidates:,} candidates, {made.judgements:,} judgements\n")
        return
    if unknown := [name for name in asked.only.split(",") if name not in COMMANDS]:
        parser.error(f"--only names {', '.join(unknown)}; there are {', '.join(COMMANDS)}")
    with tempfile.TemporaryDirectory() as place:
        run, title = asked.run, str(asked.run)
        if run is None:
            made = write_large_run(Path(place) / "run", candidates=asked.candidates, seed=asked.seed)
            run, title = made.directory, f"{made.candidates:,} candidates, {made.judgements:,} judgements"
        costs = [measure(name, run, Path(place)) for name in asked.only.split(",")]
    if asked.json:
        sys.stdout.write(json.dumps([asdict(cost) for cost in costs], indent=2) + "\n")
    else:
        Console().print(shown(costs, f"{title} (drawn scores)"))


if __name__ == "__main__":
    main()
