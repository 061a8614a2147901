"""The effect that a rule detects with a given power, by number of groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, Literal

import numpy as np

from optimize.choice import number
from optimize.power.discordance import Discordance
from optimize.power.planned import PlannedRule, Reading, closed_power
from optimize.power.simulated import SimulatedComparisons

POWERS: Final = (0.5, 0.8, 0.9)
SIMULATED_GROUPS: Final = 60
"""Up to so many groups power is simulated; beyond, the closed form is as near as a simulation of this size."""
SIMULATIONS: Final = 4000
TOLERANCE: Final = 0.0005
"""Effects are found within this much, in units of credit."""
_STEPS: Final = 20

Method = Literal["simulated", "closed form"]


@dataclass(frozen=True, slots=True)
class Detected:
    """What a rule detects on so many groups, under one discordance.

    The effects are true differences on all groups that there could be, not gains seen on accept, which are optimistic.

    Attributes:
        groups: groups with a pair.
        pairs: pairs among them.
        reading: the test that the rule reads on so many groups.
        effects: by power, the effect detected, in units of credit; NaN where none reaches it.
        at_hope: power at the hoped effect; NaN where there is no hope, or the rule cannot be read. A hope beyond three
            quarters of what the discordance can reach is taken for that: the power there is at its height.
        by_chance: power without any effect, which is how often chance passes the rule; NaN where it cannot be read.
        method: how it was computed.
        reason: why an effect is undefined; empty where all are defined.
    """

    groups: int
    pairs: int
    reading: Reading
    effects: Mapping[float, float]
    at_hope: float
    by_chance: float
    method: Method
    reason: str = ""

    def row(self) -> dict[str, Any]:
        """The JSON form; what is undefined is None."""
        return {
            "groups": self.groups,
            "pairs": self.pairs,
            "reading": self.reading,
            "effects": {f"{power:g}": number(effect) for power, effect in self.effects.items()},
            "at_hope": number(self.at_hope),
            "by_chance": number(self.by_chance),
            "method": self.method,
            "reason": self.reason,
        }


def detected(
    rule: PlannedRule,
    discordance: Discordance,
    sizes: Sequence[int],
    *,
    hope: float | None = None,
    powers: Sequence[float] = POWERS,
    simulations: int = SIMULATIONS,
    rng: np.random.Generator,
) -> Detected:
    """The effects that a rule detects on groups of these sizes.

    Args:
        rule: the plan's rule.
        discordance: how the arms differ.
        sizes: pairs of each group.
        hope: an effect whose power is wanted too, in units of credit.
        powers: in (0, 1).
        simulations: comparisons simulated, up to 60 groups; half as many where the sign-flip test is read.
        rng: source of all randomness.
    """
    g = len(sizes)
    reading = rule.reads(g)
    power_of: Callable[[float], float] = partial(closed_power, rule, discordance, sizes)
    method: Method = "closed form"
    if reading != "noise" and g <= SIMULATED_GROUPS:
        method = "simulated"
        # A sign-flip test costs some thousand patterns a comparison, an interval none.
        count = simulations // 2 if reading == "sign-flip" else simulations
        power_of = SimulatedComparisons(discordance, sizes, rule, simulations=count, rng=rng).power
    power_of = cache(power_of)
    effects = {power: _effect_at(power_of, power, discordance.reach) for power in powers}
    reason = ""
    if reading == "noise" and math.isnan(power_of(0.0)):
        reason = "beyond-noise needs replicates, and a pilot of them: without noise there is nothing to be beyond"
    elif any(math.isnan(effect) for effect in effects.values()):
        reason = f"no effect reaches this power on {g} groups: {_why(rule, reading, g)}"
    at_hope = math.nan if hope is None else power_of(min(hope, 0.75 * discordance.reach))
    return Detected(g, sum(sizes), reading, effects, at_hope, power_of(0.0), method, reason)


def _effect_at(power_of: Callable[[float], float], target: float, reach: float) -> float:
    """The least effect with this power; 0 where chance alone has it, NaN where none has."""
    low = 0.0
    if power_of(low) >= target:
        return low
    # Step by step, for near its end power may fall again: where every pair is won by as much there is no interval.
    for step in range(1, _STEPS):
        high = reach * step / _STEPS
        if power_of(high) >= target:
            break
        low = high
    else:
        return math.nan
    while high - low > TOLERANCE:
        middle = (low + high) / 2.0
        low, high = (low, middle) if power_of(middle) >= target else (middle, high)
    return high


def _why(rule: PlannedRule, reading: Reading, groups: int) -> str:
    if reading == "sign-flip" and 2.0**-groups >= rule.alpha / 2.0:
        return f"the sign-flip test has no p below {2.0**-groups:g} there, and the rule asks for {rule.alpha / 2.0:g}"
    return "too few groups, or too large a margin, for differences of at most one credit"
