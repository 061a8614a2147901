"""Words of a clause and what they say: stems, a few words that mean the same, sides, and numbers with units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import snowballstemmer

from students.grounding.lexicon import (
    FUNCTION,
    IMPLIED,
    NEUTRAL,
    NUMBERS,
    PHRASES,
    SIDES,
    SYNONYMS,
    UNITS,
    listed,
)

_TOKEN: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*|[^\w\s]")
_STEMMER: Final = snowballstemmer.stemmer("english")
_CONTRACTED: Final[Mapping[str, str]] = {"can": "can", "won": "will", "shan": "shall", "ca": "can", "wo": "will"}
_BARE: Final = listed(
    "dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt cant wont wouldnt couldnt shouldnt aint"
)
_DECADES: Final = 10
_JOINTS: Final = "-\u2010\u2011"


@dataclass(frozen=True, slots=True)
class Word:
    """One word or mark: how it is compared, in lower case with contractions written out, and where it stands."""

    key: str
    start: int
    end: int

    @property
    def is_mark(self) -> bool:
        """Whether it is punctuation."""
        return not self.key[0].isalnum()


def words_of(text: str, *, start: int = 0) -> tuple[Word, ...]:
    """Words and marks of a text; ``isn't`` and ``cannot`` are two words, and a hyphen within a word is none.

    Args:
        text: the text.
        start: offset of the text within a larger one, which the words' places count from.
    """
    found: list[Word] = []
    for match in _TOKEN.finditer(text):
        key = match[0].lower().replace("\u2019", "'")
        first, last = match.span()
        if key in _JOINTS and _joins(text, first, last):
            continue
        if key == "cannot":
            parts = [("can", 3), ("not", 3)]
        elif key.endswith("n't") or key in _BARE:
            cut = 3 if key.endswith("n't") else 2
            stem = key[:-cut] + ("n" if key == "can't" else "")
            parts = [(_CONTRACTED.get(stem, stem), len(key) - cut), ("not", cut)]
        else:
            parts = [(re.sub(r"'(?:s|re|ve|ll|d|m)$", "", key), len(key))]
        at = first
        for part, length in parts:
            if part:
                found.append(Word(part, start + at, start + at + length))
            at += length
    return tuple(found)


def _joins(text: str, first: int, last: int) -> bool:
    """Whether a hyphen stands between two letters or digits."""
    return first > 0 and last < len(text) and text[first - 1].isalnum() and text[last].isalnum()


@lru_cache(maxsize=8192)
def stem_of(key: str) -> str:
    """What a word is compared by: its stem, with one spelling for ``ae`` and ``oe``, or that of a word like it."""
    if key in SYNONYMS:
        return SYNONYMS[key]
    plain = key.replace("ae", "e").replace("oe", "e") if len(key) > 4 else key
    stem = str(_STEMMER.stemWord(plain))
    return SYNONYMS.get(stem, stem)


@dataclass(frozen=True, slots=True)
class Content:
    """One thing that words say: a stem, a side, or a number with its unit; ``place`` is its index among the words."""

    stem: str
    place: int
    last: int

    @property
    def is_side(self) -> bool:
        """Whether it is left, right or both."""
        return self.stem in ("left", "right", "both")

    @property
    def is_number(self) -> bool:
        """Whether it is a number, with a unit or without."""
        return self.stem[0].isdigit()


def content_of(words: Sequence[Word]) -> tuple[Content, ...]:
    """What the words say, without function words and words that add nothing to a negation, in order."""
    found = list(_content(words))
    implied = {stem for content in found for stem in IMPLIED.get(content.stem, ())}
    return tuple(content for content in found if content.stem not in implied)


def _content(words: Sequence[Word]) -> Iterator[Content]:
    place = 0
    while place < len(words):
        key = words[place].key
        for phrase, stem in PHRASES.get(key, ()):
            if tuple(word.key for word in words[place : place + len(phrase)]) == phrase:
                if stem:
                    yield Content(stem, place, place + len(phrase) - 1)
                place += len(phrase) - 1
                break
        else:
            if key[0].isdigit() or key in NUMBERS:
                number = _plain_number(NUMBERS.get(key, key))
                unit = UNITS.get(words[place + 1].key, "") if place + 1 < len(words) else ""
                yield Content(number + unit, place, place + bool(unit))
                place += bool(unit)
            elif key in SIDES:
                yield Content(SIDES[key], place, place)
            elif not words[place].is_mark and key not in FUNCTION and (stem := stem_of(key)) not in NEUTRAL:
                yield Content(stem, place, place)
        place += 1


def _plain_number(text: str) -> str:
    """``1,000`` and ``1000`` alike, and ``2.50`` like ``2.5``."""
    plain = re.sub(r",(?=\d{3}(?!\d))", "", text).replace(",", ".")
    return plain.rstrip("0").rstrip(".") if plain.count(".") == 1 else plain
