"""Reading a list of statements out of an answer: one a line, or a JSON list."""

from __future__ import annotations

import json
import re
from typing import Final

from students.parsing import ABSTAIN, Abstained, Unread, unfenced

_ITEM: Final = re.compile(r"(?:[-*\u2022]|\(?\d{1,3}[.):])\s+(?P<text>\S.*)")
_NONE: Final = re.compile(r"[\s*_`\"'\-\u2022]*NONE[\s*_`\"'.]*", re.IGNORECASE)
_HEADING: Final = re.compile(r"#+\s.*|.*:[\s*_]*|\*\*[^*]+\*\*|-{3,}")


def parse_list(text: str | None, *, most: int) -> tuple[str, ...] | Unread | Abstained:
    """The items of a list, in order, without repetitions.

    Reads lines that begin with a number or a mark, and a JSON list of texts, fenced or not. A line that ends in a colon
    or stands in bold is a heading. Any other line makes the answer unread: it may be an item or a remark. ``NONE`` is
    an empty list, and ``ABSTAIN`` an abstention. Items that differ only in case, white space or a final full stop are
    one.

    Args:
        text: the answer.
        most: items that are kept, from the first.
    """
    if text is None or not text.strip():
        return Unread("empty", "")
    body = unfenced(text)
    if ABSTAIN.fullmatch(body):
        return Abstained(body[:200])
    if _NONE.fullmatch(body):
        return ()
    try:
        items = _of_json(body) if body.startswith("[") else _of_lines(body)
    except (ValueError, RecursionError) as error:  # RecursionError: JSON nested deeper than Python reads
        return Unread("unparseable", f"{error}: {body}"[:200])
    kept: dict[str, str] = {}
    for item in (" ".join(item.split()) for item in items):
        kept.setdefault(item.casefold().rstrip(". "), item)
    kept.pop("", None)
    if not kept:
        return Unread("unparseable", f"no item: {body}"[:200])
    return tuple(kept.values())[:most]


def _of_json(body: str) -> list[str]:
    found = json.loads(body)
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ValueError("no list of texts")
    return found


def _of_lines(body: str) -> list[str]:
    items = []
    for line in filter(None, (line.strip() for line in body.splitlines())):
        found = _ITEM.fullmatch(line)
        if found is not None:
            items.append(found["text"])
        elif not _HEADING.fullmatch(line):
            raise ValueError(f"no item in {line[:80]!r}")
    return items
