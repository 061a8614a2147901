"""Reading answers that give reasons with their score: the line that states the score, and a list of omissions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from students.parsing import ABSTAIN, Abstained, Unread, parse_score, unfenced

_SCORE_LINE: Final = re.compile(r"[\s*_`\"'#>-]*(?:(?:final|overall|total)\s+)?(?:score|rating)\b", re.IGNORECASE)
_OMISSION: Final = re.compile(
    r"(?:[-*\u2022]|\(?\d{1,3}[.):])\s+[\s*_`\[(]*(?P<severity>critical|supporting|peripheral)\b[\s*_`\])]*"
    r"[\s:\u2013\u2014-]*(?P<text>\S.*)",
    re.IGNORECASE,
)
SEVERITIES: Final = ("critical", "supporting", "peripheral")


@dataclass(frozen=True, slots=True)
class ListedOmission:
    """What a judge says that a document leaves out, in its own words, and how severe it takes that to be."""

    severity: str
    text: str


def parse_report(text: str | None, *, scale: int = 10) -> Fraction | Unread | Abstained:
    """The score of an answer that gives reasons too: that of the line, or of equal lines, which begins with *score*.

    Numbers elsewhere are no score. An answer without such a line, as one that was cut short, is not read, nor is one
    with two scores. A JSON object is read by its ``score`` field.
    """
    if text is None or not text.strip():
        return Unread("empty", "")
    body = unfenced(text)
    if body.startswith("{"):
        return parse_score(body, scale=scale)
    lines = [line for line in body.splitlines() if line.strip()]
    if ABSTAIN.fullmatch(lines[-1]):
        return Abstained(lines[-1][:200])
    stated = [parse_score(line, scale=scale) for line in lines if _SCORE_LINE.match(line)]
    for found in stated:
        if not isinstance(found, Fraction):
            return found
    scores = {found for found in stated if isinstance(found, Fraction)}
    if len(scores) != 1:
        seen = f"{len(scores)} scores" if scores else "no line with a score"
        return Unread("unparseable", f"{seen}: {lines[-1]}"[:200])
    return scores.pop()


def listed_omissions(text: str) -> tuple[ListedOmission, ...]:
    """The omissions that an answer lists with a severity; other lines are not looked at."""
    found = (_OMISSION.fullmatch(line.strip()) for line in text.splitlines())
    return tuple(ListedOmission(each["severity"].lower(), each["text"]) for each in found if each is not None)
