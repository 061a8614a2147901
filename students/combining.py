"""One judgement out of several samples: the mean, or the winsorised mean, as exact fractions rounded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from students.answers import Reading

Combination = Callable[[Sequence[Fraction]], Fraction]


def mean(values: Sequence[Fraction]) -> Fraction:
    """The arithmetic mean."""
    return sum(values, Fraction(0)) / len(values)


def winsorised_mean(values: Sequence[Fraction]) -> Fraction:
    """The mean with the lowest and the highest value, one each, replaced by their neighbours.

    Of several equal lowest values one is replaced by another, which changes nothing.
    """
    assert len(values) >= 3, "fewer values have no neighbours on either side"
    inner = sorted(values)[1:-1]
    return mean([inner[0], *inner, inner[-1]])


def combined_reading(readings: Sequence[Reading], combine: Combination) -> Reading:
    """One reading of all samples.

    One unread sample fails the judgement; otherwise one that abstains makes it abstain. Parts are averaged; facts are
    those of the first sample.
    """
    for status in ("failed", "abstained"):
        for reading in readings:
            if reading.status == status:
                return reading
    if len(readings) == 1:
        return readings[0]
    score = combine([Fraction(str(reading.score)) for reading in readings])
    parts = {name: float(mean([Fraction(str(each.parts[name])) for each in readings])) for name in readings[0].parts}
    return Reading("scored", float(score), facts=readings[0].facts, parts=parts)
