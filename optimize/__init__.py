"""Optimize: plans, measures, the search on gepa's engine, the campaign, the gate and the statistics beneath."""

from optimize.campaign import Campaign, CampaignResult
from optimize.gate import Gate, Guardrails, LowerBound, Permutation, Point
from optimize.plan import Plan, parse_plan
from optimize.watching import Watcher

__all__ = [
    "Campaign",
    "CampaignResult",
    "Gate",
    "Guardrails",
    "LowerBound",
    "Permutation",
    "Plan",
    "Point",
    "Watcher",
    "parse_plan",
]
