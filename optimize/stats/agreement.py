"""Agreement of two raters beyond chance: Cohen's kappa, weighted or not, and Gwet's AC1.

Ratings are given as a table of counts, rows the first rater's category and columns the second's, or as one such table
for each group of items.

References:
    Cohen (1968), Psychological Bulletin 70(4): weighted kappa.
    Fleiss, Cohen and Everitt (1969), Psychological Bulletin 72(5): its large-sample variance.
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61(1): AC1 and its variance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError
from optimize.stats.groups import Floats, Groups, without_noise
from optimize.stats.influence import GroupInfluence
from optimize.stats.results import NO_PAIRS, Interval, check_level

Weights = Literal["linear", "quadratic"]
Matrix = Sequence[Sequence[int]] | npt.NDArray[Any]

ONE_CATEGORY: Final = "both raters gave one category throughout, so agreement by chance is certain"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two raters beyond chance: (observed - expected) / (1 - expected).

    It is of these items: kappa falls where one category is rare even if the raters are as good, and says nothing of
    who is right. Two raters who share a mistake agree.

    Attributes:
        value: at most 1, 0 at chance, negative below it; NaN where undefined.
        observed: share of items agreed on, in [0, 1]; under weights, the mean credit of an item.
        expected: the same by chance, in [0, 1].
        interval: linearised, by group; where no groups were given, each item is its own.
        method: which coefficient, in words.
        n: items rated by both.
        n_groups: independent units behind the interval.
        reason: why the value is undefined; empty where it is defined.
    """

    value: float
    observed: float
    expected: float
    interval: Interval
    method: str
    n: int
    n_groups: int
    reason: str = ""

    def __post_init__(self) -> None:
        assert math.isnan(self.value) == bool(self.reason), "NaN and a reason go together"

    def __str__(self) -> str:
        if self.reason:
            return f"{self.method} undefined: {self.reason}; {self.n} items"
        return (
            f"{self.method} {self.value:.3f}, observed {self.observed:.3f}, expected by chance {self.expected:.3f}, "
            f"interval {self.interval}, {self.n} items in {self.n_groups} groups"
        )


def rating_table(
    first: Sequence[str] | npt.NDArray[Any],
    second: Sequence[str] | npt.NDArray[Any],
    *,
    categories: Sequence[str],
    groups: Groups | None = None,
) -> npt.NDArray[np.int64]:
    """Counts of items by the two raters' categories.

    Args:
        first: shape (n,), the first rater's category of each item.
        second: shape (n,), the second's.
        categories: all categories in their order, which weights need; one that nobody used still counts.
        groups: shape (n,), group labels; None for items that are independent.

    Returns:
        Shape (k, k), or (n_groups, k, k) with groups in sorted order.

    Raises:
        InputError: shapes differ, or a rating is not among the categories.
    """
    if len(set(categories)) != len(categories):
        raise InputError(f"categories must be distinct, got {list(categories)}")
    place, k = {name: code for code, name in enumerate(categories)}, len(categories)
    labels = np.zeros(len(first), dtype=np.intp) if groups is None else np.asarray(groups)
    if not len(first) == len(second) == len(labels):
        raise InputError(
            f"first, second and groups must be of one length, got {len(first)}, {len(second)} and {len(labels)}"
        )
    for rating in (*first, *second):
        if rating not in place:
            raise InputError(f"rating {rating!r} is not among the categories {list(categories)}; leave the item out")
    names, codes = np.unique(labels, return_inverse=True)
    cells = [place[a] * k + place[b] for a, b in zip(first, second, strict=True)]
    counts = np.bincount(codes * k * k + np.array(cells, dtype=np.intp), minlength=len(names) * k * k)
    tables = counts.reshape(len(names), k, k)
    return tables.sum(axis=0) if groups is None else tables


