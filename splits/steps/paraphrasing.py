"""Paraphrases of right steps: other words for the same, by rules that keep the meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from splits.steps.comparing import step_difference
from splits.steps.cutting import SteppedNote, cut

_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_UNITS: Final = r"(?=[ -](?:hour|day|week|month|year|time|tablet|dose|pint|unit)s?\b)"

SAME: Final = (
    ("twice daily", "twice a day"),
    ("once daily", "once a day"),
    ("three times daily", "three times a day"),
    ("due to", "because of"),
    ("advised to", "told to"),
    ("unable to", "not able to"),
    ("hypertension", "high blood pressure"),
    ("shortness of breath", "breathlessness"),
    ("no known allergies", "no allergies known"),
    ("no regular medicines", "no regular medication"),
    ("the emergency department", "A&E"),
    ("over the last", "during the last"),
    ("over the past", "during the past"),
    ("states that", "says that"),
    ("physical exam", "physical examination"),
)
"""Words that mean the same, each to be taken for the other."""
PLAINER: Final = (
    ("approximately", "about"),
    ("prior to", "before"),
    ("currently", "at present"),
    ("widespread", "extensive"),
    ("probable", "likely"),
    ("reports that", "says that"),
    ("denies", "does not report"),
    ("medications", "medicines"),
    ("follow-up", "follow up"),
    ("for pain", "for the pain"),
    ("if worse", "if it gets worse"),
    ("nausea and vomiting", "vomiting and nausea"),
    ("GP", "general practitioner"),
    ("BP", "blood pressure"),
)
"""Words to be taken for others, which are too common, or mean too much else, to be taken for them."""
_FOR: Final = {a.lower(): b for a, b in (*SAME, *PLAINER)} | {b.lower(): a for a, b in SAME}
_PHRASE: Final = re.compile(
    r"(?<![\w&-])(?:" + "|".join(re.escape(text) for text in sorted(_FOR, key=len, reverse=True)) + r")(?![\w&-])",
    re.IGNORECASE,
)
_NUMBER_WORD: Final = re.compile(r"\b(" + "|".join(_NUMBERS) + r")\b" + _UNITS, re.IGNORECASE)
_NUMBER: Final = re.compile(r"(?<![\w./-])(1[0-2]|[1-9])" + _UNITS)
_MILLI: Final = re.compile(r"(?<=\d) ?(mg|ml)\b(?!/)")
_LONG: Final = {"mg": "milligrams", "ml": "millilitres"}


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A note that says the same in other words.

    Attributes:
        document: the note.
        places: of the steps that were put into other words, among those that hold text, from 0.
    """

    document: str
    places: tuple[int, ...]


def wordings(sentence: str) -> tuple[str, ...]:
    """A sentence in other words, once for each place where there are some."""
    found = []
    for match in _PHRASE.finditer(sentence):
        other = _cased(_FOR[match.group().lower()], match.group())
        found.append((match.start(), _put(sentence, match, other)))
    for match in _NUMBER_WORD.finditer(sentence):
        found.append((match.start(), _put(sentence, match, str(_NUMBERS.index(match[1].lower()) + 1))))
    for match in _NUMBER.finditer(sentence):
        word = _NUMBERS[int(match[1]) - 1]
        found.append((match.start(), _put(sentence, match, word if match.start() else word.capitalize())))
    for match in _MILLI.finditer(sentence):
        found.append((match.start(), _put(sentence, match, f" {_LONG[match[1]]}")))
    return tuple(dict.fromkeys(text for _, text in sorted(found)))


def paraphrase(note: SteppedNote, *, share: float = 0.5, rng: np.random.Generator) -> Paraphrase | None:
    """A note with some of its sentences in other words; None where no sentence has any.

    Args:
        note: the note, cut finely.
        share: of the sentences that have other words, those that get them; at least one does.
        rng: source of all randomness.
    """
    options = {
        place: said
        for place, step in enumerate(note.texts)
        if step.kind == "sentence" and (said := _kept(note, place, wordings(step.raw)))
    }
    if not options:
        return None
    count = max(1, round(share * len(options)))
    chosen = sorted(rng.choice(sorted(options), size=count, replace=False).tolist())
    texts = [step.raw for step in note.texts]
    for place in chosen:
        texts[place] = options[place][int(rng.integers(len(options[place])))]
    document = "".join(texts)
    difference = step_difference(cut(document), note)
    if len(difference.altered) != len(chosen) or difference.inserted or difference.removed:
        return None  # together they would be cut otherwise
    return Paraphrase(document, tuple(chosen))


def _kept(note: SteppedNote, place: int, said: Sequence[str]) -> tuple[str, ...]:
    """The wordings that leave the note cut as it is."""
    texts = [step.raw for step in note.texts]
    whole = len(texts)
    return tuple(text for text in said if len(cut("".join([*texts[:place], text, *texts[place + 1 :]])).texts) == whole)


def _put(sentence: str, match: re.Match[str], new: str) -> str:
    return sentence[: match.start()] + new + sentence[match.end() :]


def _cased(words: str, like: str) -> str:
    """Words with a capital where others have one; an abbreviation's capitals are no beginning of a sentence."""
    abbreviated = len(like) > 1 and not any(letter.islower() for letter in like)
    return words if abbreviated or not like[:1].isupper() else words[:1].upper() + words[1:]
