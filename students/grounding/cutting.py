"""Cutting a sentence into clauses: at marks, conjunctions, exceptions, conditions and relative clauses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from students.grounding.cues import find_cues
from students.grounding.items import own_content
from students.grounding.lexicon import FINITE, listed
from students.grounding.words import Word

_HARD: Final = frozenset(";:()[]\u2013\u2014-.!?")
_BREAKS: Final = listed("but however though although whereas while because plus otherwise")
_RELATIVE: Final = frozenset(("which", "who"))
_EXCEPTIONS: Final = (
    ("except", "for"),
    ("except",),
    ("apart", "from"),
    ("aside", "from"),
    ("other", "than"),
    ("besides",),
    ("save", "for"),
    ("with", "the", "exception", "of"),
    ("excluding",),
)
_CONDITIONS: Final = listed("if unless until should whether")
_STARTERS: Final = listed("he she it they i we you patient pt his her my their with having mother father but")
_DENIALS: Final = frozenset(("before", "verb", "lexical", "undocumented"))
_INTERJECTIONS: Final = listed("no nope nah yes yeah yep")
_OPENING: Final = listed("sure know known remember recall ask asked see wonder wonders")
_SIDES: Final = listed("left right")
RELATIVE_REACH: Final = 3
"""Words before a relative clause that it may belong to, and after *that* in which a denial makes it one."""


@dataclass(frozen=True, slots=True)
class Part:
    """Words of one clause, with how they are joined to those before."""

    words: tuple[Word, ...]
    joined: str = ""
    after_colon: bool = False


def parts_of(words: Sequence[Word]) -> Iterator[Part]:
    """The words cut where a clause ends, without the marks and conjunctions between clauses."""
    start, joined, colon, place = 0, "", False, 0
    while place < len(words):
        key = words[place].key
        skip, kind = 0, ""
        if key in _HARD:
            skip, kind = int(not (key == ":" and _lists(words[start:place]))), "mark"
        elif (found := next((phrase for phrase in _EXCEPTIONS if is_at(words, place, phrase)), None)) is not None:
            skip, kind = len(found), "exception"
        elif key in _BREAKS:
            skip, kind = 1, "break"
        elif key in _CONDITIONS and not is_at(words, place - 1, ("as", "if")):
            skip, kind = 1, "condition"
        elif key == "in" and is_at(words, place, ("in", "case")):
            skip, kind = 2, "condition"
        elif key in _RELATIVE or (key == "that" and _is_denied_soon(words, place + 1)):
            skip, kind = 1, "relative"
        elif key in (",", "and") and place > start and _begins_a_clause(words, place + 1, first=place - start == 1):
            skip, kind = 1, "comma" if key == "," else "and"
        elif key in (",", "and") and _turns_to_the_other_side(words[start:place], words[place + 1 : place + 2]):
            skip, kind = 1, "comma"
        elif key == "with" and place > start and _cue_at(words, place + 1):
            skip, kind = 1, "with"
        if skip and not (kind == "condition" and _is_open(words, place)):
            yield Part(_trimmed(words[start:place]), joined, colon)
            start, joined, colon = place + skip, kind, key == ":"
            place += skip
        else:
            place += 1
    yield Part(_trimmed(words[start:]), joined, colon)


def _trimmed(words: Sequence[Word]) -> tuple[Word, ...]:
    """Without marks and conjunctions at the ends."""
    first, last = 0, len(words)
    while first < last and (words[first].key in (",", "and", "or", "so") or words[first].is_mark):
        first += 1
    while last > first and (words[last - 1].key in (",", "and", "or", "with") or words[last - 1].is_mark):
        last -= 1
    return tuple(words[first:last])


def is_at(words: Sequence[Word], place: int, phrase: Sequence[str]) -> bool:
    """Whether a phrase stands at a place of the words."""
    return place >= 0 and tuple(word.key for word in words[place : place + len(phrase)]) == tuple(phrase)


def _is_open(words: Sequence[Word], place: int) -> bool:
    """Whether a condition's word belongs to a cue, as in *not sure whether*."""
    return words[place].key in ("if", "whether") and place > 0 and words[place - 1].key in _OPENING


def _is_denied_soon(words: Sequence[Word], place: int) -> bool:
    return any(word.key in ("not", "never") for word in words[place : place + RELATIVE_REACH])


def _cue_at(words: Sequence[Word], place: int) -> bool:
    cues = find_cues(words[place : place + 4])
    return bool(cues) and cues[0].first == 0 and cues[0].kind in _DENIALS


def _begins_a_clause(words: Sequence[Word], place: int, *, first: bool) -> bool:
    """Whether what follows a comma or *and* is a clause, and no further item of a list."""
    if place >= len(words):
        return False
    if words[place - 1].key == "," and words[place].key in ("and", "or"):
        place += 1
        if place >= len(words) or words[place - 1].key == "or":
            return False
    if first and words[place - 2].key in _INTERJECTIONS and words[place - 1].key == ",":
        return True
    if words[place].key in _STARTERS or _cue_at(words, place):
        return True
    for word in words[place:]:
        if word.key in (",", "and", "or") or word.key in _HARD or word.key in _BREAKS:
            return False
        if word.key in FINITE:
            return True
    return False


def _turns_to_the_other_side(words: Sequence[Word], following: Sequence[Word]) -> bool:
    """Whether *left* follows what is said of the right, or the other way; a list of what is denied goes on."""
    if not following or following[0].key not in _SIDES:
        return False
    keys = {word.key for word in words}
    return bool(keys & (_SIDES - {following[0].key})) and not any(cue.kind in _DENIALS for cue in find_cues(words))


def _lists(words: Sequence[Word]) -> bool:
    """Whether a colon goes on with what a cue before it denies, as in *stated as absent: fever*."""
    cues = find_cues(words)
    return bool(cues) and cues[-1].kind in ("after", "unstated") and not own_content(words[: cues[-1].first])
