"""The area under the ROC curve of a judge, with an interval by group.

References:
    DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44(3): the AUC as a mean of placements.
    Obuchowski (1997), Biometrics 53(2): its variance where documents come in groups.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError
from optimize.stats.detection import NO_FLAWED, scores_of
from optimize.stats.groups import Floats, Groups, group_codes, without_noise
from optimize.stats.influence import GroupInfluence

NO_CLEAN_TO_COMPARE: Final = "there is no clean document to compare with"


def auc(flawed: npt.ArrayLike, clean: npt.ArrayLike, *, flawed_groups: Groups, clean_groups: Groups) -> GroupInfluence:
    """Share of all couples of a flawed and a clean document in which the flawed one has the lower score, ties half.

    It compares documents of different sources too, so it falls where sources differ in how high the judge scores them,
    even if every flawed document is below its own twin. It is of the order of scores alone: a high value does not say
    that any one threshold is good.

    Args:
        flawed: shape (n_flawed,), scores of flawed documents, higher is a better document.
        clean: shape (n_clean,), scores of clean documents on the same scale.
        flawed_groups: shape (n_flawed,), group labels.
        clean_groups: shape (n_clean,), labels of the same type.

    Returns:
        The value in [0, 1], 0.5 at a coin flip, and the influence of each group; ``n`` counts documents.

    Raises:
        InputError: shapes differ, or a score is not finite.
    """
    low, high = scores_of("flawed", flawed), scores_of("clean", clean)
    low_groups, high_groups = np.asarray(flawed_groups), np.asarray(clean_groups)
    if low_groups.shape != low.shape or high_groups.shape != high.shape:
        raise InputError(
            f"each document must have one group, got {len(low)} flawed with {len(low_groups)} groups and {len(high)} "
            f"clean with {len(high_groups)}"
        )
    if not len(low) or not len(high):
        return GroupInfluence.undefined(NO_CLEAN_TO_COMPARE if len(low) else NO_FLAWED, n=len(low) + len(high))
    if low_groups.dtype.kind != high_groups.dtype.kind:
        raise InputError("groups of flawed and clean documents must be labels of one type, such as all strings")
    ranks = np.unique(np.concatenate([low, high]), return_inverse=True)[1]
    return auc_of_ranks(ranks[: len(low)], ranks[len(low) :], flawed_groups=low_groups, clean_groups=high_groups)


def auc_of_ranks(
    flawed: npt.NDArray[np.intp], clean: npt.NDArray[np.intp], *, flawed_groups: Groups, clean_groups: Groups
) -> GroupInfluence:
    """`auc` of scores that are ranked already: equal ranks for equal scores, from 0, in the order of the scores."""
    n_flawed, n_clean = len(flawed), len(clean)
    if not n_flawed or not n_clean:
        return GroupInfluence.undefined(NO_CLEAN_TO_COMPARE if n_flawed else NO_FLAWED, n=n_flawed + n_clean)
    # The placement of a document: the share of those of the other class that it is on the right side of.
    of_clean = _below(flawed, highest=max(flawed.max(), clean.max()))[clean] / n_flawed
    of_flawed = 1.0 - _below(clean, highest=max(flawed.max(), clean.max()))[flawed] / n_clean
    value = float(of_clean.mean())
    coded = group_codes(np.concatenate([flawed_groups, clean_groups]))
    influence = coded.totals(np.concatenate([(of_flawed - value) / n_flawed, (of_clean - value) / n_clean]))
    return GroupInfluence(
        value, coded.names, without_noise(influence, scale=1.0 / min(n_flawed, n_clean)), n_flawed + n_clean
    )


def _below(ranks: npt.NDArray[np.intp], *, highest: int) -> Floats:
    """How many of some ranks lie below each rank from 0 to ``highest``, ties half."""
    counts = np.bincount(ranks, minlength=highest + 1)
    return np.asarray(np.cumsum(counts) - counts / 2.0, dtype=np.float64)
