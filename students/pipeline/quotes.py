"""Quotes: whether words stand in a text as they are said to, and reading a quote for each key out of an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from students.keyed import Keyed
from students.parsing import Abstained, Unread, unfenced, without_repeats

LEAST_QUOTE: Final = 8
"""Characters of the shortest quote that proves anything, white space at its ends not counted."""

_MARKS: Final = "\"'`*\u201c\u201d\u2018\u2019 "
_NONE = re.compile(r"none|absent|no|null", re.IGNORECASE)
_LINE = re.compile(r"(?:[-*\u2022]\s+)?[\s*_`\"']*(?P<key>[\w.-]+?)[\s*_`\"']*\s*[:=]\s*(?P<said>.*)")


def stands_in(quote: str, text: str, *, least: int = LEAST_QUOTE) -> bool:
    """Whether a quote of at least so many characters is found in a text; case and white space may differ.

    Marks around the quote do not count. Anything else that differs, such as a comma, makes it another quote.
    """
    words = _plain(quote.strip(_MARKS))
    return len(words) >= least and words in _plain(text)


def parse_quotes(text: str | None, keys: Sequence[str]) -> Keyed[str] | Unread | Abstained:
    """A quote for each of the asked keys, empty where the answer says that there is none.

    Reads lines such as ``f1: "takes water"`` and ``f2: NONE``, and a JSON object of texts and nulls, fenced or not. A
    key that is left out is reported as missing. An unknown key, a key with two different quotes and an answer without
    any key are not read.

    Args:
        text: the answer.
        keys: the keys asked for, which differ without regard to case.
    """
    if text is None or not text.strip():
        return Unread("empty", "")
    body = unfenced(text)
    known = {key.casefold(): key for key in keys}
    found: dict[str, str] = {}
    try:
        for name, said in _of_json(body) if body.startswith("{") else _of_lines(body):
            key = known.get(name.casefold())
            if key is None:
                return Unread("unparseable", f"unknown key {name!r}: {body}"[:200])
            quote = said.strip(_MARKS)
            quote = "" if _NONE.fullmatch(quote.rstrip(". ")) else quote
            if found.setdefault(key, quote) != quote:
                return Unread("unparseable", f"two quotes for {key}: {body}"[:200])
    except (ValueError, RecursionError) as error:
        return Unread("unparseable", f"{error}: {body}"[:200])
    if not found:
        return Unread("unparseable", f"no key: {body}"[:200])
    return Keyed({key: found[key] for key in keys if key in found}, tuple(key for key in keys if key not in found))


def _of_json(body: str) -> Iterator[tuple[str, str]]:
    for name, said in json.loads(body, object_pairs_hook=without_repeats).items():
        if said is not None and not isinstance(said, str):
            raise ValueError(f"{said!r} is no quote")
        yield name.strip(), said or ""


def _of_lines(body: str) -> Iterator[tuple[str, str]]:
    for line in filter(None, (line.strip() for line in body.splitlines())):
        found = _LINE.fullmatch(line)
        if found is None:
            raise ValueError(f"no key in {line[:80]!r}")
        yield found["key"], found["said"]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
