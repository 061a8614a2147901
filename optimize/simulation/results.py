"""What the simulations answer: emission, power, optimism and coverage, as named results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from optimize.simulation.rates import SimulatedMean, SimulatedRate

Quantity = Literal["difference", "paired discrimination"]


@dataclass(frozen=True, slots=True)
class SimulatedEmission:
    """How often each rule emits, and how often wrongly.

    Attributes:
        emitted: rate of emission by rule, over all campaigns; `ACCEPT_ONLY` among them.
        false: rate of emission of a winner that is truly no better than the baseline, over all campaigns.
        accept_gain: what accept shows as the winner's gain; 0 where nothing was found.
        optimism: accept's gain less the true gain.
        heldout_difference: what held-out shows, where something was found.
        true_gain: the winner's.
        paired: the baseline's paired discrimination on held-out.
        ties: share of its pairs that are level.
        discordant: share of pairs on which winner and baseline differ.
        proposals: proposals of a search.
    """

    emitted: Mapping[str, SimulatedRate]
    false: Mapping[str, SimulatedRate]
    accept_gain: SimulatedMean
    optimism: SimulatedMean
    heldout_difference: SimulatedMean
    true_gain: SimulatedMean
    paired: SimulatedMean
    ties: SimulatedMean
    discordant: SimulatedMean
    proposals: SimulatedMean

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        facts = tuple(item.name for item in fields(self))[2:]
        return {
            "rows": [
                {"rule": name, "emitted": self.emitted[name].row(), "false": self.false[name].row()}
                for name in self.emitted
            ],
            "facts": {name: getattr(self, name).row() for name in facts},
        }


@dataclass(frozen=True, slots=True)
class SimulatedPower:
    """How often a rule emits, at one effect and one number of held-out groups.

    Attributes:
        gain: the effect as stated.
        heldout: held-out groups.
        rule: its name.
        emitted: rate of emission of a winner that is truly better.
        false: rate of emission of one that is not.
    """

    gain: float
    heldout: int
    rule: str
    emitted: SimulatedRate
    false: SimulatedRate

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return _row(self)


@dataclass(frozen=True, slots=True)
class SimulatedOptimism:
    """How far accept flatters the winner among so many candidates.

    Attributes:
        candidates: candidates that the choice sees.
        shows_gain: rate of campaigns in which accept shows a gain.
        accept_gain: the gain it shows.
        optimism: that less the true gain.
    """

    candidates: int
    shows_gain: SimulatedRate
    accept_gain: SimulatedMean
    optimism: SimulatedMean

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return _row(self)


@dataclass(frozen=True, slots=True)
class SimulatedCoverage:
    """How often an interval of one held-out measurement holds the truth.

    Attributes:
        groups: held-out groups.
        quantity: what the interval is of.
        method: how it is computed.
        covers: rate among the intervals that are defined.
        too_high: rate of low ends above the truth; of a difference under the null, that is a false emission.
        undefined: intervals that were undefined, as no group varied.
    """

    groups: int
    quantity: Quantity
    method: str
    covers: SimulatedRate
    too_high: SimulatedRate
    undefined: int

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return _row(self)


def _row(cell: SimulatedPower | SimulatedOptimism | SimulatedCoverage) -> dict[str, Any]:
    values = {item.name: getattr(cell, item.name) for item in fields(cell)}
    return {
        name: value.row() if isinstance(value, SimulatedRate | SimulatedMean) else value
        for name, value in values.items()
    }
