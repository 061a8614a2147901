"""Statistics of grouped pairs: intervals, resampling, tests and flag rates. A leaf; nothing here knows of judges."""

from optimize.stats.bootstrap import bootstrap_interval
from optimize.stats.classical import exact_mcnemar, holm, sign_test, wilson
from optimize.stats.comparison import Comparison, compare_replicated, compare_values
from optimize.stats.credit import paired_credit, reward
from optimize.stats.detection import DetectionAtFa, FlagRates, detection_at_fa, flag_rates
from optimize.stats.grouped import grouped_mean, linearised_interval, one_sided_p
from optimize.stats.permutation import sign_flip_test
from optimize.stats.results import (
    NO_PAIRS,
    NO_VARIATION,
    ONE_GROUP,
    Alternative,
    Estimate,
    Interval,
    TestResult,
    check_level,
)

__all__ = [
    "NO_PAIRS",
    "NO_VARIATION",
    "ONE_GROUP",
    "Alternative",
    "Comparison",
    "DetectionAtFa",
    "Estimate",
    "FlagRates",
    "Interval",
    "TestResult",
    "bootstrap_interval",
    "check_level",
    "compare_replicated",
    "compare_values",
    "detection_at_fa",
    "exact_mcnemar",
    "flag_rates",
    "grouped_mean",
    "holm",
    "linearised_interval",
    "one_sided_p",
    "paired_credit",
    "reward",
    "sign_flip_test",
    "sign_test",
    "wilson",
]
