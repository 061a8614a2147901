"""Power before spending: what a plan's rule can see on its held-out groups, before any of them is judged."""

from optimize.power.alarms import AlarmSteps, ShownMargin, alarm_steps, chance_beyond
from optimize.power.discordance import PER_FACT_LIKE, WHOLE_NOTE_LIKE, Discordance, stated_discordance
from optimize.power.effects import POWERS, Detected, detected
from optimize.power.pilot import Pilot, discordance_of, read_pilot
from optimize.power.planned import PlannedRule, closed_power, standard_error
from optimize.power.simulated import SimulatedComparisons
from optimize.power.sizes import SplitSizes, resized, split_sizes
from optimize.power.statement import Power, plan_power
from optimize.power.wording import between

__all__ = [
    "PER_FACT_LIKE",
    "POWERS",
    "WHOLE_NOTE_LIKE",
    "AlarmSteps",
    "Detected",
    "Discordance",
    "Pilot",
    "PlannedRule",
    "Power",
    "ShownMargin",
    "SimulatedComparisons",
    "SplitSizes",
    "alarm_steps",
    "between",
    "chance_beyond",
    "closed_power",
    "detected",
    "discordance_of",
    "plan_power",
    "read_pilot",
    "resized",
    "split_sizes",
    "standard_error",
    "stated_discordance",
]
