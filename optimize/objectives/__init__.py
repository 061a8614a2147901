"""Measures over judged pairs: paired discrimination, detection at a false-alarm cap, paired comparison, reward.

A pair is a flawed document and its clean twin under one judge, in one replicate. Scores are the stored, rounded ones,
and higher is a better document everywhere. `ScoredExamples` holds the scores of a candidate as arrays, and
`measure_table` all measures of them.
"""

from optimize.objectives.comparing import compare, coverage, worst_case
from optimize.objectives.confounds import ConfoundCheck, length_only
from optimize.objectives.conversion import scored_evaluation
from optimize.objectives.differences import MeasureDifference, measure_difference
from optimize.objectives.discrimination import PairedDiscrimination, paired_discrimination
from optimize.objectives.flagging import (
    SEVERITY_WEIGHTS,
    Threshold,
    detection,
    false_alarms,
    severity_weighted_detection,
    sweep,
    swept_threshold,
)
from optimize.objectives.measures import Measure
from optimize.objectives.measuring import auc, compression, discrimination_measure, pair_coverage
from optimize.objectives.pairs import BREAKDOWNS, ScoredPair, by
from optimize.objectives.position import PositionCheck, position_only
from optimize.objectives.scored import ScoredExamples
from optimize.objectives.table import MeasureRow, MeasureTable, measure_table
from optimize.stats.comparison import Comparison
from optimize.stats.credit import paired_credit, reward
from optimize.stats.detection import DetectionAtFa, FlagRates, detection_at_fa, flag_rates

__all__ = [
    "BREAKDOWNS",
    "SEVERITY_WEIGHTS",
    "Comparison",
    "ConfoundCheck",
    "DetectionAtFa",
    "FlagRates",
    "Measure",
    "MeasureDifference",
    "MeasureRow",
    "MeasureTable",
    "PairedDiscrimination",
    "PositionCheck",
    "ScoredExamples",
    "ScoredPair",
    "Threshold",
    "auc",
    "by",
    "compare",
    "compression",
    "coverage",
    "detection",
    "detection_at_fa",
    "discrimination_measure",
    "false_alarms",
    "flag_rates",
    "length_only",
    "measure_difference",
    "measure_table",
    "pair_coverage",
    "paired_credit",
    "paired_discrimination",
    "position_only",
    "reward",
    "scored_evaluation",
    "severity_weighted_detection",
    "sweep",
    "swept_threshold",
    "worst_case",
]
