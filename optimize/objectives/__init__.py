"""Measures over judged pairs: paired discrimination, detection at a false-alarm cap, paired comparison, reward.

A pair is a flawed document and its clean twin under one judge, in one replicate. Scores are the stored, rounded ones,
and higher is a better document everywhere.
"""

from optimize.objectives.comparing import compare, coverage, worst_case
from optimize.objectives.discrimination import PairedDiscrimination, paired_discrimination
from optimize.objectives.pairs import ScoredPair, by
from optimize.stats.comparison import Comparison
from optimize.stats.credit import paired_credit, reward
from optimize.stats.detection import DetectionAtFa, FlagRates, detection_at_fa, flag_rates

__all__ = [
    "Comparison",
    "DetectionAtFa",
    "FlagRates",
    "PairedDiscrimination",
    "ScoredPair",
    "by",
    "compare",
    "coverage",
    "detection_at_fa",
    "flag_rates",
    "paired_credit",
    "paired_discrimination",
    "reward",
    "worst_case",
]
