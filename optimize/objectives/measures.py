"""The result of one measure: a value with its grouped interval, what was counted, and words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError
from optimize.objectives.scored import Codes
from optimize.stats.classical import wilson
from optimize.stats.group_statistics import ratio_statistic
from optimize.stats.groups import Floats, group_codes
from optimize.stats.influence import GroupInfluence, ratio_influence
from optimize.stats.resampling import BootstrapIntervals, GroupStatistic, bootstrap_intervals
from optimize.stats.results import Interval

Direction = Literal["higher is better", "lower is better"]


@dataclass(frozen=True, slots=True, eq=False)
class Resampling:
    """A measure as a function of how often each group counts, built where it is asked for.

    Attributes:
        names: shape (n_groups,), the groups that are drawn, sorted.
        statistic: builds the function.
    """

    names: npt.NDArray[Any]
    statistic: Callable[[], GroupStatistic]


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """One measure of one candidate on some examples.

    Its interval is of the draw of groups. It does not know how the candidate was chosen, so the measure of the best of
    many candidates, on the examples that they were chosen on, is optimistic.

    Attributes:
        name: such as ``AUC``.
        method: how it was computed, in words.
        value: in the unit of the measure; NaN where undefined.
        interval: linearised, by group; not clipped to the scale.
        counted: what was counted, by name, such as wins, ties and losses.
        n: observations behind the value, such as pairs.
        unit: what ``n`` counts.
        n_groups: groups behind it.
        n_failed: observations that were planned and have no score, left out.
        direction: which way is better.
        successes: documents counted in the numerator, where the value is a share of documents; else None.
        note: what else has to be known to read the value; empty if nothing.
        reason: why the value is undefined; empty where it is defined.
        influence: of each group on the value, for differences; groups are named by their position in those of the
            scored examples.
        resampling: how the measure is resampled, for `bootstrap`; None where it is undefined.
    """

    name: str
    method: str
    value: float
    interval: Interval
    counted: tuple[tuple[str, int], ...]
    n: int
    unit: str
    n_groups: int
    n_failed: int
    direction: Direction
    successes: int | None = None
    note: str = ""
    reason: str = ""
    influence: GroupInfluence = field(default=GroupInfluence.undefined("not computed"), repr=False)
    resampling: Resampling | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        assert math.isnan(self.value) == bool(self.reason), "NaN and a reason go together"

    @property
    def wilson(self) -> Interval | None:
        """Wilson interval of a share of documents, which takes them as independent; None for any other measure."""
        return None if self.successes is None else wilson(self.successes, self.n, level=self.interval.level)

    def bootstrap(
        self, *, resamples: int = 10_000, rng: np.random.Generator, level: float = 0.95
    ) -> BootstrapIntervals:
        """Percentile and BCa interval beside the linearised one.

        Raises:
            InputError: the measure is undefined, or an option is outside its range.
        """
        if self.resampling is None:
            raise InputError(f"{self.name} is undefined, because {self.reason}; there is nothing to resample")
        return bootstrap_intervals(
            self.resampling.statistic(), len(self.resampling.names), level=level, resamples=resamples, rng=rng
        )

    def __str__(self) -> str:
        failed = f"{self.n_failed} failed"
        if self.reason:
            return f"{self.name} undefined: {self.reason}; {failed}"
        counts = ", ".join(f"{count} {name}" for name, count in self.counted)
        by_wilson = ""
        if (independent := self.wilson) is not None and independent.defined:
            by_wilson = f", {independent.low:.3f} to {independent.high:.3f} by Wilson"
        note = f"; {self.note}" if self.note else ""
        return (
            f"{self.name} {self.value:.4f}, interval {self.interval}{by_wilson}: {counts}{' over ' if counts else ''}"
            f"{self.n} {self.unit} in {self.n_groups} groups; {failed}{note}"
        )


def ratio_measure(
    name: str,
    method: str,
    numerators: Floats,
    groups: Codes,
    *,
    level: float,
    unit: str,
    n_failed: int,
    reason: str,
    denominators: Floats | None = None,
    counted: tuple[tuple[str, int], ...] = (),
    direction: Direction = "higher is better",
    successes: int | None = None,
    note: str = "",
    resampling: Resampling | None = None,
) -> Measure:
    """A measure that is a ratio of two sums over observations; arguments as in `Measure` and `ratio_influence`.

    ``resampling`` replaces that of the ratio, where the numerators depend on the sample.
    """
    weights = np.ones(len(numerators)) if denominators is None else denominators
    influence = ratio_influence(numerators, groups, denominators=weights)
    if reason:
        influence = GroupInfluence.undefined(reason, n=len(numerators))
    elif resampling is None:
        resampling = Resampling(influence.names, lambda: _ratio_of_groups(numerators, weights, groups))
    return influence_measure(
        name,
        method,
        influence,
        level=level,
        counted=counted,
        n=len(numerators),
        unit=unit,
        n_failed=n_failed,
        direction=direction,
        successes=successes,
        note=note,
        resampling=resampling,
    )


def influence_measure(
    name: str,
    method: str,
    influence: GroupInfluence,
    *,
    level: float,
    counted: tuple[tuple[str, int], ...],
    n: int,
    unit: str,
    n_failed: int,
    direction: Direction = "higher is better",
    successes: int | None = None,
    note: str = "",
    resampling: Resampling | None = None,
) -> Measure:
    """A measure from its linearised form; arguments as in `Measure`."""
    return Measure(
        name=name,
        method=method,
        value=influence.value,
        interval=influence.interval(level=level),
        counted=counted,
        n=n,
        unit=unit,
        n_groups=influence.n_groups,
        n_failed=n_failed,
        direction=direction,
        successes=successes,
        note=note,
        reason=influence.reason,
        influence=influence,
        resampling=None if influence.reason else resampling,
    )


def _ratio_of_groups(numerators: Floats, denominators: Floats, groups: Codes) -> GroupStatistic:
    coded = group_codes(groups)
    return ratio_statistic(coded.totals(numerators), coded.totals(denominators))
