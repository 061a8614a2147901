"""Alterations of a sentence that make it say something else: numbers, sides, times, negations and opposites."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGITS: Final = re.compile(r"(?<![\w./-])\d{1,4}(?:\.\d)?(?![\d.]*\d|[/-]\d+[/-]\d)")
_TIMES: Final = ("hour", "day", "week", "month", "year")
_TIME: Final = re.compile(r"\b(hour|day|week|month|year)(s?)\b", re.IGNORECASE)

OPPOSITES: Final = (
    ("left", "right", "side"),
    ("left-sided", "right-sided", "side"),
    ("upper", "lower", "side"),
    ("mother", "father", "person"),
    ("brother", "sister", "person"),
    ("son", "daughter", "person"),
    ("husband", "brother", "person"),
    ("wife", "sister", "person"),
    ("denies", "reports", "negation"),
    ("denied", "reported", "negation"),
    ("unable to", "able to", "negation"),
    ("without", "with", "negation"),
    ("never", "often", "negation"),
    ("negative", "positive", "finding"),
    ("normal", "abnormal", "finding"),
    ("absent", "present", "finding"),
    ("mild", "severe", "degree"),
    ("better", "worse", "degree"),
    ("improved", "worsened", "degree"),
    ("improving", "worsening", "degree"),
    ("increase", "reduce", "degree"),
    ("increased", "reduced", "degree"),
    ("high", "low", "degree"),
    ("raised", "lowered", "degree"),
    ("large", "small", "degree"),
    ("start", "stop", "plan"),
    ("started", "stopped", "plan"),
    ("before", "after", "time"),
    ("morning", "evening", "time"),
    ("once", "twice", "frequency"),
    ("daily", "weekly", "frequency"),
)
"""Words that mean the opposite, or another person, side or time; each stands for the other."""
_PAIRED: Final = {word: (other, rule) for a, b, rule in OPPOSITES for word, other in ((a, b), (b, a))}
_WORD: Final = re.compile(
    r"\b(?:" + "|".join(re.escape(word) for word in sorted(_PAIRED, key=len, reverse=True)) + r")\b(?!-)", re.IGNORECASE
)
_NO: Final = re.compile(r"\b(no|nil)\b(?=\s+[a-z])(?!\s+(?:longer|more|change|one)\b)", re.IGNORECASE)
_NOT: Final = re.compile(r"\b(is|are|was|were|does|did|has|have|can|will|should) not\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Alteration:
    """One replacement in a sentence: the span that goes, and what stands there instead."""

    rule: str
    start: int
    end: int
    new: str

    def of(self, sentence: str) -> str:
        """The altered sentence."""
        return sentence[: self.start] + self.new + sentence[self.end :]


def alterations(sentence: str) -> tuple[Alteration, ...]:
    """Every way that is known to make a sentence say something else, in order of their places."""
    found = [*_numbers(sentence), *_times(sentence), *_words(sentence), *_negations(sentence)]
    return tuple(sorted(found, key=lambda each: (each.start, each.end, each.rule, each.new)))


def _numbers(sentence: str) -> Iterator[Alteration]:
    for match in _DIGITS.finditer(sentence):
        value = match.group()
        if "." in value:
            whole, tenths = value.split(".")
            yield Alteration("number", *match.span(), f"{int(whole) + 2}.{tenths}")
        elif int(value):
            number = int(value)
            for changed in sorted({2 * number, number // 2, number + 3} - {number, 0}):
                yield Alteration("number", *match.span(), str(changed))
    for place, word in enumerate(_NUMBERS):
        for match in re.finditer(rf"\b{word}\b(?!-)", sentence, re.IGNORECASE):
            if word == "one" and not re.match(r"\s+(?:tablet|hour|day|week|month|year|dose)", sentence[match.end() :]):
                continue  # "one" is a pronoun more often than a number
            other = _NUMBERS[(place + 3) % len(_NUMBERS)] if place else "four"
            yield Alteration("number", *match.span(), _cased(other, match.group()))


def _times(sentence: str) -> Iterator[Alteration]:
    for match in _TIME.finditer(sentence):
        place = _TIMES.index(match[1].lower())
        other = _TIMES[place + 1 if place + 1 < len(_TIMES) else place - 1] + match[2]
        yield Alteration("time", *match.span(), _cased(other, match.group()))


def _words(sentence: str) -> Iterator[Alteration]:
    for match in _WORD.finditer(sentence):
        other, rule = _PAIRED[match.group().lower()]
        yield Alteration(rule, *match.span(), _cased(other, match.group()))


def _negations(sentence: str) -> Iterator[Alteration]:
    for match in _NO.finditer(sentence):
        yield Alteration("negation", *match.span(), _cased("marked", match.group()))
    for match in _NOT.finditer(sentence):
        yield Alteration("negation", *match.span(), match[1])


def _cased(word: str, like: str) -> str:
    """A word with a capital where another has one."""
    return word[:1].upper() + word[1:] if like[:1].isupper() else word
