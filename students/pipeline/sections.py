"""The sections of a document, each with its heading, so that restatements can be told from the only mention."""

from __future__ import annotations

import re
from typing import Final

MOST_SECTIONS: Final = 8
"""Sections that are checked apart; a document with more has the rest in its last one."""

_HEADING: Final = re.compile(r"#{1,6}\s+\S.*|\*\*[^*]+\*\*:?|[A-Z][A-Z0-9 ,/&()'-]{2,60}:?|[A-Z][\w ,/&()'-]{1,40}:")


def sections_of(document: str, *, most: int = MOST_SECTIONS) -> tuple[str, ...]:
    """The sections of a document in order, headings included; the whole of it where it has no heading.

    A heading is a line of its own in capitals, one that ends in a colon, or one marked as Markdown does. What stands
    before the first heading is a section too, and one that holds nothing but its heading is none.
    """
    sections: list[list[str]] = [[]]
    for line in document.splitlines():
        if _HEADING.fullmatch(line.strip()) and len(sections) < most:
            sections.append([])
        sections[-1].append(line)
    texts = ["\n".join(lines).strip() for lines in sections]
    told = [text for text in texts if text and not _HEADING.fullmatch(text)]
    return tuple(told) or (document.strip(),)
