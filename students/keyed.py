"""Reading keyed per-fact verdicts out of an answer: JSON or lines, all of them or none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from students.parsing import ABSTAIN, Abstained, Unread, unfenced

_WORDS: Final = {"present": True, "yes": True, "true": True, "absent": False, "no": False, "false": False}
_WORD: Final = "|".join(_WORDS)
_MARKS: Final = r"[\s*_`\"']*"
_KEY: Final = r"[\w.-]+"
_LINE = re.compile(
    rf"(?:[-*\u2022]\s+|\d+[.)]\s+)?{_MARKS}(?P<key>{_KEY}?){_MARKS}\s*(?:[:=]|\s-\s){_MARKS}(?P<word>{_WORD}){_MARKS}[.,;]?"
    rf"\s*(?P<why>(?:[-(:\u2013\u2014].*)?)",
    re.IGNORECASE,
)
_VERDICT = re.compile(rf"\b(?:{_WORD})\b", re.IGNORECASE)
_SPLIT = re.compile(rf"\n|;|,(?=\s*{_MARKS}{_KEY}{_MARKS}\s*[:=])")


@dataclass(frozen=True, slots=True)
class KeyedVerdicts:
    """Verdicts by key, in the order of the keys that were asked for; ``missing`` are the keys without one."""

    present: dict[str, bool]
    missing: tuple[str, ...]


def parse_verdicts(text: str | None, keys: Sequence[str]) -> KeyedVerdicts | Unread | Abstained:
    """Verdicts for the asked keys.

    Reads ``{"f1": "present", "f2": false}``, fenced or not, and lines such as ``f1: yes`` or ``- **f2**: absent (not
    mentioned)``. Keys are compared without regard to case. An unknown key, a key with two different verdicts, a line
    about a key without one clear verdict, and an answer with no verdict at all are not read; a key that is left out is
    reported as missing. The word ``ABSTAIN``, or null for a key, is an abstention.

    Args:
        text: the answer.
        keys: the keys asked for, which differ without regard to case.
    """
    assert len({key.casefold() for key in keys}) == len(keys), "keys differ"
    if text is None or not text.strip():
        return Unread("empty", "")
    body = unfenced(text)
    if ABSTAIN.fullmatch(body):
        return Abstained(body[:200])
    try:
        pairs = _of_json(body) if body.startswith("{") else list(_of_lines(body, keys))
    except ValueError as error:
        return Unread("unparseable", f"{error}: {body}"[:200])
    known = {key.casefold(): key for key in keys}
    found: dict[str, bool | None] = {}
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
    present = {key: bool(found[key]) for key in keys if key in found}
    return KeyedVerdicts(present, tuple(key for key in keys if key not in found))


def _of_json(body: str) -> list[tuple[str, bool | None]]:
    try:
        pairs = json.loads(body, object_pairs_hook=_Pairs)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if not isinstance(pairs, _Pairs):
        raise ValueError("no JSON object")
    return [(name, _verdict(value)) for name, value in pairs]


class _Pairs(list[tuple[str, object]]):
    """The fields of a JSON object, repeated ones too."""


def _verdict(value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    if word not in _WORDS:
        raise ValueError(f"{value!r} is no verdict")
    return _WORDS[word]


def _of_lines(body: str, keys: Sequence[str]) -> Iterator[tuple[str, bool]]:
    asked = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, keys))})(?![\w-])", re.IGNORECASE)
    for line in filter(None, (part.strip() for part in _SPLIT.split(body))):
        found = _LINE.fullmatch(line)
        if found is None or _VERDICT.search(found["why"]):
            if asked.search(line):  # a line about a fact that says neither is not taken for prose
                raise ValueError(f"no clear verdict in {line[:80]!r}")
            continue
        yield found["key"], _WORDS[found["word"].lower()]
