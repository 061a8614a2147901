"""What the statistics cost: the grouped bootstrap beside scipy's, and the whole measure table of a candidate.

The bootstrap is of a difference between two arms on pairs that come in groups of unequal size. With
``scipy.stats.bootstrap`` one resamples the groups, and the statistic gathers their pairs. A second row resamples group
totals with a vectorised statistic, which is the least that scipy can be asked to do. All rows are measured in one run,
and their intervals must agree within Monte-Carlo error.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table
from scipy import stats

from optimize.objectives import ScoredExamples, measure_table
from optimize.stats import bootstrap_both, linearised_interval

GROUPS: Final = 112
PAIRS: Final = 495
RESAMPLES: Final = 10_000
RATIO_WANTED: Final = 20.0
"""Least time that scipy's bootstrap over gathered pairs is wanted to take, as a multiple of ours."""
EXAMPLES: Final = 10_000
TABLE_WANTED_S: Final = 0.2

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Differences of two arms on pairs, with the code of each pair's group."""

    differences: Floats
    groups: npt.NDArray[np.intp]

    @property
    def by_group(self) -> list[Floats]:
        """The differences of each group."""
        return [self.differences[self.groups == group] for group in range(GROUPS)]


def pairs(rng: np.random.Generator) -> Pairs:
    """Invented credits of two arms, every group with at least one pair."""
    groups = np.sort(np.concatenate([np.arange(GROUPS), rng.integers(0, GROUPS, size=PAIRS - GROUPS)]))
    ours, theirs = (rng.choice([0.0, 0.5, 1.0], p=odds, size=PAIRS) for odds in ([0.2, 0.2, 0.6], [0.25, 0.25, 0.5]))
    return Pairs(ours - theirs, groups)


def scipy_gathering(data: Pairs, method: str, rng: np.random.Generator) -> tuple[float, float]:
    """Groups are resampled, and the statistic gathers their pairs."""
    parts = data.by_group

    def mean(drawn: npt.NDArray[np.intp]) -> float:
        return float(np.concatenate([parts[group] for group in drawn]).mean())

    found = stats.bootstrap(
        (np.arange(GROUPS),), mean, vectorized=False, n_resamples=RESAMPLES, method=method, rng=rng
    ).confidence_interval
    return float(found.low), float(found.high)


def scipy_totals(data: Pairs, method: str, rng: np.random.Generator) -> tuple[float, float]:
    """Group totals are resampled, and the statistic is the ratio of their sums."""
    sums = np.bincount(data.groups, weights=data.differences)
    sizes = np.bincount(data.groups).astype(np.float64)

    def ratio(top: Floats, bottom: Floats, axis: int = -1) -> Floats:
        return np.asarray(top.sum(axis=axis) / bottom.sum(axis=axis))

    found = stats.bootstrap(
        (sums, sizes), ratio, paired=True, vectorized=True, n_resamples=RESAMPLES, method=method, rng=rng
    ).confidence_interval
    return float(found.low), float(found.high)


def ours(data: Pairs, method: str, rng: np.random.Generator) -> tuple[float, float]:
    """This framework, which computes the percentile and the BCa interval in one go."""
    both = bootstrap_both(data.differences, data.groups, resamples=RESAMPLES, rng=rng)
    found = both.bca if method == "BCa" else both.percentile
    return found.low, found.high


CONTENDERS: Final[dict[str, Callable[[Pairs, str, np.random.Generator], tuple[float, float]]]] = {
    "holdgate": ours,
    "scipy, pairs gathered": scipy_gathering,
    "scipy, group totals": scipy_totals,
}


