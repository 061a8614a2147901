"""From steps to a note: the sum of logs, and other aggregations beside it, each mapped to a score in [0, 1].

A mapping keeps the order of notes: a higher score is a better note under each aggregation, and 1 is reached only if
every step is certainly right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Final, Literal, get_args

from lineage.errors import InputError
from students.steps.reading import StepRead

Aggregation = Literal["sum", "length-normalised", "minimum", "mean"]
AGGREGATIONS: Final[tuple[Aggregation, ...]] = get_args(Aggregation)
ROUNDED: Final = 6
"""Decimals to which scores are stored; comparisons use the stored score."""


def sum_of_logs(reads: Sequence[StepRead]) -> float:
    """Log-probability in nats that all steps are right, were they independent; at most 0, lower with every step."""
    return math.fsum(read.log_p for read in reads)


def aggregated(reads: Sequence[StepRead], aggregation: Aggregation) -> float:
    """The score of a note, in [0, 1], rounded as it is stored; higher is better.

    ``sum``: ``1 / (1 - S)`` of the sum of logs S, which orders notes as S does and does not vanish for long ones, as
    ``exp(S)`` would. ``length-normalised``: ``exp(S / n)``, the geometric mean. ``minimum`` and ``mean``: of P(+).
    The sum falls with every further step, so a longer note scores lower at equal quality; no score is a probability
    that the note is right.

    Args:
        reads: of every step; one unread step leaves a note without a score.
        aggregation: one of :data:`AGGREGATIONS`.

    Raises:
        InputError: there is no step, or no such aggregation.
    """
    if not reads:
        raise InputError("a note's score is undefined without steps; give the reads of at least one")
    if aggregation not in AGGREGATIONS:
        raise InputError(f"aggregation must be one of {', '.join(AGGREGATIONS)}, got {aggregation!r}")
    return round(min(max(_SCORES[aggregation](reads), 0.0), 1.0), ROUNDED)


def beside(reads: Sequence[StepRead]) -> dict[str, float]:
    """Numbers that stand beside a note's score: steps, the sum of logs in nats, and the score of every aggregation."""
    scores: dict[str, float] = {aggregation: aggregated(reads, aggregation) for aggregation in AGGREGATIONS}
    return {"steps": float(len(reads)), "sum_of_logs": round(sum_of_logs(reads), ROUNDED), **scores}


_SCORES: Final[Mapping[Aggregation, Callable[[Sequence[StepRead]], float]]] = {
    "sum": lambda reads: 1.0 / (1.0 - sum_of_logs(reads)),
    "length-normalised": lambda reads: math.exp(sum_of_logs(reads) / len(reads)),
    "minimum": lambda reads: min(read.p for read in reads),
    "mean": lambda reads: fmean(read.p for read in reads),
}
