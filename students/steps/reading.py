"""Reading one step: the probability of ``+`` against ``-``, from log-probabilities or from votes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from students.parsing import AROUND, Unread, YesNo, parse_yes_no, unfenced
from students.weighted import LEAST_MASS

PLUS: Final = "+"
MINUS: Final = "-"
_SIGNS: Final = {"+": "yes", "\uff0b": "yes", "-": "no", "\u2212": "no", "\u2013": "no", "\u2014": "no", "\uff0d": "no"}


@dataclass(frozen=True, slots=True)
class StepRead:
    """What was read about one step.

    Attributes:
        p: probability of ``+`` against ``-``, in [0, 1]; with votes an estimate from their count.
        log_p: its logarithm in nats, at most 0, exact where ``p`` would round to 0 or 1.
        margin: difference of the log-probabilities in nats; None with votes.
    """

    p: float
    log_p: float
    margin: float | None


def parse_sign(top: Sequence[tuple[str, float]]) -> StepRead | Unread:
    """The two signs among the most probable first tokens.

    All spellings of a sign count together. Where only one sign is listed the other is bounded from above, as in
    :func:`~students.parsing.parse_yes_no`. Where both together have less than half of the probability, nothing is
    read: what a model says otherwise is no verdict on a step.

    Args:
        top: most probable first tokens, with their log-probabilities in nats.
    """
    if not top:
        return Unread("empty", "no log-probabilities")
    named = [(_SIGNS.get(token.strip(AROUND), ""), value) for token, value in top]
    mass = math.fsum(math.exp(min(value, 0.0)) for word, value in named if word and math.isfinite(value))
    if mass < LEAST_MASS:
        seen = " ".join(repr(token) for token, _ in top[:5])
        return Unread("unparseable", f"+ and - have {mass:.3f} of the probability: {seen}")
    found = parse_yes_no(named)
    assert isinstance(found, YesNo), "a sign is listed"
    return StepRead(found.p_yes, log_logistic(found.margin), found.margin)


def parse_vote(text: str | None) -> bool | Unread:
    """One vote: whether an answer is ``+``. Anything but one sign alone is not read.

    Args:
        text: the answer.
    """
    if text is None or not text.strip():
        return Unread("empty", "")
    sign = _SIGNS.get(unfenced(text).strip(AROUND))
    return Unread("unparseable", text.strip()[:200]) if sign is None else sign == "yes"


def of_votes(votes: Sequence[bool]) -> StepRead:
    """The estimate that votes amount to: ``(k + 1/2) / (n + 1)``, so that no count is taken for certainty.

    The share itself would be 0 for a step without a vote, and the logarithm of a note's score minus infinity.

    Args:
        votes: at least one.
    """
    # The mean of the Jeffreys posterior: Brown, Cai and DasGupta (2001), Statistical Science 16(2).
    p = (sum(votes) + 0.5) / (len(votes) + 1)
    return StepRead(p, math.log(p), None)


def log_logistic(margin: float) -> float:
    """``log(1 / (1 + exp(-margin)))`` without overflow or loss: at most 0, and finite."""
    return -math.log1p(math.exp(-margin)) if margin > 0 else margin - math.log1p(math.exp(margin))
