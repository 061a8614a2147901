"""Reading a whole number as its expectation under the log-probabilities of the first answer token."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from students.parsing import AROUND, Unread

LEAST_MASS: Final = 0.5
"""Least probability that the numbers of the scale must have together; what a model says otherwise is no score."""


def parse_expected(top: Sequence[tuple[str, float]], *, lowest: int, highest: int) -> float | Unread:
    """The mean of the numbers from ``lowest`` to ``highest``, each weighted by its probability as the first token.

    All spellings of a number count together, and the weights are made to add up to one. Where these numbers have less
    than half of the probability, nothing is read.

    Args:
        top: most probable first tokens, with their log-probabilities in nats.
        lowest: least number of the scale, of one digit.
        highest: greatest number of the scale, of one digit.
    """
    if not top:
        return Unread("empty", "no log-probabilities")
    scale = {str(number): number for number in range(lowest, highest + 1)}
    found = [
        (scale[word], math.exp(min(value, 0.0)))
        for token, value in top
        if (word := token.strip(AROUND)) in scale and math.isfinite(value)
    ]
    mass = math.fsum(weight for _, weight in found)
    if mass < LEAST_MASS:
        seen = " ".join(repr(token) for token, _ in top[:5])
        return Unread("unparseable", f"{lowest} to {highest} have {mass:.2f} of the probability: {seen}")
    return math.fsum(number * weight for number, weight in found) / mass
