"""What simulation is for: false emission by rule, power, optimism of accept, and coverage of intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from lineage.errors import InputError
from optimize.gate import LowerBound, Permutation, Point
from optimize.simulation.campaigns import (
    SimulatedCampaigns,
    SimulatedChoices,
    SimulatedWorld,
    run_campaigns,
    run_choices,
    run_comparisons,
    world,
)
from optimize.simulation.deciding import OwnNoise, SimulatedDifferences, SimulatedRule, linearised
from optimize.simulation.rates import mean, rate
from optimize.simulation.resampling import bootstrap_intervals
from optimize.simulation.results import (
    Quantity,
    SimulatedCoverage,
    SimulatedEmission,
    SimulatedOptimism,
    SimulatedPower,
)
from optimize.simulation.running import Told, run_blocks

ACCEPT_ONLY: Final = "accept-only"
"""No rule of the gate: believe every gain that accept shows."""
RULES: Final[Mapping[str, SimulatedRule]] = {
    rule.name: rule for rule in (LowerBound(), Permutation(), Point(), OwnNoise())
}
METHODS: Final = ("linearised t", "percentile", "BCa")


@dataclass(frozen=True, slots=True)
class Simulation:
    """How much is simulated, and by whom.

    Args:
        campaigns: of each cell of a table.
        seed: same seed, same numbers, whatever the number of processes.
        processes: at least 1.
        alpha: two-sided error rate of the held-out comparison, in (0, 1); intervals have the level 1 - alpha.
        told: told of the progress.
    """

    campaigns: int
    seed: int = 0
    processes: int = 1
    alpha: float = 0.05
    told: Told | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha < 1.0:
            raise InputError(f"alpha must be in (0, 1), got {self.alpha:g}; use 0.05")

    def blocks(self, work: Callable[..., Any], *, stream: int) -> list[Any]:
        """Blocks of one cell of a table."""
        return run_blocks(
            work,
            campaigns=self.campaigns,
            seed=self.seed,
            stream=(stream,),
            processes=self.processes,
            progress=self.told,
        )


def emission(simulated: SimulatedWorld, rules: Sequence[str], run: Simulation) -> SimulatedEmission:
    """Emission of each rule in whole campaigns."""
    blocks = run.blocks(_campaigns(simulated, rules, run.alpha), stream=0)
    seen = _Joined(blocks, run.campaigns)
    worse = seen("gains") <= 0.0
    gains = seen("accept_gains")
    decisions = {ACCEPT_ONLY: gains > 0.0} | {name: seen.decisions(name) for name in rules}
    return SimulatedEmission(
        emitted={name: rate(decided) for name, decided in decisions.items()},
        false={name: rate(decided & worse) for name, decided in decisions.items()},
        accept_gain=mean(gains),
        optimism=mean(gains - seen("gains")),
        heldout_difference=mean(seen("differences")),
        true_gain=mean(seen("gains")),
        paired=mean(seen("paired")),
        ties=mean(seen("ties")),
        discordant=mean(seen("discordant")),
        proposals=mean(seen("proposals").astype(np.float64)),
    )


def power(
    simulated: SimulatedWorld, gains: Sequence[float], heldout: Sequence[int], rules: Sequence[str], run: Simulation
) -> list[SimulatedPower]:
    """Power of each rule at each effect and number of held-out groups, in whole campaigns.

    A campaign may fail because the search finds nothing, because accept chooses another candidate, or at the gate.
    """
    found = []
    for stream, (gain, groups) in enumerate((gain, groups) for gain in gains for groups in heldout):
        here = world(replace(simulated.shape, heldout=groups), simulated.judge, replace(simulated.effect, gain=gain))
        seen = _Joined(run.blocks(_campaigns(here, rules, run.alpha), stream=stream), run.campaigns)
        better = seen("gains") > 0.0
        for name in rules:
            decided = seen.decisions(name)
            found.append(SimulatedPower(gain, groups, name, rate(decided & better), rate(decided & ~better)))
    return found


def optimism(simulated: SimulatedWorld, sizes: Sequence[int], run: Simulation) -> list[SimulatedOptimism]:
    """Optimism of accept by the number of candidates, always the first of the same search.

    Raises:
        InputError: a size is below 1.
    """
    for size in sizes:
        if size < 1:
            raise InputError(f"candidates must be at least 1, got {size}")
    here = replace(simulated, shape=replace(simulated.shape, candidates=max(sizes)))
    blocks: list[SimulatedChoices] = run.blocks(partial(_choices, here, tuple(sizes)), stream=0)
    gains = np.concatenate([block.gains for block in blocks], axis=1)[:, : run.campaigns]
    shown = np.concatenate([block.accept_gains for block in blocks], axis=1)[:, : run.campaigns]
    return [
        SimulatedOptimism(size, rate(shown[place] > 0.0), mean(shown[place]), mean(shown[place] - gains[place]))
        for place, size in enumerate(sizes)
    ]


def coverage(simulated: SimulatedWorld, groups: Sequence[int], run: Simulation) -> list[SimulatedCoverage]:
    """Coverage of each interval on held-out data, without search and choice, at each number of groups."""
    found = []
    truth: dict[Quantity, float] = {
        "difference": simulated.shown.gain,
        "paired discrimination": simulated.scale.baseline,
    }
    for stream, size in enumerate(groups):
        here = replace(simulated, shape=replace(simulated.shape, heldout=size))
        blocks: list[dict[tuple[Quantity, str], Any]] = run.blocks(
            partial(_intervals, here, 1.0 - run.alpha), stream=stream
        )
        for quantity, method in blocks[0]:
            low, high = np.concatenate([block[quantity, method] for block in blocks], axis=1)[:, : run.campaigns]
            defined = ~np.isnan(low)
            true = truth[quantity]
            covers = (low <= true) & (true <= high)
            found.append(
                SimulatedCoverage(
                    size,
                    quantity,
                    method,
                    rate(covers[defined]),
                    rate(low[defined] > true),
                    int(np.count_nonzero(~defined)),
                )
            )
    return found


class _Joined:
    """The campaigns of all blocks as one, without those of the last block that are too many."""

    def __init__(self, blocks: Sequence[SimulatedCampaigns], campaigns: int) -> None:
        self._blocks, self._campaigns = blocks, campaigns

    def __call__(self, name: str) -> Any:
        return np.concatenate([getattr(block, name) for block in self._blocks])[: self._campaigns]

    def decisions(self, rule: str) -> Any:
        return np.concatenate([block.decisions[rule] for block in self._blocks])[: self._campaigns]


def _campaigns(
    simulated: SimulatedWorld, rules: Sequence[str], alpha: float
) -> Callable[[int, np.random.Generator], SimulatedCampaigns]:
    for name in rules:
        if name not in RULES:
            raise InputError(f"rule must be one of {', '.join(RULES)}, got {name!r}")
    return partial(_run, simulated, tuple(RULES[name] for name in rules), alpha)


# Processes are sent functions of a module, so the work of a block is one here.
def _run(
    simulated: SimulatedWorld,
    rules: tuple[SimulatedRule, ...],
    alpha: float,
    campaigns: int,
    rng: np.random.Generator,
) -> SimulatedCampaigns:
    return run_campaigns(simulated, rules, alpha=alpha, campaigns=campaigns, rng=rng)


def _choices(
    simulated: SimulatedWorld, sizes: tuple[int, ...], campaigns: int, rng: np.random.Generator
) -> SimulatedChoices:
    return run_choices(simulated, sizes, campaigns=campaigns, rng=rng)


def _intervals(
    simulated: SimulatedWorld, level: float, campaigns: int, rng: np.random.Generator
) -> dict[tuple[Quantity, str], Any]:
    """Low and high ends, shape (2, campaigns), by quantity and method."""
    drawing, *resampling = rng.spawn(3)
    found: dict[tuple[Quantity, str], Any] = {}
    both: tuple[SimulatedDifferences, SimulatedDifferences] = run_comparisons(
        simulated, campaigns=campaigns, rng=drawing
    )
    quantities: tuple[Quantity, Quantity] = ("difference", "paired discrimination")
    for quantity, seen, own in zip(quantities, both, resampling, strict=True):
        boot = bootstrap_intervals(seen, level=level, rng=own)
        for method, ends in zip(METHODS, (linearised(seen, level=level), boot.percentile, boot.bca), strict=True):
            found[quantity, method] = np.stack([ends.low, ends.high])
    return found
