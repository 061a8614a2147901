"""Edits of a note, as contiguous cuts and insertions whose invariants can be checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lineage.errors import CorpusError
from splits.construct.sites import Site, is_heading

_LINE_START = re.compile(r"(?:^|\n) *(?:- )?$")
_BREAK_BEFORE = re.compile(r"(, and|; and|, with|, but|,|;| -| and| with)\s+$")


@dataclass(frozen=True, slots=True)
class Edit:
    """A new document and how it came about.

    ``cuts`` are the deleted spans of the old document, in order, separators included; ``inserted`` is the
    new text of an addition or change, at offset ``at`` of the old document.
    """

    document: str
    cuts: tuple[tuple[int, int], ...] = ()
    inserted: str = ""
    at: int | None = None


def cut_of(note: str, site: Site) -> tuple[int, int]:
    """The span to delete so that what remains reads as text: the site and one neighbouring separator.

    A site can be cut where it is a whole line, a whole sentence (or run of sentences), or a trailing clause
    after a comma, semicolon, dash, *and* or *with*, so that an omission never needs a character added.

    Raises:
        CorpusError: the site is none of these.
    """
    start, end = site.start, site.end
    before, after = note[:start], note[end:]
    line_start = _LINE_START.search(before)
    line_end = not after or after.startswith("\n")
    if line_start and line_end:
        start = before.rfind("\n") + 1
        return (start, end + 1) if after else (max(start - 1, 0), end)
    sentence = site.text.rstrip()[-1] in ".!?"
    if sentence and line_start and after.startswith(" "):
        return start, end + 1
    if sentence and re.search(r"[.!?:] $", before) and (line_end or after.startswith(" ")):
        return start - 1, end
    clause = _BREAK_BEFORE.search(before)
    if clause and not sentence and (line_end or re.match(r"[.,;!?]|\s+(and|but|with)\b", after)):
        return clause.start(), end
    raise CorpusError(
        f"site {site.text!r} of fact {site.fact} cannot be cut cleanly; make it a whole line, whole sentences, "
        "or a trailing clause after ', ' or '; ' or ' and '",
        field="note",
    )


def delete_sites(note: str, sites: Sequence[Site], doomed: Sequence[Site]) -> Edit:
    """Delete every site in ``doomed`` (sites of one fact), touching no site of another fact.

    Raises:
        CorpusError: a cut would touch another fact's site, or leave a heading without text.
    """
    cuts = [cut_of(note, site) for site in sorted(doomed, key=lambda site: site.start)]
    for left, right in pairwise(cuts):
        if left[1] > right[0]:
            raise CorpusError("two cuts of one fact overlap; separate its sites by other text", field="note")
    for cut in cuts:
        for site in sites:
            if site not in doomed and cut[0] < site.end and site.start < cut[1]:
                raise CorpusError(
                    f"deleting fact {doomed[0].fact} would touch {site.text!r} of fact {site.fact}", field="note"
                )
    document = note
    for start, end in reversed(cuts):
        document = document[:start] + document[end:]
    lines = document.split("\n")
    for index, line in enumerate(lines):
        body = next((other for other in lines[index + 1 :] if other.strip()), "")
        if is_heading(line) and (not body or is_heading(body)):
            raise CorpusError(f"deleting fact {doomed[0].fact} would leave {line!r} without text", field="note")
    return Edit(document, cuts=tuple(cuts))


def insert(note: str, heading: str, text: str) -> Edit:
    """Put a sentence at the end of a section, as one contiguous block."""
    lines = note.split("\n")
    last = lines.index(heading)
    for index in range(last + 1, len(lines)):
        if is_heading(lines[index]):
            break
        if lines[index].strip():
            last = index
    at = sum(len(line) + 1 for line in lines[: last + 1]) - 1
    listed = lines[last].startswith("- ")
    bare = is_heading(lines[last])
    block = f"\n- {text}" if listed else f"\n{text}" if bare else f" {text}"
    return Edit(note[:at] + block + note[at:], inserted=block, at=at)


def alter(note: str, site: Site, old: str, new: str) -> Edit:
    """Replace ``old`` by ``new`` inside one site, as one contiguous block."""
    at = site.start + site.text.index(old)
    end = at + len(old)
    return Edit(note[:at] + new + note[end:], cuts=((at, end),), inserted=new, at=at)
