"""Reading scores and yes/no margins out of answers; what is not unambiguous is no number."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final


@dataclass(frozen=True, slots=True)
class Unread:
    """Why an answer could not be read: ``empty`` or ``unparseable``, and what was seen."""

    reason: str
    seen: str


_NUMBER: Final = r"(?<![\w.,/-])(\d{1,3}(?:\.\d+)?)(?![\w%]|[.,]\d)"
_RATIO = re.compile(_NUMBER + r"\s*(?:/|out of)\s*(\d{1,3})(?![\w%]|[.,]\d)", re.IGNORECASE)
_LABELLED = re.compile(r"\b(?:score|rating)\b[\"'*]*\s*(?:[:=]|is)\s*[\"'*]*\s*" + _NUMBER.replace(r"(?<![\w.,/-])", ""), re.IGNORECASE)
_FENCE = re.compile(r"^```(?:json)?\s*(.*?)\s*```$", re.DOTALL | re.IGNORECASE)


def parse_score(text: str | None, *, scale: int = 10) -> Fraction | Unread:
    """A score from 0 to ``scale`` out of an answer.

    Reads ``8``, ``8/10``, ``4/5`` (0.8 of the scale), ``Score: 8``, ``3 - good`` and JSON with a ``score`` field, fenced
    or not. An answer with two different readings, or with a number outside the scale, is not read.
    """
    if text is None or not text.strip():
        return Unread("empty", "")
    body = text.strip()
    if fence := _FENCE.match(body):
        body = fence[1].strip()
    if body.startswith("{"):
        try:
            value = json.loads(body).get("score")
        except json.JSONDecodeError:
            return Unread("unparseable", body[:200])
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return Unread("unparseable", body[:200])
        body = f"{value}"
    ratios = {_of_scale(Fraction(number), Fraction(whole), scale) for number, whole in _RATIO.findall(body)}
    bare = _RATIO.sub(" ", body)
    labelled = {Fraction(number) for number in _LABELLED.findall(bare)}
    numbers = labelled or {Fraction(number) for number in re.findall(_NUMBER, bare)}
    found = ratios | (numbers if labelled or not ratios else set())
    if len(found) != 1 or None in found:
        return Unread("unparseable", body[:200])
    score = found.pop()
    return score if score is not None and 0 <= score <= scale else Unread("unparseable", body[:200])


def _of_scale(number: Fraction, whole: Fraction, scale: int) -> Fraction | None:
    return number / whole * scale if 0 < whole and number <= whole else None


@dataclass(frozen=True, slots=True)
class YesNo:
    """Log-probabilities in nats of *yes* and *no* as the first answer token."""

    yes: float
    no: float

    @property
    def margin(self) -> float:
        """``yes - no`` in nats; above 0 where *yes* leads."""
        return self.yes - self.no

    @property
    def p_yes(self) -> float:
        """Probability of *yes* against *no*, in [0, 1]."""
        return 1 / (1 + math.exp(-self.margin)) if self.margin > -700 else 0.0


def parse_yes_no(top: Sequence[tuple[str, float]]) -> YesNo | Unread:
    """The yes/no log-probabilities among the most probable first tokens.

    Each word's log-probability is that of all its spellings together. Where only one of the two is listed the other
    is taken at the least probable token listed, which bounds it from above; where neither is, nothing is read.
    """
    if not top:
        return Unread("empty", "no log-probabilities")
    found: dict[str, list[float]] = {"yes": [], "no": []}
    for token, value in top:
        word = token.strip().strip("*_\"'.:,").lower()
        if word in found and math.isfinite(value):
            found[word].append(value)
    if not found["yes"] and not found["no"]:
        return Unread("unparseable", " ".join(repr(token) for token, _ in top[:5]))
    floor = min(value for _, value in top)
    return YesNo(*(_together(found[word]) if found[word] else floor for word in ("yes", "no")))


def _together(values: Sequence[float]) -> float:
    top = max(values)
    return top + math.log(math.fsum(math.exp(value - top) for value in values))
