"""The test that a plan's rule reads on a number of groups, and the power that it has there in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from scipy import special, stats

from lineage.errors import InputError
from optimize.gate.rules import SMALL
from optimize.power.discordance import Discordance

Reading = Literal["interval", "sign-flip", "point", "noise"]
RULES = ("lower-bound", "permutation", "point", "beyond-noise")


@dataclass(frozen=True, slots=True)
class PlannedRule:
    """A gate's rule as a plan fixes it.

    Args:
        name: ``lower-bound``, ``permutation``, ``point`` or ``beyond-noise``.
        margin: difference in paired discrimination that must be exceeded; ``permutation`` and ``beyond-noise`` have
            none.
        alpha: two-sided error rate of the comparison, in (0, 1).
        replicates: replicates in each arm.
        multiple: standard deviations of a difference between two replicates that ``beyond-noise`` asks for.

    Raises:
        InputError: the rule is unknown.
    """

    name: str
    margin: float = 0.0
    alpha: float = 0.05
    replicates: int = 1
    multiple: float = 2.0

    def __post_init__(self) -> None:
        if self.name not in RULES:
            raise InputError(f"rule must be one of {', '.join(RULES)}, got {self.name!r}")

    def reads(self, n_groups: int) -> Reading:
        """What the rule reads on so many groups."""
        if self.name == "lower-bound":
            return "interval" if n_groups >= SMALL else "sign-flip"
        return {"permutation": "sign-flip", "point": "point", "beyond-noise": "noise"}[self.name]  # type: ignore[return-value]  # each value is a Reading

    @property
    def words(self) -> str:
        """In one line."""
        margin = f" above {self.margin:+.3f}" if self.margin else ""
        each = "1 replicate" if self.replicates == 1 else f"{self.replicates} replicates"
        return f"rule {self.name}{margin}, two-sided alpha {self.alpha:g}, {each}"


def standard_error(
    discordance: Discordance, sizes: Sequence[int], *, effect: float = 0.0, replicates: int = 1
) -> float:
    """Standard error of the mean difference over pairs, in units of credit.

    Args:
        discordance: how the arms differ.
        sizes: pairs of each group.
        effect: mean difference.
        replicates: replicates in each arm.
    """
    n = sum(sizes)
    # Kish (1965), Survey Sampling, sec. 5.4: each group counts m (1 + (m - 1) rho) pairs' worth of variance.
    weight = sum(m * (1.0 + (m - 1) * discordance.correlation) for m in sizes)
    return math.sqrt(discordance.variance(effect) * discordance.replicated(replicates) * weight) / n


def closed_power(rule: PlannedRule, discordance: Discordance, sizes: Sequence[int], effect: float) -> float:
    """Power of a rule at an effect, from the noncentral t distribution.

    It takes group sums as normal. With fewer than some 60 groups, and where few pairs differ, simulation is nearer the
    truth; the sign-flip test is taken as the t test that it comes to with many groups.

    Args:
        rule: the plan's rule.
        discordance: how the arms differ.
        sizes: pairs of each group.
        effect: mean difference on held-out pairs.

    Returns:
        Power in [0, 1]; NaN where the rule can never be read (``beyond-noise`` without noise or replicates).
    """
    g = len(sizes)
    error = standard_error(discordance, sizes, effect=effect, replicates=rule.replicates)
    reading = rule.reads(g)
    if reading == "noise":
        return _beyond_noise(rule, discordance, sizes, effect, error)
    lead = effect - (0.0 if rule.name == "permutation" else rule.margin)
    if error == 0.0:
        return float(lead > 0.0)
    if reading == "point":
        return float(special.ndtr(lead / error))
    return above_t(-float(special.stdtrit(g - 1, rule.alpha / 2.0)), g - 1, lead / error) if g > 1 else 0.0


def _beyond_noise(
    rule: PlannedRule, discordance: Discordance, sizes: Sequence[int], effect: float, error: float
) -> float:
    """Power of ``beyond-noise``: the difference is normal, the noise's SD is that of R values of the measure."""
    if rule.replicates < 2 or discordance.noise == 0.0:
        return math.nan
    # Each arm has half of the noise in a difference; two replicates of one arm differ by two such halves.
    apart = standard_error(discordance, sizes) * math.sqrt(discordance.noise)
    return above_t(rule.multiple * apart / error, rule.replicates - 1, effect / error) if error else 1.0


def above_t(critical: float, df: int, shift: float) -> float:
    """Probability that a noncentral t exceeds a value, in [0, 1]."""
    if shift > 30.0 + critical:
        return 1.0  # scipy's series gives up far out, where nothing is left to add
    return float(stats.nct.sf(critical, df, shift))
