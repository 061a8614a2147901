"""Measures of how one candidate orders scored examples: paired discrimination, AUC, coverage, score compression.

With replicates, credit and AUC are computed within each replicate and then averaged. Scores are never averaged: an
average breaks ties, and is another judge.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from optimize.objectives.discrimination import METHOD
from optimize.objectives.measures import Measure, Resampling, influence_measure, ratio_measure
from optimize.objectives.scored import ScoredExamples
from optimize.stats.compression import ScoreCompression, score_compression
from optimize.stats.group_statistics import auc_statistic, mean_statistic
from optimize.stats.influence import mean_of
from optimize.stats.resampling import GroupStatistic
from optimize.stats.roc import auc_of_ranks

NO_TWINS: Final = "no flawed document names a clean twin"
NO_SCORED_PAIR: Final = "no pair has a score in both of its documents"


def discrimination_measure(scored: ScoredExamples, *, level: float = 0.95) -> Measure:
    """Paired discrimination: share of flawed documents below their own twin, ties half; 0.5 is a coin flip.

    Credit is computed within each replicate, averaged per pair over the replicates that are scored in both documents,
    and then over pairs. It says how often a judge orders a document and its twin rightly, not whether it would flag
    either.
    """
    rows = scored.paired & scored.flawed
    credit = scored.credit[rows]
    scored_in = ~np.isnan(credit)
    times = scored_in.sum(axis=1)
    kept = times > 0
    values = np.where(scored_in, credit, 0.0).sum(axis=1)[kept] / times[kept]
    groups = scored.groups.codes[rows][kept]
    reason = "" if len(values) else (NO_SCORED_PAIR if rows.any() else NO_TWINS)
    outcomes = credit[scored_in]
    return ratio_measure(
        "paired discrimination",
        METHOD,
        values,
        groups,
        level=level,
        counted=tuple(
            (name, int(np.count_nonzero(outcomes == worth)))
            for name, worth in (("wins", 1.0), ("ties", 0.5), ("losses", 0.0))
        ),
        unit="pairs",
        n_failed=int((~scored_in).sum()),
        reason=reason,
    )


def auc(scored: ScoredExamples, *, level: float = 0.95) -> Measure:
    """AUC: share of all couples of a flawed and a clean document in the right order, ties half; 0.5 is a coin flip.

    It compares documents across groups, so it falls where the judge scores one source higher than another; paired
    discrimination does not. Averaged over replicates, each on the documents scored in it.
    """
    known = ~np.isnan(scored.scores)
    ranks, codes = scored.ranks, scored.groups.codes
    rows = [(known[:, column] & scored.flawed, known[:, column] & scored.clean) for column in range(known.shape[1])]
    parts = [
        auc_of_ranks(ranks[low, column], ranks[high, column], flawed_groups=codes[low], clean_groups=codes[high])
        for column, (low, high) in enumerate(rows)
    ]
    defined = [column for column, part in enumerate(parts) if not part.reason]
    influence = mean_of([parts[column] for column in defined]) if defined else parts[0]

    def statistic() -> GroupStatistic:
        each = []
        for column in defined:
            low, high = rows[column]
            each.append(
                auc_statistic(
                    scored.scores[low, column],
                    scored.scores[high, column],
                    flawed_groups=np.searchsorted(influence.names, codes[low]),
                    clean_groups=np.searchsorted(influence.names, codes[high]),
                    n_groups=influence.n_groups,
                )
            )
        return mean_statistic(*each)

    some = known.any(axis=1)
    n_flawed, n_clean = int((some & scored.flawed).sum()), int((some & scored.clean).sum())
    return influence_measure(
        "AUC",
        "all couples of a flawed and a clean document, ties half, within each replicate",
        influence,
        level=level,
        counted=(("flawed", n_flawed), ("clean", n_clean)),
        n=n_flawed + n_clean,
        unit="documents",
        n_failed=int((~known).sum()),
        resampling=Resampling(influence.names, statistic),
    )


def pair_coverage(scored: ScoredExamples, *, level: float = 0.95) -> Measure:
    """Share of planned pairs, times replicates, that have a score in both documents, in [0, 1].

    High coverage does not make failures harmless: they may all be of the hardest documents.
    """
    rows = scored.paired & scored.flawed
    present = (~np.isnan(scored.credit[rows])).astype(np.float64)
    groups = np.repeat(scored.groups.codes[rows], present.shape[1])
    return ratio_measure(
        "coverage",
        "planned pairs, times replicates, with a score in both documents",
        present.ravel(),
        groups,
        level=level,
        counted=(("scored", int(present.sum())),),
        unit="planned pairs, times replicates",
        n_failed=int(present.size - present.sum()),
        reason="" if present.size else NO_TWINS,
    )


def compression(scored: ScoredExamples, *, level: float = 0.95) -> ScoreCompression:
    """How few values the scores have, and how many pairs are level; see `ScoreCompression`."""
    rows = scored.paired & scored.flawed
    credit = scored.credit[rows]
    known = ~np.isnan(credit)
    groups = np.broadcast_to(scored.groups.codes[rows][:, None], credit.shape)[known]
    return score_compression(
        scored.scores[~np.isnan(scored.scores)], tied=credit[known] == 0.5, pair_groups=groups, level=level
    )
