"""Reading the crossed cells: each comparison by group, on the pairs scored in all of its cells; Holm over all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lineage.canonical import digest
from optimize.choice import number
from optimize.crossing.targets import Cell, Target
from optimize.evaluation import Evaluation
from optimize.gate.unscored import Bounds, lowest_end
from optimize.measured import comparison_row
from optimize.objectives import Comparison, coverage
from optimize.objectives.pairs import credits_of
from optimize.stats import holm
from optimize.stats.comparison import compare_replicated


@dataclass(frozen=True, slots=True)
class Family:
    """The error rate that the comparisons of an experiment share.

    Attributes:
        size: comparisons that the plan registers, those that turn out void among them.
        alpha: two-sided error rate of one, as the split lock gives it.
        coverage: least share of planned pairs that are scored in every cell of a comparison.
    """

    size: int
    alpha: float
    coverage: float

    @property
    def shared(self) -> float:
        """Two-sided error rate of all of them together."""
        return self.size * self.alpha

    @property
    def level(self) -> float:
        """Level of the simultaneous intervals: 1 less the family's error rate over its size."""
        return 1 - self.alpha


@dataclass(frozen=True, slots=True)
class TargetReading:
    """One comparison as read.

    Attributes:
        target: which.
        comparison: of the sums of credits; the difference of an interaction is a difference of differences.
        worst: the same with every failed judgement counted against the claim; None where none failed.
        lowest: lowest low end of the interval over everything that failed judgements may have been; NaN without one.
        share: share of planned pairs, times replicates, scored in every cell.
        p: one-sided sign-flip p; 1 where it is not defined.
    """

    target: Target
    comparison: Comparison
    worst: Comparison | None
    lowest: float
    share: float
    p: float


def read_target(
    target: Target, cells: Mapping[Cell, Evaluation], family: Family, *, rng: np.random.Generator
) -> TargetReading:
    """Compare the sums of credits of a target's cells, pair by pair.

    Args:
        target: which.
        cells: evaluations of the same examples and replicates by cell.
        family: of all comparisons.
        rng: source of all randomness.
    """
    plus, minus = ([credits_of(cells[cell].pairs("omission")) for cell in side] for side in (target.plus, target.minus))
    first = cells[target.plus[0]]
    planned = first.planned_pairs("omission")
    units = [(example, replicate) for example in planned for replicate in first.replicates]
    scored = [unit for unit in units if all(unit in side for side in (*plus, *minus))]

    def compared(wanted: Sequence[tuple[str, int]]) -> Comparison:
        """Failed judgements against the claim, where there are any among the wanted."""
        return compare_replicated(
            {unit: sum(side.get(unit, 0.0) for side in plus) for unit in wanted},
            {unit: sum(side.get(unit, 1.0) for side in minus) for unit in wanted},
            planned,
            level=family.level,
            rng=rng,
        )

    failed = len(units) - len(scored)
    comparison = replace(compared(scored), n_failed=failed)
    share = coverage(len(scored), len(units)) if units else math.nan
    worst, lowest = None, math.nan
    if failed:
        worst = replace(compared(units), n_failed=failed, worst_case=True)
        lowest, _ = lowest_end(_bounds(planned, first.replicates, plus, minus), level=family.level)
    p = comparison.sign_flip.p
    return TargetReading(target, comparison, worst, lowest, share, 1.0 if math.isnan(p) else p)


def read_experiment(
    targets: Sequence[Target],
    cells: Mapping[Cell, Evaluation],
    winners: Mapping[str, str],
    family: Family,
    *,
    seed: str,
) -> list[dict[str, Any]]:
    """All comparisons as the ledger holds them, in order; the whole family is corrected for, void ones counted as 1.

    Args:
        targets: the plan's comparisons.
        cells: evaluations by cell; may be empty where every comparison is void.
        winners: candidate id by prompt, the seed among them.
        family: of all comparisons.
        seed: what the randomness of each derives from.
    """
    readings = [
        None
        if target.void(winners)
        else read_target(target, cells, family, rng=np.random.default_rng(int(digest([seed, target.name])[:16], 16)))
        for target in targets
    ]
    adjusted = holm([1.0 if reading is None else reading.p for reading in readings])
    against = holm([1.0 if reading is None else _worst_p(reading) for reading in readings])
    return [
        _row(target, reading, family, p, worst)
        for target, reading, p, worst in zip(targets, readings, adjusted, against, strict=True)
    ]


def _worst_p(reading: TargetReading) -> float:
    """P with failed judgements against the claim: no sum of signs falls when a difference rises, so it is the worst."""
    p = reading.p if reading.worst is None else reading.worst.sign_flip.p
    return 1.0 if math.isnan(p) else p


def _row(target: Target, reading: TargetReading | None, family: Family, p: float, worst: float) -> dict[str, Any]:
    row: dict[str, Any] = {
        "kind": target.kind,
        "name": target.name,
        "claim": target.claim,
        "plus": [str(cell) for cell in target.plus],
        "minus": [str(cell) for cell in target.minus],
    }
    if reading is None:
        return {**row, "decision": "void", "comparison": None, "adjusted_p": None, "coverage": None, "worst": None}
    if reading.share < family.coverage:
        decision = "undecided"
    else:
        decision = "shown" if max(p, worst) < family.shared / 2 else "not-shown"
    return {
        **row,
        "decision": decision,
        "comparison": comparison_row(reading.comparison),
        "adjusted_p": number(p),
        "coverage": number(reading.share),
        "worst": None
        if reading.worst is None
        else {**comparison_row(reading.worst), "lowest_end": number(reading.lowest), "adjusted_p": number(worst)},
    }


def _bounds(
    planned: Mapping[str, str],
    replicates: Sequence[int],
    plus: Sequence[Mapping[tuple[str, int], float]],
    minus: Sequence[Mapping[tuple[str, int], float]],
) -> Bounds:
    """The least and the most that each pair's difference may be, a credit that failed being anything from 0 to 1."""

    def mean(example: str, against: float, for_it: float) -> float:
        units = [(example, replicate) for replicate in replicates]
        total = sum(
            sum(side.get(unit, against) for side in plus) - sum(side.get(unit, for_it) for side in minus)
            for unit in units
        )
        return total / len(units)

    least = tuple(mean(example, 0.0, 1.0) for example in planned)
    most = tuple(mean(example, 1.0, 0.0) for example in planned)
    return Bounds(least, most, tuple(planned.values()))
