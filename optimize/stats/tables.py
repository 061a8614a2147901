"""Tests on two-by-two tables of counts, and on two proportions: documented fronts of scipy and statsmodels.

A table has one row a sample and the columns *yes* and *no*: ``[[yes_1, no_1], [yes_2, no_2]]``. None of these tests
knows of groups or of pairs; on documents that share a consultation their p values are too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import stats

from lineage.errors import InputError
from optimize.stats.results import NO_PAIRS, Alternative, TestResult, check_alternative, check_count

Table = Sequence[Sequence[int]] | npt.NDArray[np.int64]

EMPTY_SAMPLE: Final = "one of the two samples is empty"
ONE_OUTCOME: Final = "all units have the same outcome, so the pooled variance is zero"


def fisher_exact(table: Table, *, alternative: Alternative = "two-sided") -> TestResult:
    """Fisher's exact test of equal proportions, both margins held fixed.

    It is conservative: its true size is often far below alpha, and `boschloo` is more powerful wherever only the sizes
    of the samples are fixed. A two-sided p sums the tables that are at most as likely as the observed one.

    Args:
        table: ``[[yes_1, no_1], [yes_2, no_2]]``.
        alternative: ``greater`` tests whether *yes* is likelier in the first sample.

    Returns:
        The test; its statistic is the sample odds ratio, in [0, inf], NaN where a margin is empty.

    Raises:
        InputError: the table is not two by two, or a count is negative.
    """
    check_alternative(alternative)
    counts = _counts(table)
    name = "Fisher's exact test"
    if not counts.sum():
        return TestResult.undefined(NO_PAIRS, alternative=alternative, method=name, n_groups=0)
    result = stats.fisher_exact(counts, alternative=alternative)
    return TestResult(float(result.pvalue), float(result.statistic), alternative, name, int(counts.sum()))


def boschloo(table: Table, *, alternative: Alternative = "two-sided") -> TestResult:
    """Boschloo's exact unconditional test of equal proportions: only the sizes of the two samples are fixed.

    It orders tables by Fisher's p and takes the largest probability of so extreme a table over the common proportion,
    found by a numerical search. A two-sided p is twice the smaller one-sided p.

    Args:
        table: ``[[yes_1, no_1], [yes_2, no_2]]``; the samples are rows, which are columns in scipy.
        alternative: ``greater`` tests whether *yes* is likelier in the first sample.

    Returns:
        The test; its statistic is Fisher's one-sided p, in [0, 1].

    Raises:
        InputError: the table is not two by two, or a count is negative.

    References:
        Boschloo (1970), Statistica Neerlandica 24(1).
    """
    check_alternative(alternative)
    counts = _counts(table)
    name = "Boschloo's exact test"
    if not counts.sum(axis=1).all():
        reason = EMPTY_SAMPLE if counts.sum() else NO_PAIRS
        return TestResult.undefined(reason, alternative=alternative, method=name, n_groups=int(counts.sum()))
    result = stats.boschloo_exact(counts.T, alternative=alternative)
    # The numerical search may end a rounding error above 1.
    p = min(float(result.pvalue), 1.0)
    return TestResult(p, float(result.statistic), alternative, name, int(counts.sum()))


def mid_p_mcnemar(b: int, c: int) -> TestResult:
    """Mid-p McNemar test, two-sided, on two paired yes/no decisions.

    The observed table counts half, which makes it less conservative than `exact_mcnemar`; its size may exceed alpha
    slightly. Without discordant pairs p is 1.

    Args:
        b: documents that only the first judge flags.
        c: documents that only the second judge flags.

    Returns:
        The test; its statistic is the smaller of the two counts.

    Raises:
        InputError: a count is negative.

    References:
        Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13:91.
    """
    check_count("b", b)
    check_count("c", c)
    n, least = int(b) + int(c), min(int(b), int(c))
    # Fagerland et al. (2013): the exact two-sided p less the probability of the observed table.
    p = 2.0 * float(stats.binom.cdf(least, n, 0.5)) - float(stats.binom.pmf(least, n, 0.5)) if b != c else 1.0
    return TestResult(p, float(least), "two-sided", "mid-p McNemar test", n)


def two_proportion_z(
    k1: int, n1: int, k2: int, n2: int, *, replicates: int = 1, alternative: Alternative = "two-sided"
) -> TestResult:
    """Test of two independent proportions with the pooled variance.

    The two samples must be of different units. Where each document was judged several times and all judgements were
    counted, say so in ``replicates``: the test is computed as asked, and its method says that its units are not
    independent, so that its p value is too small by an unknown amount.

    Args:
        k1: successes of the first sample, in 0..n1.
        n1: units of the first sample, counted once in each replicate.
        k2: successes of the second sample, in 0..n2.
        n2: units of the second sample, counted once in each replicate.
        replicates: replicates over which the counts are pooled; 1 if every unit is counted once.
        alternative: ``greater`` tests whether the first proportion is higher.

    Returns:
        The test; its statistic is z, above 0 where the first proportion is higher. ``n_groups`` counts units, not
        judgements.

    Raises:
        InputError: a count is out of its range, or n1 or n2 is not a multiple of ``replicates``.
    """
    from statsmodels.stats import proportion

    check_alternative(alternative)
    check_count("replicates", replicates, at_least=1)
    for name, k, n in (("1", k1, n1), ("2", k2, n2)):
        check_count(f"k{name}", k)
        check_count(f"n{name}", n)
        if k > n:
            raise InputError(f"k{name} must be at most n{name}, got {k} of {n}; k counts successes among the n units")
        if n % replicates:
            raise InputError(
                f"n{name} must be a multiple of replicates, got {n} over {replicates}; every unit has to be counted "
                "once in each replicate"
            )
    method = "two-proportion z test, pooled variance"
    if replicates > 1:
        method += f", pooled over {replicates} replicates: units are not independent"
    units = (n1 + n2) // replicates
    reason = ""
    if not n1 or not n2:
        reason = EMPTY_SAMPLE if n1 or n2 else NO_PAIRS
    elif k1 + k2 in (0, n1 + n2):
        reason = ONE_OUTCOME
    if reason:
        return TestResult.undefined(reason, alternative=alternative, method=method, n_groups=units)
    # statsmodels names the one-sided alternatives otherwise.
    theirs = {"greater": "larger", "less": "smaller", "two-sided": "two-sided"}[alternative]
    z, p = proportion.proportions_ztest([k1, k2], [n1, n2], alternative=theirs)
    return TestResult(float(p), float(z), alternative, method, units)


def _counts(table: Table) -> npt.NDArray[np.int64]:
    """The table as whole counts of shape (2, 2)."""
    counts = np.asarray(table)
    if counts.shape != (2, 2):
        raise InputError(f"table must be of shape (2, 2), one row a sample, got {counts.shape}")
    for value in counts.ravel().tolist():
        check_count("a count of the table", value)
    return counts.astype(np.int64)
