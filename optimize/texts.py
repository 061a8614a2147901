"""A candidate's named texts as one text, and back: what files, reports and prompts hold of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from lineage.errors import PlanError
from lineage.records import Candidate
from students.student import Student

_HEADING: Final = re.compile(r"^## ([\w.\[\]-]+)[ \t]*$", re.MULTILINE)


def candidate_of(student: Student, written: str) -> Candidate:
    """The seed that a text stands for.

    Args:
        student: whose blocks evolve. Where there is one, the whole text is its instruction; where there are several,
            the text has a section for each, headed ``## name``.
        written: the text.

    Raises:
        PlanError: a block has no section or two, is empty, or a section is of no block.
    """
    blocks = tuple(student.seed_texts)
    if len(blocks) == 1:
        return Candidate({blocks[0]: written}, "seed")
    before, *parts = _HEADING.split(written)
    names = parts[::2]
    texts = dict(zip(names, (body.strip() for body in parts[1::2]), strict=True))
    if before.strip() or sorted(names) != sorted(blocks) or not all(texts.values()):
        raise PlanError(
            f"student {student.name} has the blocks {', '.join(blocks)}, and a text for it has one section for each, "
            f"headed '## {blocks[0]}' and so on, with words in it; got {', '.join(names) or 'no section'}"
            + (" and words before the first" if before.strip() else "")
        )
    return Candidate({block: texts[block] for block in blocks}, "seed")


def written_text(texts: Mapping[str, str]) -> str:
    """One text for people and files: the instruction itself, or a headed section for each of several blocks."""
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "\n\n".join(f"## {name}\n{text}" for name, text in texts.items())
