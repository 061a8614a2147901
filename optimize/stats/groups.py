"""Groups of observations: labels as codes, and totals of a quantity in each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Groups = Sequence[str] | Sequence[int] | npt.NDArray[Any]

ROUNDING: Final = 1e-10
"""Sums of at most some thousand values of one magnitude are exact to far better than this share of that magnitude."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupCodes:
    """Groups of observations as codes.

    Attributes:
        names: shape (n_groups,), the labels that occur, sorted.
        codes: shape (n,), positions in ``names``.
    """

    names: npt.NDArray[Any]
    codes: npt.NDArray[np.intp]

    def totals(self, values: Floats) -> Floats:
        """Sum of a quantity in each group, shape (n_groups,)."""
        return np.bincount(self.codes, weights=values, minlength=len(self.names)).astype(np.float64)


def group_codes(groups: Groups) -> GroupCodes:
    """Codes of group labels, shape (n,); labels of one type.

    Small whole numbers, as of labels that are codes already, are counted rather than sorted.
    """
    labels: npt.NDArray[Any] = np.asarray(groups)
    if labels.dtype.kind in "iu" and len(labels) and labels.min() >= 0 and labels.max() < 4 * len(labels) + 1024:
        found = np.bincount(labels) > 0
        return GroupCodes(np.flatnonzero(found), (np.cumsum(found) - 1)[labels])
    names, codes = np.unique(labels, return_inverse=True)
    return GroupCodes(names, codes)


def without_noise(residuals: Floats, *, scale: float) -> Floats:
    """Residuals with what is rounding noise beside ``scale`` set to exactly 0."""
    return np.where(np.abs(residuals) <= ROUNDING * scale, 0.0, residuals)
