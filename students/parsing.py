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


@dataclass(frozen=True, slots=True)
class Abstained:
    """The judge said that it cannot judge, and how: with the contract word ``ABSTAIN``, or a JSON null."""

    seen: str


ABSTAIN: Final = re.compile(
    r"[\s*_`\"']*(?:score\s*[:=][\s*_`\"']*)?ABSTAIN[\s*_`\"'.]*(?:[-:(,\n][^\d]*)?", re.IGNORECASE
)
"""An answer that abstains: the contract word, alone or with a reason after it that holds no number."""


_DIGITS: Final = r"(\d{1,3}(?:\.\d{1,9})?)(?![\w%]|[.,]\d|\s*%)"
_START: Final = r"(?<![\w.,/-])"
_OF: Final = r"\s*(?:points?\s*)?\(?(?:/|out of)\s*"
_ALONE: Final = _DIGITS + r"(?!\s*-\s*\d|" + _OF + ")"
"""A number that begins neither a range nor a ratio."""
_RATIO = re.compile(_START + _DIGITS + _OF + _DIGITS + r"(?!\s*[-/]\s*\d)", re.IGNORECASE)
_BARE = re.compile(_START + _ALONE, re.IGNORECASE)
_LABELLED = re.compile(
    r"(?<!max )(?<!maximum )(?<!possible )(?<!highest )(?<!best )(?<!perfect )\b(?:score|rating)\b[\"']*"
    r"\s*(?:[:=]|is)\s*[\"']*\s*" + _ALONE + r"(?!\s*(?:to|or)\s*\d)",
    re.IGNORECASE,
)
_DASHES: Final = str.maketrans("\u2010\u2011\u2012\u2013\u2014\u2212", "------")
_FENCE = re.compile(r"^```(?:json)?\s*(.*?)\s*```$", re.DOTALL | re.IGNORECASE)


def parse_score(text: str | None, *, scale: int = 10) -> Fraction | Unread | Abstained:
    """A score from 0 to ``scale`` out of an answer.

    Reads ``8``, ``8/10``, ``4/5`` (0.8 of the scale), ``Score: 8``, ``3 - good`` and JSON with a ``score`` field,
    fenced or not. An answer with two different readings, a range, or a number outside the scale is not read. The word
    ``ABSTAIN`` and a ``score`` of null are no score.
    """
    if text is None or not text.strip():
        return Unread("empty", "")
    body = unfenced(text)
    if ABSTAIN.fullmatch(body.translate(_DASHES)):
        return Abstained(body[:200])
    if body.startswith("{"):
        try:
            fields = json.loads(body, object_pairs_hook=without_repeats)
            value = fields.get("score")
            if "score" in fields and (value is None or str(value).strip().upper() == "ABSTAIN"):
                return Abstained(body[:200])
        except (ValueError, RecursionError):  # what is no JSON, and numbers or nesting that Python refuses
            return Unread("unparseable", body[:200])
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return Unread("unparseable", body[:200])
        body = f"{value}"
    plain = re.sub(r"(?<=\S)([^\S\n]*)-[^\S\n]+(?=\d)", r"\1-", re.sub(r"[*`]", " ", body.translate(_DASHES)))
    ratios = {_of_scale(Fraction(number), Fraction(whole), scale) for number, whole in _RATIO.findall(plain)}
    bare = _RATIO.sub(" ", plain)
    labelled = {Fraction(number) for number in _LABELLED.findall(bare)}
    numbers = labelled or {Fraction(number) for number in _BARE.findall(bare)}
    found = ratios | (numbers if labelled or not ratios else set())
    if len(found) != 1 or None in found:
        return Unread("unparseable", body[:200])
    score = found.pop()
    return score if score is not None and 0 <= score <= scale else Unread("unparseable", body[:200])


def unfenced(text: str) -> str:
    """The text without white space and one code fence around the whole of it."""
    body = text.strip()
    fence = _FENCE.match(body)
    return fence[1].strip() if fence else body


def _of_scale(number: Fraction, whole: Fraction, scale: int) -> Fraction | None:
    return number / whole * scale if whole > 0 and number <= whole else None


def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The fields of a JSON object, as ``object_pairs_hook``.

    Raises:
        ValueError: a field stands twice.
    """
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


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
        return logistic(self.margin)


AROUND: Final = " \t\r\n*_\"'.:,\u2581\u0120"
"""What a tokenizer or a model puts around a word: white space, also as SentencePiece and BPE write it, and marks."""
LEAST_LEFT_OVER: Final = 1e-7
"""Least probability that a list can leave over, as 32-bit log-probabilities resolve no less."""


def logistic(margin: float) -> float:
    """``1 / (1 + exp(-margin))``, without overflow."""
    return 1 / (1 + math.exp(-margin)) if margin > -700 else 0.0


def parse_yes_no(top: Sequence[tuple[str, float]]) -> YesNo | Unread:
    """The yes/no log-probabilities among the most probable first tokens.

    Each word's log-probability is that of all its spellings together. Where only one of the two is listed the other
    is taken at the least probable token listed, or at the probability that the list leaves over where that is less:
    both bound it from above. Where neither is listed, nothing is read.
    """
    if not top:
        return Unread("empty", "no log-probabilities")
    found: dict[str, list[float]] = {"yes": [], "no": []}
    for token, value in top:
        word = token.strip(AROUND).lower()
        if word in found and math.isfinite(value):
            found[word].append(value)
    if not found["yes"] and not found["no"]:
        return Unread("unparseable", " ".join(repr(token) for token, _ in top[:5]))
    values = [value for _, value in top if math.isfinite(value)]
    left_over = 1 - math.fsum(math.exp(min(value, 0.0)) for value in values)
    floor = min(*values, math.log(max(left_over, LEAST_LEFT_OVER)))
    return YesNo(*(_together(found[word]) if found[word] else floor for word in ("yes", "no")))


def _together(values: Sequence[float]) -> float:
    top = max(values)
    return top + math.log(math.fsum(math.exp(value - top) for value in values))
