"""Transfer: the same measures on injected errors and on errors that were made independently, and their difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from optimize.stats import Estimate, GroupInfluence, Interval, difference
from optimize.steps.localisation import below_threshold, step_auc
from optimize.steps.preference import preference_influence, ways
from optimize.steps.scored import ScoredSteps
from splits.steps import RIGHT, WRONG
from students.steps import Aggregation

WELCH: Final = "linearised t interval by group, Welch"
CAVEAT: Final = (
    "Accuracy on errors that were injected by rules overstates: the rules are known to whoever built the data. The "
    "figures to read are those on independently made errors."
)
TEXT: Final = ("problem", "sentence")
"""Kinds of steps that say something: those for which most corpora have labels."""


@dataclass(frozen=True, slots=True)
class TransferGap:
    """One measure on two corpora.

    The corpora differ in more than who made the errors: sources, lengths and kinds of errors too. The gap is that of
    all of it together.

    Attributes:
        measure: what is measured.
        injected: on injected errors.
        independent: on independently made ones.
        gap: the second less the first, with its interval by group; either is undefined where one of the two is.
        to: name of the corpus with independently made errors.
    """

    measure: str
    injected: Estimate
    independent: Estimate
    gap: Estimate
    to: str


def transfer_gaps(
    injected: ScoredSteps, independent: ScoredSteps, *, aggregation: Aggregation, level: float = 0.95
) -> tuple[TransferGap, ...]:
    """The gap of every measure that both corpora have.

    Args:
        injected: judgements of notes with injected errors.
        independent: judgements of notes with others.
        aggregation: how steps make scores.
        level: in (0, 1), of the intervals.
    """
    # One measure on both: against twins here and by the rates that people gave there would be two.
    by = next((way for way in ways(injected) if way in ways(independent)), "twin")
    here, there = _measures(injected, aggregation, by), _measures(independent, aggregation, by)
    gaps = []
    for name in here:
        mine, other = here[name](), there[name]()
        gap = _gap(mine, other, level=level)
        gaps.append(TransferGap(name, mine.estimate(level=level), other.estimate(level=level), gap, independent.name))
    return tuple(gaps)


def _gap(mine: GroupInfluence, other: GroupInfluence, *, level: float) -> Estimate:
    """The second less the first: group by group where they share groups, and as of two samples where they do not.

    A corpus of one group, or whose groups all agree, has an error that cannot be seen, and is not without one.
    """
    if reason := other.reason or mine.reason:
        return GroupInfluence.undefined(reason, n=max(mine.n, other.n)).estimate(level=level)
    paired = difference(other, mine).estimate(level=level)
    if reason := other.obstacle or mine.obstacle:
        interval = Interval.undefined(reason, level=level, method=WELCH, n_groups=paired.n_groups)
    elif set(mine.names) & set(other.names):
        return paired
    else:
        # Welch (1947), Biometrika 34(1-2): each variance with its own degrees of freedom.
        parts = [(each.standard_error**2, each.n_groups - 1) for each in (mine, other)]
        variance = sum(part for part, _ in parts)
        freedom = variance**2 / sum(part**2 / df for part, df in parts)
        reach = -float(special.stdtrit(freedom, (1.0 - level) / 2.0)) * float(np.sqrt(variance))
        interval = Interval(paired.value - reach, paired.value + reach, level, WELCH, paired.n_groups)
    return Estimate(paired.value, interval, paired.n, paired.n_groups)


def _measures(scored: ScoredSteps, aggregation: Aggregation, by: str) -> Mapping[str, Callable[[], GroupInfluence]]:
    return {
        "preference accuracy": lambda: preference_influence(scored, aggregation=aggregation, by=by),
        "AUC of statements in flawed notes": lambda: step_auc(scored, kinds=TEXT, flawed_only=True),
        "recall of wrong statements": lambda: below_threshold(scored, label=WRONG, kinds=TEXT),
        "false alarms on right statements": lambda: below_threshold(scored, label=RIGHT, kinds=TEXT),
    }
