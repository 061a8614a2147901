"""Replicated yes/no decisions and scores: one flag a document by strict majority, and the score that decides it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError
from optimize.stats.groups import Floats


def check_odd(replicates: int) -> None:
    """Refuse a number of replicates from which no strict majority follows.

    Raises:
        InputError: the number is even, or below 1.
    """
    if replicates < 1 or replicates % 2 == 0:
        raise InputError(
            f"replicates must be odd for flags by strict majority, got {replicates}: a document flagged in half of "
            f"them is neither; run {replicates + 1}, or read the first {max(replicates - 1, 1)} of them in both arms"
        )


def majority_flags(flags: npt.ArrayLike) -> Floats:
    """Whether a strict majority of all replicates flags a document, 1 or 0; NaN where the scored ones do not decide.

    A missing replicate is no vote: of three replicates with one missing, two equal votes decide and a split does not.

    Args:
        flags: shape (n,) or (n, n_replicates), 0 or 1, NaN where the judgement has no score.

    Raises:
        InputError: the number of replicates is even, or a flag is neither 0, 1 nor NaN.
    """
    votes = np.asarray(flags, dtype=np.float64)
    votes = votes[:, None] if votes.ndim == 1 else votes
    if votes.ndim != 2:
        raise InputError(f"flags must be of shape (n,) or (n, n_replicates), got {votes.shape}")
    if not np.isin(votes[~np.isnan(votes)], (0.0, 1.0)).all():
        raise InputError("flags must be 0, 1 or NaN; compare scores with a threshold first")
    replicates = votes.shape[1]
    check_odd(replicates)
    for_it, against = (votes == 1.0).sum(axis=1), (votes == 0.0).sum(axis=1)
    return np.where(2 * for_it > replicates, 1.0, np.where(2 * against > replicates, 0.0, np.nan))


def majority_scores(scores: npt.ArrayLike) -> Floats:
    """The score that decides a document's majority flag at every threshold: the middle one of its replicates.

    More than half of an odd number of scores lie below a threshold exactly where their median does, so a sweep over
    these scores is a sweep over majority flags. It is no mean: an averaged score breaks ties.

    Args:
        scores: shape (n,) or (n, n_replicates), NaN where the judgement has no score.

    Returns:
        Shape (n,); NaN for a document that lacks a replicate, as no threshold sweep can place it.

    Raises:
        InputError: the number of replicates is even.
    """
    values = np.asarray(scores, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2:
        raise InputError(f"scores must be of shape (n,) or (n, n_replicates), got {values.shape}")
    check_odd(values.shape[1])
    if values.shape[1] == 1:
        return values[:, 0]
    # NaN sorts last and is the middle one only where more than half are missing, so it is looked for.
    middle = np.sort(values, axis=1)[:, values.shape[1] // 2]
    return np.where(np.isnan(values).any(axis=1), np.nan, middle)
