"""Classical tests and intervals for counts: thin, documented fronts of scipy and statsmodels.

None of them knows of groups. On documents that share a consultation they are too sure of themselves; they describe
counts, and decisions are made with the grouped statistics.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from lineage.errors import InputError
from optimize.stats.results import (
    NO_PAIRS,
    Alternative,
    Interval,
    TestResult,
    check_alternative,
    check_count,
    check_level,
)


def wilson(k: int, n: int, *, level: float = 0.95) -> Interval:
    """Wilson's score interval for a proportion, without continuity correction.

    It takes the n trials as independent, so ``n_groups`` is n. Several flawed documents of one consultation are not
    independent, and the interval of their detection rate is then too narrow.

    Args:
        k: successes, in 0..n.
        n: trials; 0 gives an undefined interval.
        level: in (0, 1).

    Raises:
        InputError: a count is negative or k is above n, or the level is outside (0, 1).

    References:
        Wilson (1927), JASA 22(158).
    """
    check_level(level)
    check_count("k", k)
    check_count("n", n)
    if k > n:
        raise InputError(f"k must be at most n, got k = {k} and n = {n}; k counts successes among the n trials")
    if n == 0:
        return Interval.undefined(NO_PAIRS, level=level, method="Wilson interval", n_groups=0)
    ends = stats.binomtest(int(k), int(n)).proportion_ci(confidence_level=level, method="wilson")
    return Interval(float(ends.low), float(ends.high), level, "Wilson interval", n)


def sign_test(wins: int, losses: int, *, alternative: Alternative = "two-sided") -> TestResult:
    """Exact sign test on pairs that differ; ties are left out.

    The size of a difference does not count, nor does the number of ties. Without wins and losses p is 1.

    Args:
        wins: pairs in favour of the candidate.
        losses: pairs against it.
        alternative: ``greater`` tests whether wins are more likely than losses.

    Raises:
        InputError: a count is negative, or the alternative is unknown.
    """
    check_alternative(alternative)
    check_count("wins", wins)
    check_count("losses", losses)
    n = wins + losses
    p = float(stats.binomtest(int(wins), int(n), 0.5, alternative=alternative).pvalue) if n else 1.0
    return TestResult(p, float(wins), alternative, "exact sign test", n)


def exact_mcnemar(b: int, c: int) -> TestResult:
    """Exact two-sided McNemar test on two paired yes/no decisions.

    Args:
        b: documents that only the first judge flags.
        c: documents that only the second judge flags.

    Raises:
        InputError: a count is negative.
    """
    # statsmodels takes a second to import, which a command that tests nothing should not pay.
    from statsmodels.stats import contingency_tables

    check_count("b", b)
    check_count("c", c)
    result = contingency_tables.mcnemar([[0, int(b)], [int(c), 0]], exact=True)
    return TestResult(float(result.pvalue), float(result.statistic), "two-sided", "exact McNemar test", b + c)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjustment, in the order given: reject where the adjusted p is at most alpha.

    It holds the chance of any false rejection among the tests given. It knows nothing of tests that were run and left
    out.

    Args:
        p_values: the p values of the whole family, each in [0, 1].

    Raises:
        InputError: the family is empty, or a p value is NaN or outside [0, 1].

    References:
        Holm (1979), Scandinavian Journal of Statistics 6(2).
    """
    from statsmodels.stats import multitest

    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or p.size == 0:
        raise InputError(f"p_values must hold at least one p value in one row, got shape {p.shape}")
    for place, value in enumerate(p):
        if not 0.0 <= value <= 1.0:
            raise InputError(
                f"p_values must be in [0, 1], got {value} at position {place}; count an undefined test as 1, "
                "because leaving it out would shrink the family"
            )
    return tuple(float(value) for value in multitest.multipletests(p, method="holm")[1])
