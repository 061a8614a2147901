"""Simulation: judges that are formulas with a known ability, and whole campaigns with them, thousands a second.

It shows how a protocol behaves: how often a rule emits under the null, what power it has, how optimistic accept is, how
often an interval holds the truth. Nothing here says anything of a model, and every result is marked simulated.
"""

from optimize.simulation.campaigns import SimulatedCampaigns, SimulatedWorld, run_campaigns, world
from optimize.simulation.judge import JUDGES, PER_FACT, WHOLE_NOTE, PromptEffect, SimulatedJudge
from optimize.simulation.measuring import (
    ACCEPT_ONLY,
    RULES,
    Simulation,
    coverage,
    emission,
    optimism,
    power,
)
from optimize.simulation.rates import SimulatedMean, SimulatedRate
from optimize.simulation.results import SimulatedCoverage, SimulatedEmission, SimulatedOptimism, SimulatedPower
from optimize.simulation.running import BLOCK
from optimize.simulation.shape import CampaignShape

__all__ = [
    "ACCEPT_ONLY",
    "BLOCK",
    "JUDGES",
    "PER_FACT",
    "RULES",
    "WHOLE_NOTE",
    "CampaignShape",
    "PromptEffect",
    "SimulatedCampaigns",
    "SimulatedCoverage",
    "SimulatedEmission",
    "SimulatedJudge",
    "SimulatedMean",
    "SimulatedOptimism",
    "SimulatedPower",
    "SimulatedRate",
    "SimulatedWorld",
    "Simulation",
    "coverage",
    "emission",
    "optimism",
    "power",
    "run_campaigns",
    "world",
]
