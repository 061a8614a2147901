"""What a call costs: wall time, CPU and memory of judgements through this framework, beside its peers and the ideal.

Every measurement runs in a process of its own against a stub endpoint in another. The ideal is latency times the number
of rounds, ``ceil(calls / concurrency)``: no client can be faster. CPU is that of the measuring process, all threads.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from experiments.benchmarks.peers import CONTENDERS, evaluating, judge, notes, quiet
from experiments.benchmarks.stub import Stub

SETTINGS: Final = ((400, 16), (1_600, 64))
"""Calls and concurrency of the comparison."""
WANTED: Final = {16: 1.12, 64: 1.30}
"""Most wall time that is wanted of ours, as a multiple of the ideal."""
CPU_WANTED_MS: Final = 1.5
REPLAY_WANTED: Final = 5_000


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement: scores got, wall and CPU seconds, and the most memory that the process held, in MiB."""

    scores: int
    wall_s: float
    cpu_s: float
    peak_mib: float


def measured(timed: Callable[[], int]) -> Measured:
    """Run once, with its clocks around it and nothing else."""
    wall, cpu = time.perf_counter(), time.process_time()
    scores = timed()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Measured(scores, wall, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def compared(name: str, *, url: str, calls: int, concurrency: int) -> Measured:
    """One contender at one setting."""
    quiet()
    with CONTENDERS[name][1](url, calls, concurrency) as timed:
        return measured(timed)


def replayed(*, url: str, calls: int, concurrency: int) -> Measured:
    """Judgements whose calls are all in the cache, recorded in a new ledger."""
    corpus = notes(calls // 10)
    with tempfile.TemporaryDirectory() as place:
        with evaluating(url, Path(place), concurrency=concurrency) as evaluator:
            judge(evaluator, corpus, replicates=10)
        (Path(place) / "run").rename(Path(place) / "earlier")
        with evaluating(url, Path(place), concurrency=concurrency) as evaluator:
            return measured(lambda: judge(evaluator, corpus, replicates=10))


def growing(*, url: str, calls: int, concurrency: int, at_once: int) -> Measured:
    """Judgements of one corpus of notes in evaluations of ``at_once``, for the memory that they take."""
    corpus = notes(100)
    rounds, replicates = max(1, calls // at_once), at_once // 100

    def every() -> int:
        return sum(judge(evaluator, corpus, replicates=replicates, first=n * replicates) for n in range(rounds))

    with tempfile.TemporaryDirectory() as place, evaluating(url, Path(place), concurrency=concurrency) as evaluator:
        return measured(every)


MEASUREMENTS: Final[dict[str, Callable[..., Measured]]] = {"compare": compared, "replay": replayed, "memory": growing}


def in_own_process(measurement: str, **options: Any) -> Measured | str:
    """A measurement in a process of its own; the end of what it said where it did not succeed."""
    command = [sys.executable, __file__, "--measure", json.dumps({"measurement": measurement, **options})]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no output"])[-1][:120]
    return Measured(**json.loads(done.stdout.strip().splitlines()[-1]))


def compare(console: Console, names: Sequence[str], *, latency_s: float, share: float, repeats: int) -> None:
    """The table of all contenders at both settings, ratios to the ideal."""
    for most, concurrency in SETTINGS:
        calls = max(concurrency, round(most * share / concurrency) * concurrency)
        ideal = latency_s * math.ceil(calls / concurrency)
        title = f"{calls:,} judgements, {concurrency} at once, {latency_s * 1000:g} ms each: ideal {ideal:.2f} s"
        table = Table("", "wall / ideal", "CPU ms / call", "judgements / s", "calls", "load", title=title)
        for name in names:
            if importlib.util.find_spec(CONTENDERS[name][0]) is None:
                table.add_row(name, f"skipped: {CONTENDERS[name][0]} is not installed")
                continue
            for _ in range(repeats):
                with Stub(latency_s) as stub:
                    options = {"url": stub.url, "calls": calls, "concurrency": concurrency}
                    found = in_own_process("compare", name=name, **options)
                    figures = stub.figures()
                if isinstance(found, str):
                    table.add_row(name, f"failed: {found}")
                    break
                table.add_row(
                    name,
                    f"{found.wall_s / ideal:.2f}",
                    f"{found.cpu_s * 1000 / calls:.2f}",
                    f"{found.scores / found.wall_s:,.0f}",
                    f"{figures.answered:,}",
                    f"{os.getloadavg()[0]:.1f}",
                )
                if name == "holdgate":
                    said = f"wanted: at most {WANTED[concurrency]} and {CPU_WANTED_MS} ms; "
                    table.caption = f"{said}the stub used {figures.cpu_s * 1000 / calls:.2f} ms of CPU a call"
        console.print(table)


def replay(console: Console, *, share: float) -> None:
    """Cached judgements a second."""
    calls = round(10_000 * share)
    with Stub(0.0) as stub:
        found = in_own_process("replay", url=stub.url, calls=calls, concurrency=64)
    if isinstance(found, str):
        console.print(f"replay: failed: {found}")
        return
    console.print(
        f"replay of {calls:,} cached judgements: {found.scores / found.wall_s:,.0f} a second, "
        f"{found.cpu_s * 1000 / calls:.3f} ms of CPU each (wanted: above {REPLAY_WANTED:,} a second)"
    )


def memory(console: Console, *, share: float) -> None:
    """Most memory held by number of judgements, in evaluations of a campaign's size and in a single one."""
    counts = [max(200, 200 * round(count * share / 200)) for count in (2_000, 20_000)]
    for name, sizes in (("evaluations of 200", [200, 200]), ("one evaluation", counts)):
        peaks = []
        for calls, at_once in zip(counts, sizes, strict=True):
            with Stub(0.0) as stub:
                found = in_own_process("memory", url=stub.url, calls=calls, concurrency=64, at_once=at_once)
            if isinstance(found, str):
                console.print(f"memory: failed: {found}")
                return
            peaks.append(found.peak_mib)
        slope = (peaks[1] - peaks[0]) * 1024 / (counts[1] - counts[0])
        console.print(
            f"memory in {name}: {peaks[0]:.1f} MiB at {counts[0]:,} judgements, {peaks[1]:.1f} MiB at {counts[1]:,}: "
            f"{slope:.2f} KiB a judgement"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=list(CONTENDERS), help="a contender; may be repeated")
    parser.add_argument("--latency", type=float, default=0.2, metavar="S", help="seconds before each answer")
    parser.add_argument("--share", type=float, default=1.0, help="share of the full sizes, for a quick look")
    parser.add_argument("--repeats", type=int, default=1, help="rows a contender")
    parser.add_argument("--part", action="append", choices=["compare", "replay", "memory"], help="default: all")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.measure is not None:
        options = json.loads(asked.measure)
        found = MEASUREMENTS[options.pop("measurement")](**options)
        sys.stdout.write(json.dumps(asdict(found)) + "\n")
        return
    console = Console()
    parts = asked.part or ["compare", "replay", "memory"]
    if "compare" in parts:
        names = asked.only or list(CONTENDERS)
        compare(console, names, latency_s=asked.latency, share=asked.share, repeats=asked.repeats)
    if "replay" in parts:
        replay(console, share=asked.share)
    if "memory" in parts:
        memory(console, share=asked.share)


if __name__ == "__main__":
    main()
