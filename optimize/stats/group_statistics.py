"""Statistics as functions of how often each group counts, for `resampling`: ratios, AUC, detection, any function."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError
from optimize.stats.groups import Floats
from optimize.stats.resampling import GroupStatistic

# A block of thresholds or of groups by groups of this many elements is 16 MiB.
_BLOCK_ELEMENTS = 2**21


def ratio_statistic(numerators: Floats, denominators: Floats) -> GroupStatistic:
    """The ratio of two totals, such as a rate or a mean.

    Args:
        numerators: shape (n_groups,), total of each group.
        denominators: shape (n_groups,), such as the number of observations; a sample whose total is 0 has no value.
    """
    totals = np.column_stack([numerators, denominators]).astype(np.float64)

    def ratio(weights: Floats) -> Floats:
        top, bottom = (weights @ totals).T
        return _divided(top, bottom)

    return ratio


def difference_statistic(first: GroupStatistic, second: GroupStatistic) -> GroupStatistic:
    """``first`` less ``second`` in the same sample of groups, so that what both share cancels."""
    return lambda weights: first(weights) - second(weights)


def mean_statistic(*parts: GroupStatistic) -> GroupStatistic:
    """The mean of several statistics in the same sample of groups, such as of one measure within each replicate."""
    if not parts:
        raise InputError("parts must hold at least one statistic")
    return lambda weights: np.mean([part(weights) for part in parts], axis=0)


def auc_statistic(
    flawed: npt.ArrayLike,
    clean: npt.ArrayLike,
    *,
    flawed_groups: npt.NDArray[np.intp],
    clean_groups: npt.NDArray[np.intp],
    n_groups: int,
) -> GroupStatistic:
    """The share of flawed and clean documents that are in the right order, over all such couples, ties half.

    Args:
        flawed: shape (n_flawed,), scores of flawed documents.
        clean: shape (n_clean,), scores of clean documents.
        flawed_groups: shape (n_flawed,), group codes in 0..n_groups - 1.
        clean_groups: shape (n_clean,), likewise.
        n_groups: groups.
    """
    low, high = np.asarray(flawed, dtype=np.float64), np.asarray(clean, dtype=np.float64)
    wins = np.zeros((n_groups, n_groups))
    # Each clean document adds to its group's column how many flawed ones of each group lie below it, ties half.
    for group in np.unique(flawed_groups):
        below = np.sort(low[flawed_groups == group])
        placed = np.searchsorted(below, high, side="left") + np.searchsorted(below, high, side="right")
        wins[group] = np.bincount(clean_groups, weights=placed / 2.0, minlength=n_groups)
    n_flawed = np.bincount(flawed_groups, minlength=n_groups).astype(np.float64)
    n_clean = np.bincount(clean_groups, minlength=n_groups).astype(np.float64)

    def auc(weights: Floats) -> Floats:
        won = np.einsum("mg,mg->m", weights @ wins, weights)
        return _divided(won, (weights @ n_flawed) * (weights @ n_clean))

    return auc


def detection_statistic(
    flawed: npt.ArrayLike,
    clean: npt.ArrayLike,
    *,
    flawed_groups: npt.NDArray[np.intp],
    clean_groups: npt.NDArray[np.intp],
    n_groups: int,
    cap: float,
) -> GroupStatistic:
    """Detection at a false-alarm cap, the threshold swept anew in every sample; arguments as in `auc_statistic`.

    Its resamples show how much detection owes to where the threshold fell, which an interval at a fixed threshold
    cannot.
    """
    low, high = np.asarray(flawed, dtype=np.float64), np.asarray(clean, dtype=np.float64)
    # Between two clean scores the higher threshold flags more flawed documents and no more clean ones. Above all clean
    # scores every clean document is flagged, which only a cap of 1 allows.
    thresholds = np.unique(high if cap < 1.0 else np.concatenate([low, high]))
    flagged_flawed = _below(low, flawed_groups, thresholds, n_groups)
    flagged_clean = _below(high, clean_groups, thresholds, n_groups)
    n_flawed = np.bincount(flawed_groups, minlength=n_groups).astype(np.float64)
    n_clean = np.bincount(clean_groups, minlength=n_groups).astype(np.float64)
    rows = max(1, _BLOCK_ELEMENTS // max(1, len(thresholds)))

    def block(weights: Floats) -> Floats:
        of_flawed, of_clean = weights @ n_flawed, weights @ n_clean
        found, alarms = weights @ flagged_flawed, weights @ flagged_clean
        allowed = _divided(alarms, np.broadcast_to(of_clean[:, None], alarms.shape)) <= cap
        # The highest observed score is never flagged: a threshold that flags everything is none of the sample.
        allowed &= (found < of_flawed[:, None]) | (alarms < of_clean[:, None])
        most = np.max(np.where(allowed, found, 0.0), axis=1, initial=0.0)
        return np.where(of_clean > 0.0, _divided(most, of_flawed), np.nan)

    def detection(weights: Floats) -> Floats:
        return np.concatenate([block(weights[start : start + rows]) for start in range(0, len(weights), rows)])

    return detection


def rows_statistic(
    statistic: Callable[[npt.NDArray[np.intp]], float], *, groups: npt.NDArray[np.intp]
) -> GroupStatistic:
    """Any function of rows, called once a sample with the rows of its groups, a group as often as it was drawn.

    It copies rows and calls Python for each resample, so it is some hundred times slower than the statistics above.

    Args:
        statistic: takes row numbers, shape (n_drawn,), and returns a value, NaN where there is none.
        groups: shape (n,), group code of each row.
    """
    rows = np.arange(len(groups))

    def of_weights(weights: Floats) -> Floats:
        times = weights.astype(np.intp)
        return np.array([statistic(np.repeat(rows, drawn[groups])) for drawn in times], dtype=np.float64)

    return of_weights


def _below(scores: Floats, groups: npt.NDArray[np.intp], thresholds: Floats, n_groups: int) -> Floats:
    """Documents of each group below each threshold, shape (n_groups, n_thresholds)."""
    first_above = np.searchsorted(thresholds, scores, side="right")
    steps = np.bincount(
        groups * (len(thresholds) + 1) + first_above, minlength=n_groups * (len(thresholds) + 1)
    ).reshape(n_groups, -1)
    return np.cumsum(steps, axis=1)[:, : len(thresholds)].astype(np.float64)


def _divided(top: Floats, bottom: Floats) -> Floats:
    """The quotient, NaN where the denominator is 0."""
    quotient = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=quotient, where=bottom > 0.0)
    return quotient
