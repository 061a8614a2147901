"""How coarse false alarms are on so many clean documents, and which guardrail margins such sizes can show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from lineage.errors import InputError
from optimize.choice import number
from optimize.power.planned import above_t
from optimize.stats import Interval, wilson
from optimize.stats.results import check_count


@dataclass(frozen=True, slots=True)
class AlarmSteps:
    """The steps in which a false-alarm rate can move on ``n`` clean documents, and what the cap allows of them.

    Attributes:
        n: clean documents.
        cap: highest rate allowed, in [0, 1].
        allowed: most flagged documents within the cap.
        interval: Wilson interval of ``allowed`` of ``n``: the true rates that a judge at the cap may have.
        shown: least flagged documents whose Wilson interval lies above the cap as a whole; None where none does.
    """

    n: int
    cap: float
    allowed: int
    interval: Interval
    shown: int | None

    @property
    def step(self) -> float:
        """The smallest change of the rate; NaN without clean documents."""
        return 1.0 / self.n if self.n else math.nan

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "clean": self.n,
            "cap": self.cap,
            "step": number(self.step),
            "allowed": self.allowed,
            "level": self.interval.level,
            "low": number(self.interval.low),
            "high": number(self.interval.high),
            "shown_above_cap": self.shown,
        }


def alarm_steps(n: int, *, cap: float, level: float = 0.95) -> AlarmSteps:
    """The steps of a false-alarm rate on ``n`` clean documents.

    Args:
        n: clean documents.
        cap: highest rate allowed, in [0, 1].
        level: in (0, 1), of the two-sided Wilson intervals.

    Raises:
        InputError: the count is negative, the cap is outside [0, 1], or the level is outside (0, 1).
    """
    check_count("n", n)
    if not 0.0 <= cap <= 1.0:
        raise InputError(f"cap must be in [0, 1], got {cap:g}; use 0.10 for one flag in ten clean documents")
    # Counted with the division by which a rate is held to the cap: 0.1 of 10 is 1 whatever 0.1 is in binary.
    allowed = int(np.count_nonzero(np.arange(1, n + 1) / max(n, 1) <= cap))
    shown = next((k for k in range(allowed, n + 1) if n and wilson(k, n, level=level).low > cap), None)
    return AlarmSteps(n, cap, allowed, wilson(allowed, n, level=level), shown)


def chance_beyond(accept: AlarmSteps, heldout: AlarmSteps) -> float:
    """Chance that a threshold which just keeps the cap on accept breaks it on held-out documents.

    The true rate is unknown and, before accept was seen, equally likely to be any: Beta(1 + k, 1 + n - k) after it.

    Returns:
        A probability; NaN without clean documents in either split.
    """
    if not accept.n or not heldout.n:
        return math.nan
    k = accept.allowed
    return float(stats.betabinom.sf(heldout.allowed, heldout.n, 1 + k, 1 + accept.n - k))


@dataclass(frozen=True, slots=True)
class ShownMargin:
    """What a guardrail on a difference can show where the arms are in truth equal.

    Attributes:
        name: the guardrail.
        planned: the plan's margin, in the unit of the rate.
        differ: share of documents or pairs on which the arms differ.
        margin: the margin that is shown in 80 of 100 such comparisons.
        holds: probability that the planned margin is shown.
        n_groups: groups behind it.
    """

    name: str
    planned: float
    differ: float
    margin: float
    holds: float
    n_groups: int

    def row(self) -> dict[str, Any]:
        """The JSON form; what is undefined is None."""
        return {
            "guardrail": self.name,
            "planned": self.planned,
            "differ": self.differ,
            "margin": number(self.margin),
            "holds": self.holds,
            "groups": self.n_groups,
        }


def shown_margin(
    name: str, planned: float, *, differ: float, error: float, n_groups: int, alpha: float, power: float = 0.80
) -> ShownMargin:
    """The margin that a two-sided interval keeps within, at this power, between arms that are equal.

    Args:
        name: of the guardrail.
        planned: the plan's margin.
        differ: share of documents or pairs on which the arms differ.
        error: standard error of the difference.
        n_groups: groups behind it; with fewer than two there is no interval, and nothing is shown.
        alpha: two-sided error rate.
        power: in (0, 1).
    """
    if n_groups < 2:
        return ShownMargin(name, planned, differ, math.nan, 0.0, n_groups)
    df = n_groups - 1
    critical = -float(special.stdtrit(df, alpha / 2.0))
    margin = float(special.nctdtrinc(df, 1.0 - power, critical)) * error
    return ShownMargin(name, planned, differ, margin, above_t(critical, df, planned / error), n_groups)


def flag_error(clean: Sequence[int], differ: float, *, correlation: float) -> float:
    """Standard error of the difference of two flag rates on the same clean documents.

    Args:
        clean: clean documents of each group.
        differ: share of them that one arm flags and the other does not.
        correlation: of the differences within a group.
    """
    weight = sum(m * (1.0 + (m - 1) * correlation) for m in clean)
    return math.sqrt(differ * weight) / sum(clean)
