"""Reading one verdict of a document, PASS or FAIL, out of an answer."""

from __future__ import annotations

import json
import re
from typing import Final

from students.parsing import ABSTAIN, Abstained, Unread, unfenced, without_repeats

_MARKS: Final = r"[\s*_`\"']*"
_LABEL: Final = rf"^{_MARKS}(?:verdict{_MARKS}(?:[:=]|is){_MARKS})"
_AFTER: Final = r"(?:\s*[.,;:!(\n\u2013\u2014]|\s+-).*"
_FIRST: Final = re.compile(rf"{_LABEL}?(?:PASS|FAIL){_MARKS}(?:{_AFTER})?", re.IGNORECASE | re.DOTALL)
_LABELLED: Final = re.compile(rf"{_LABEL}(?:PASS|FAIL)\b", re.IGNORECASE | re.MULTILINE)
_WORD: Final = re.compile(r"\b(?:PASS|FAIL)\b", re.IGNORECASE)
_ABSTENTION: Final = re.compile(rf"{_LABEL}ABSTAIN[\s*_`\"'.]*", re.IGNORECASE)


def parse_pass_fail(text: str | None) -> bool | Unread | Abstained:
    """Whether the verdict is PASS.

    Reads the word first in the answer, or in a line that begins with ``Verdict:``, and JSON with a ``verdict`` field,
    fenced or not. An answer in which both words stand is not read, and neither is *yes* or *no*: what they say depends
    on how the criterion is worded. The word ``ABSTAIN`` and a ``verdict`` of null are an abstention.
    """
    if text is None or not text.strip():
        return Unread("empty", "")
    body = unfenced(text)
    if body.startswith("{"):
        try:
            fields = json.loads(body, object_pairs_hook=without_repeats)
        except (ValueError, RecursionError):  # no JSON, a field twice, or nested deeper than Python reads
            return Unread("unparseable", body[:200])
        if "verdict" in fields and fields["verdict"] is None:
            return Abstained(body[:200])
        value = fields.get("verdict")
        body = value.strip() if isinstance(value, str) else ""
    if ABSTAIN.fullmatch(body) or _ABSTENTION.fullmatch(body):
        return Abstained(body[:200])
    said = {word.upper() for word in _WORD.findall(body)}
    if len(said) != 1 or not (_FIRST.fullmatch(body) or _LABELLED.search(body)):
        return Unread("unparseable", text.strip()[:200])
    return said == {"PASS"}
