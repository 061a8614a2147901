"""What one pair is worth: its credit, and the reward that the search sees."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from lineage.errors import InputError

# Shares of up to 10,000 facts and scores rounded to 0.0001 are exact fractions up to this denominator.
MAX_DENOMINATOR: Final = 10_000


def paired_credit(score: float, twin_score: float) -> float:
    """1 if the flawed document is strictly below its twin, 0.5 if level, 0 if above; stored values compared exactly."""
    if score == twin_score:
        return 0.5
    return 1.0 if score < twin_score else 0.0


def reward(score: float, twin_score: float | None, *, scale: float, margin: float) -> float:
    """What the frontier and the minibatch see for one example, in [0, 1].

    Flawed: half its credit, and half of how far it lies below its twin, in units of ``margin`` and at most 1. Clean:
    its score on its scale. Scores become fractions first and the result is rounded once, so that equal rewards are
    equal floats. A mean of rewards guides the search; it is no rate, and no measure that a gate reads.

    Args:
        score: of the document, in [0, scale].
        twin_score: of its clean twin, in [0, scale]; None for a clean document.
        scale: the highest score, such as 1 or 10.
        margin: m of the plan, in the unit of the scores, above 0.

    Raises:
        InputError: a score is outside its scale, or the scale or the margin is not above 0.
    """
    for name, value in (("scale", scale), ("margin", margin)):
        if not (math.isfinite(value) and value > 0.0):
            raise InputError(f"{name} must be finite and above 0, got {value}")
    for name, value in (("score", score), ("twin_score", 0.0 if twin_score is None else twin_score)):
        if not 0.0 <= value <= scale:
            raise InputError(f"{name} must be in [0, {scale:g}], got {value}; leave a failed example out")
    mine = _fraction(score)
    if twin_score is None:
        return float(mine / _stated(scale))
    twins, unit = _fraction(twin_score), _stated(margin)
    # In whole numbers, which a division rounds once, as it would a fraction: (twin - score) / m is reach / whole.
    reach = (twins.numerator * mine.denominator - mine.numerator * twins.denominator) * unit.denominator
    whole = twins.denominator * mine.denominator * unit.numerator
    credit = round(2 * paired_credit(score, twin_score))
    return (credit * whole + 2 * min(max(reach, 0), whole)) / (4 * whole)


@lru_cache(maxsize=1 << 12)
def _fraction(value: float) -> Fraction:
    """The simple fraction that a decimal stands for: 0.9090909090909091 and 0.909091 are both 10/11."""
    exact = Fraction(repr(float(value)))
    return exact.limit_denominator(MAX_DENOMINATOR) if exact.denominator > MAX_DENOMINATOR else exact


@lru_cache(maxsize=1 << 4)
def _stated(value: float) -> Fraction:
    """A plan's number as it is written."""
    return Fraction(repr(float(value)))
