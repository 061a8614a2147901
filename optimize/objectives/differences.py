"""Two arms compared in any measure, paired by group, on the judgements that both arms have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lineage.errors import InputError
from optimize.objectives.measures import Measure
from optimize.objectives.scored import ScoredExamples
from optimize.stats.group_statistics import difference_statistic
from optimize.stats.influence import difference
from optimize.stats.resampling import BootstrapIntervals, bootstrap_intervals
from optimize.stats.results import Interval, TestResult


@dataclass(frozen=True, slots=True)
class MeasureDifference:
    """Candidate less baseline in one measure, on the documents scored in both.

    An interval that holds 0 does not show that the arms are equal; its ends say which differences are excluded.

    Attributes:
        name: of the measure.
        value: candidate less baseline; NaN where undefined.
        candidate: the candidate's measure on these documents.
        baseline: the baseline's.
        interval: linearised, by group, paired: what both arms share cancels.
        test: two-sided, with the t of the interval.
        bootstrap: percentile and BCa interval; None where it was not asked for.
        n_failed: judgements with a score in one arm only, left out of both.
        reason: why the value is undefined; empty where it is defined.
    """

    name: str
    value: float
    candidate: Measure
    baseline: Measure
    interval: Interval
    test: TestResult
    bootstrap: BootstrapIntervals | None
    n_failed: int
    reason: str = ""

    @property
    def method(self) -> str:
        """How the interval was computed."""
        return self.interval.method

    @property
    def n(self) -> int:
        """Observations behind it, such as pairs."""
        return self.candidate.n

    @property
    def n_groups(self) -> int:
        """Groups behind it."""
        return self.interval.n_groups

    def __str__(self) -> str:
        if self.reason:
            return f"difference in {self.name} undefined: {self.reason}; {self.n_failed} scored in one arm only"
        return (
            f"difference in {self.name} {self.value:+z.4f} (candidate {self.candidate.value:.4f}, baseline "
            f"{self.baseline.value:.4f}), interval {self.interval}: {self.n} {self.candidate.unit} in {self.n_groups} "
            f"groups; {self.test}; {self.n_failed} scored in one arm only, left out"
        )


def measure_difference(
    candidate: ScoredExamples,
    baseline: ScoredExamples,
    measure: Callable[[ScoredExamples], Measure],
    *,
    baseline_measure: Callable[[ScoredExamples], Measure] | None = None,
    level: float = 0.95,
    bootstrap_resamples: int | None = None,
    rng: np.random.Generator | None = None,
) -> MeasureDifference:
    """Compare two arms in any measure, paired by group, on the judgements that both arms have.

    Args:
        candidate: scored examples of the candidate.
        baseline: the same examples, replicates and samples.
        measure: of one arm, such as ``auc`` or ``lambda arm: detection(arm, rule=rule)``.
        baseline_measure: where the baseline's differs, as with a threshold of its own; else ``measure``.
        level: in (0, 1), of the intervals.
        bootstrap_resamples: resamples of the bootstrap intervals; None computes none.
        rng: source of their randomness; needed with ``bootstrap_resamples``.

    Raises:
        InputError: the arms are not of the same examples, replicates and samples, or resamples come without a source of
            randomness.
    """
    check_arms(candidate, baseline)
    if (bootstrap_resamples is None) != (rng is None):
        raise InputError("bootstrap_resamples and rng go together; give both or neither")
    missing = np.isnan(candidate.scores) | np.isnan(baseline.scores)
    twin_missing = np.isnan(candidate.twin_scores) | np.isnan(baseline.twin_scores)
    ours, theirs = (
        replace(
            arm,
            scores=np.where(missing, np.nan, arm.scores),
            twin_scores=np.where(twin_missing, np.nan, arm.twin_scores),
        )
        for arm in (candidate, baseline)
    )
    first, second = measure(ours), (baseline_measure or measure)(theirs)
    gap = difference(first.influence, second.influence)
    both = None
    if bootstrap_resamples is not None and rng is not None and first.resampling and second.resampling:
        if not np.array_equal(first.resampling.names, second.resampling.names):
            raise InputError("the two measures must see the same groups to be resampled together")
        both = bootstrap_intervals(
            difference_statistic(first.resampling.statistic(), second.resampling.statistic()),
            len(first.resampling.names),
            level=level,
            resamples=bootstrap_resamples,
            rng=rng,
        )
    return MeasureDifference(
        first.name,
        gap.value,
        first,
        second,
        gap.interval(level=level),
        gap.test(alternative="two-sided"),
        both,
        int(np.count_nonzero(np.isnan(candidate.scores) != np.isnan(baseline.scores))),
        gap.reason,
    )


def check_arms(candidate: ScoredExamples, baseline: ScoredExamples) -> None:
    """Refuse arms that are not of the same examples, replicates and samples.

    Raises:
        InputError: they differ.
    """
    if candidate.ids != baseline.ids or candidate.groups.names != baseline.groups.names:
        raise InputError("both arms must be the same examples in the same order; sort both by id and score all in both")
    if candidate.replicates != baseline.replicates:
        raise InputError(
            f"both arms must be of the same replicates, got {list(candidate.replicates)} for the candidate and "
            f"{list(baseline.replicates)} for the baseline; score both arms equally often"
        )
    if candidate.samples != baseline.samples:
        raise InputError(
            f"scores of both arms must combine the same number of samples, got {candidate.samples} for the candidate "
            f"and {baseline.samples} for the baseline; draw both arms equally often"
        )