def cohen_kappa(matrix: Matrix, *, weights: Weights | None = None, level: float = 0.95) -> Agreement:
    """Cohen's kappa.

    Args:
        matrix: counts of shape (k, k), or (n_groups, k, k) for items that come in groups.
        weights: None counts exact agreement; ``linear`` and ``quadratic`` give partial credit by the distance of two
            ordered categories, of 1 - d/(k-1) or 1 - (d/(k-1))**2.
        level: in (0, 1), of the interval.

    Raises:
        InputError: the matrix is not square or holds no counts, the weights are unknown, or the level is outside
            (0, 1).
    """
    check_level(level)
    tables, independent = _tables(matrix)
    k = tables.shape[-1]
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k))) / max(k - 1, 1)
    if weights is None:
        credit = np.eye(k)
    elif weights in ("linear", "quadratic"):
        credit = 1.0 - distance ** (1 if weights == "linear" else 2)
    else:
        raise InputError(f"weights must be None, 'linear' or 'quadratic', got {weights!r}")
    method = f"Cohen's kappa, {'unweighted' if weights is None else f'{weights} weights'}"
    n = float(tables.sum())
    if not n:
        return _undefined(NO_PAIRS, math.nan, math.nan, 0, method, level)
    shares = tables.sum(axis=0) / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = float((credit * shares).sum()), float(rows @ credit @ columns)
    if math.isclose(expected, 1.0):
        return _undefined(ONE_CATEGORY, observed, expected, int(n), method, level)
    value = (observed - expected) / (1.0 - expected)
    # The variance of Fleiss, Cohen and Everitt (1969) is the mean square of this influence of an item in each cell.
    chance = (credit @ columns)[:, None] + (rows @ credit)[None, :]
    influence = (credit - observed - (1.0 - value) * (chance - 2.0 * expected)) / (1.0 - expected)
    return _agreement(value, observed, expected, influence, tables, independent, method, level)


def gwet_ac1(matrix: Matrix, *, level: float = 0.95) -> Agreement:
    """Gwet's AC1: agreement by chance only among items that are hard to rate, so that a rare category matters less.

    Args:
        matrix: counts of shape (k, k), or (n_groups, k, k) for items that come in groups. k counts all categories
            that were offered, used or not.
        level: in (0, 1), of the interval.

    Raises:
        InputError: the matrix is not square, has fewer than two categories or holds no counts, or the level is outside
            (0, 1).
    """
    check_level(level)
    tables, independent = _tables(matrix)
    k = tables.shape[-1]
    if k < 2:
        raise InputError(f"matrix must have at least two categories, got {k}; AC1 counts those offered, used or not")
    method = "Gwet's AC1"
    n = float(tables.sum())
    if not n:
        return _undefined(NO_PAIRS, math.nan, math.nan, 0, method, level)
    shares = tables.sum(axis=0) / n
    use = (shares.sum(axis=1) + shares.sum(axis=0)) / 2.0
    observed, expected = float(np.trace(shares)), float((use * (1.0 - use)).sum()) / (k - 1)
    value = (observed - expected) / (1.0 - expected)
    # The addends of the variance of Gwet (2008), by cell: an item has one category from each rater.
    unused = (1.0 - use) / (k - 1)
    chance = (unused[:, None] + unused[None, :]) / 2.0
    influence = (np.eye(k) - observed - 2.0 * (1.0 - value) * (chance - expected)) / (1.0 - expected)
    return _agreement(value, observed, expected, influence, tables, independent, method, level)


def _tables(matrix: Matrix) -> tuple[npt.NDArray[np.int64], bool]:
    """Counts of shape (n_groups, k, k), and whether items are independent."""
    counts = np.asarray(matrix)
    if counts.ndim not in (2, 3) or counts.shape[-1] != counts.shape[-2] or not counts.shape[-1]:
        raise InputError(f"matrix must be of shape (k, k) or (n_groups, k, k), got {counts.shape}")
    if (counts < 0).any() or (counts != np.floor(counts)).any():
        raise InputError("matrix must hold whole counts of at least 0; count items, not shares")
    return np.atleast_3d(counts).reshape(-1, *counts.shape[-2:]).astype(np.int64), counts.ndim == 2


def _agreement(
    value: float,
    observed: float,
    expected: float,
    influence: Floats,
    tables: npt.NDArray[np.int64],
    independent: bool,
    method: str,
    level: float,
) -> Agreement:
    """The result, its interval over groups, or over items where every item is its own group."""
    n = int(tables.sum())
    if independent:
        addends = np.repeat(influence.ravel(), tables.ravel())
    else:
        addends = np.einsum("gij,ij->g", tables[tables.any(axis=(1, 2))], influence)
    spread = GroupInfluence(value, np.arange(len(addends)), without_noise(addends, scale=1.0) / n, n)
    return Agreement(value, observed, expected, spread.interval(level=level), method, n, spread.n_groups)


def _undefined(reason: str, observed: float, expected: float, n: int, method: str, level: float) -> Agreement:
    interval = Interval.undefined(reason, level=level, method=method, n_groups=n)
    return Agreement(math.nan, observed, expected, interval, method, n, n, reason)