def best_of(repeats: int, run: Callable[[], object]) -> float:
    """Least wall time of some runs, in seconds, after one that is not timed."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def bootstraps(console: Console, *, repeats: int) -> None:
    """Time and interval of every contender, by method, and the ratio to ours."""
    data = pairs(np.random.default_rng(1))
    linearised = linearised_interval(data.differences, data.groups)
    # The standard error of a 2.5% quantile of a normal sample is 2.67 SD over the root of its size.
    noise = 5 * 2.67 * (linearised.high - linearised.low) / 4 / np.sqrt(RESAMPLES)
    for method in ("percentile", "BCa"):
        title = f"{method}, {RESAMPLES:,} resamples of {GROUPS} groups with {PAIRS} pairs, best of {repeats}"
        table = Table("", "ms", "/ holdgate", "interval", "load", title=title)
        ends: list[tuple[float, float]] = []
        times: list[float] = []
        for name, interval in CONTENDERS.items():
            ends.append(interval(data, method, np.random.default_rng(2)))
            times.append(best_of(repeats, partial(interval, data, method, np.random.default_rng(2))))
            table.add_row(
                name,
                f"{times[-1] * 1000:.1f}",
                f"{times[-1] / times[0]:.1f}",
                f"{ends[-1][0]:+.4f} to {ends[-1][1]:+.4f}",
                f"{os.getloadavg()[0]:.1f}",
            )
        apart = max(abs(np.subtract(other, ends[0])).max() for other in ends[1:])
        table.caption = (
            f"wanted: pairs gathered at least {RATIO_WANTED:g} times ours; ends are at most {apart:.4f} apart "
            f"(Monte-Carlo error allows {noise:.4f}: {'the same interval' if apart <= noise else 'NOT THE SAME'}); "
            f"linearised {linearised.low:+.4f} to {linearised.high:+.4f}"
        )
        console.print(table)


def scored(rng: np.random.Generator, *, replicates: int) -> ScoredExamples:
    """Invented documents: groups of one clean, two omissions and one commission, with every attribute."""
    rows = [(group, place) for group in range(EXAMPLES // 4) for place in range(4)]
    base = np.array([0.7 if place == 0 else 0.6 for _, place in rows])
    noise = rng.normal(0.0, 0.15, size=(len(rows), replicates))

    def drawn(names: Sequence[str], places: Sequence[int]) -> list[str | None]:
        found = rng.integers(0, len(names), size=len(rows))
        return [names[code] if place in places else None for code, (_, place) in zip(found, rows, strict=True)]

    return ScoredExamples.of_columns(
        ids=[f"{group:05}-{place}" for group, place in rows],
        groups=[f"{group:05}" for group, _ in rows],
        labels=[("clean", "omission", "omission", "commission")[place] for _, place in rows],
        scores=np.round(np.clip(base[:, None] + noise, 0.0, 1.0), 3),
        twins=[f"{group:05}-0" if place else None for group, place in rows],
        attributes={
            "kind": [("clean", "omit", "omit", ("add", "change")[group % 2])[place] for group, place in rows],
            "trace": drawn(("complete", "partial-weak", "partial-strong"), (1, 2)),
            "severity": drawn(("critical", "supporting", "peripheral"), (1, 2, 3)),
            "stratum": [f"stratum {group % 5}" for group, _ in rows],
            "cohort": [f"cohort {group % 3}" for group, _ in rows],
        },
    )


def tables(console: Console, *, repeats: int) -> None:
    """Time of the whole measure table, with one replicate and with three."""
    for replicates in (1, 3):
        examples = scored(np.random.default_rng(3), replicates=replicates)
        seconds = best_of(repeats, partial(measure_table, examples))
        rows = len(measure_table(examples).entries)
        wanted = f"wanted: under {TABLE_WANTED_S:g} s; " if replicates == 1 else ""
        console.print(
            f"measure table of {EXAMPLES:,} examples in {replicates} replicate{'s' if replicates > 1 else ''}: "
            f"{seconds:.3f} s for {rows} rows ({wanted}best of {repeats}, load {os.getloadavg()[0]:.1f})"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="timed runs of each; the least time counts")
    parser.add_argument("--part", action="append", choices=["bootstrap", "table"], help="default: both")
    asked = parser.parse_args(arguments)
    console = Console()
    parts = asked.part or ["bootstrap", "table"]
    if "bootstrap" in parts:
        bootstraps(console, repeats=asked.repeats)
    if "table" in parts:
        tables(console, repeats=asked.repeats)


if __name__ == "__main__":
    main()
