"""Reading keyed verdicts out of an answer: JSON or lines, all of them or none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Generic, TypeVar

from students.parsing import ABSTAIN, Abstained, Unread, unfenced

PRESENT: Final = {"present": True, "yes": True, "true": True, "absent": False, "no": False, "false": False}
"""Words of a verdict that is present or absent."""
_MARKS: Final = r"[\s*_`\"']*"
_KEY: Final = r"[\w.-]+"
_SPLIT = re.compile(rf"\n|;|,(?=\s*{_MARKS}{_KEY}{_MARKS}\s*[:=])")


Verdict = TypeVar("Verdict")


@dataclass(frozen=True, slots=True)
class Keyed(Generic[Verdict]):
    """Verdicts by key, in the order of the keys that were asked for; ``missing`` are the keys without one."""

    found: dict[str, Verdict]
    missing: tuple[str, ...]


def parse_verdicts(text: str | None, keys: Sequence[str]) -> Keyed[bool] | Unread | Abstained:
    """Verdicts *present* and *absent* for the asked keys (see :func:`parse_keyed`)."""
    return parse_keyed(text, keys, PRESENT)


def parse_keyed(
    text: str | None, keys: Sequence[str], words: Mapping[str, Verdict]
) -> Keyed[Verdict] | Unread | Abstained:
    """One of some words for each of the asked keys.

    Reads ``{"f1": "present", "f2": false}``, fenced or not, and lines such as ``f1: yes`` or ``- **f2**: absent (not
    mentioned)``. Keys are compared without regard to case. An unknown key, a key with two different verdicts, a line
    about a key without one clear verdict, and an answer with no verdict at all are not read; a key that is left out is
    reported as missing. The word ``ABSTAIN``, or null for a key, is an abstention.

    Args:
        text: the answer.
        keys: the keys asked for, which differ without regard to case.
        words: what each word means, in lower case; JSON's true and false are read as those words.
    """
    assert len({key.casefold() for key in keys}) == len(keys), "keys differ"
    if text is None or not text.strip():
        return Unread("empty", "")
    body = unfenced(text)
    if ABSTAIN.fullmatch(body):
        return Abstained(body[:200])
    try:
        pairs = _of_json(body, words) if body.startswith("{") else list(_of_lines(body, keys, words))
    except ValueError as error:
        return Unread("unparseable", f"{error}: {body}"[:200])
    known = {key.casefold(): key for key in keys}
    found: dict[str, Verdict | None] = {}
    for name, value in pairs:
        key = known.get(name.strip().casefold())
        if key is None:
            return Unread("unparseable", f"unknown key {name!r}: {body}"[:200])
        if key in found and found[key] != value:
            return Unread("unparseable", f"two verdicts for {key}: {body}"[:200])
        found[key] = value
    if not found:
        return Unread("unparseable", f"no verdict: {body}"[:200])
    if null := [key for key, value in found.items() if value is None]:
        return Abstained(f"{', '.join(null)}: null"[:200])
    verdicts = {key: value for key in keys if (value := found.get(key)) is not None}
    return Keyed(verdicts, tuple(key for key in keys if key not in found))


def _of_json(body: str, words: Mapping[str, Verdict]) -> list[tuple[str, Verdict | None]]:
    try:
        pairs = json.loads(body, object_pairs_hook=_Pairs)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if not isinstance(pairs, _Pairs):
        raise ValueError("no JSON object")
    return [(name, _verdict(value, words)) for name, value in pairs]


class _Pairs(list[tuple[str, object]]):
    """The fields of a JSON object, repeated ones too."""


def _verdict(value: object, words: Mapping[str, Verdict]) -> Verdict | None:
    if value is None:
        return None
    word = value.strip().lower() if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else ""
    if word not in words:
        raise ValueError(f"{value!r} is no verdict")
    return words[word]


def _of_lines(body: str, keys: Sequence[str], words: Mapping[str, Verdict]) -> Iterator[tuple[str, Verdict]]:
    whole, verdict = _patterns(tuple(words))
    asked = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, keys))})(?![\w-])", re.IGNORECASE)
    for line in filter(None, (part.strip() for part in _SPLIT.split(body))):
        found = whole.fullmatch(line)
        if found is None or verdict.search(found["why"]):
            if asked.search(line):  # a line about a key that says none of the words is not taken for prose
                raise ValueError(f"no clear verdict in {line[:80]!r}")
            continue
        yield found["key"], words[found["word"].lower()]


@lru_cache(maxsize=16)
def _patterns(words: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A whole line with a key and a word, and any word."""
    word = "|".join(map(re.escape, words))
    line = (
        rf"(?:[-*\u2022]\s+|\d+[.)]\s+)?{_MARKS}(?P<key>{_KEY}?){_MARKS}\s*(?:[:=]|\s-\s){_MARKS}(?P<word>{word}){_MARKS}[.,;]?"
        rf"\s*(?P<why>(?:[-(:\u2013\u2014].*)?)"
    )
    return re.compile(line, re.IGNORECASE), re.compile(rf"\b(?:{word})\b", re.IGNORECASE)
