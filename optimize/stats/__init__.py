"""Statistics of grouped pairs: intervals, resampling, tests and flag rates. A leaf; nothing here knows of judges."""

from optimize.stats.accuracy import AccuracyByType, TypeAccuracy, accuracy_by_type
from optimize.stats.agreement import Agreement, cohen_kappa, gwet_ac1, rating_table
from optimize.stats.bootstrap import bootstrap_both, bootstrap_interval
from optimize.stats.classical import exact_mcnemar, holm, sign_test, wilson
from optimize.stats.comparison import Comparison, compare_replicated, compare_values
from optimize.stats.compression import ScoreCompression, score_compression
from optimize.stats.credit import paired_credit, reward
from optimize.stats.detection import DetectionAtFa, FlagRates, detection_at_fa, flag_rates
from optimize.stats.group_statistics import (
    auc_statistic,
    detection_statistic,
    difference_statistic,
    mean_statistic,
    ratio_statistic,
    rows_statistic,
)
from optimize.stats.grouped import grouped_mean, linearised_interval, one_sided_p
from optimize.stats.influence import GroupInfluence, difference, mean_of, ratio_influence
from optimize.stats.majority import majority_flags, majority_scores
from optimize.stats.permutation import sign_flip_test
from optimize.stats.reliability import Calibration, ReliabilityBin, calibration
from optimize.stats.resampling import (
    BootstrapIntervals,
    GroupStatistic,
    bootstrap_intervals,
    jackknife_interval,
    resample_counts,
)
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
from optimize.stats.roc import auc
from optimize.stats.tables import boschloo, fisher_exact, mid_p_mcnemar, two_proportion_z

__all__ = [
    "NO_PAIRS",
    "NO_VARIATION",
    "ONE_GROUP",
    "AccuracyByType",
    "Agreement",
    "Alternative",
    "BootstrapIntervals",
    "Calibration",
    "Comparison",
    "DetectionAtFa",
    "Estimate",
    "FlagRates",
    "GroupInfluence",
    "GroupStatistic",
    "Interval",
    "ReliabilityBin",
    "ScoreCompression",
    "TestResult",
    "TypeAccuracy",
    "accuracy_by_type",
    "auc",
    "auc_statistic",
    "bootstrap_both",
    "bootstrap_interval",
    "bootstrap_intervals",
    "boschloo",
    "calibration",
    "check_level",
    "cohen_kappa",
    "compare_replicated",
    "compare_values",
    "detection_at_fa",
    "detection_statistic",
    "difference",
    "difference_statistic",
    "exact_mcnemar",
    "fisher_exact",
    "flag_rates",
    "grouped_mean",
    "gwet_ac1",
    "holm",
    "jackknife_interval",
    "linearised_interval",
    "majority_flags",
    "majority_scores",
    "mean_of",
    "mean_statistic",
    "mid_p_mcnemar",
    "one_sided_p",
    "paired_credit",
    "rating_table",
    "ratio_influence",
    "ratio_statistic",
    "resample_counts",
    "reward",
    "rows_statistic",
    "score_compression",
    "sign_flip_test",
    "sign_test",
    "two_proportion_z",
    "wilson",
]
