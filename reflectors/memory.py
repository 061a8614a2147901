"""Memory of failed edits: what was proposed before, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reflectors.clauses import split_clauses
from reflectors.excerpts import CUT
from reflectors.reflector import FailedEdit

EDIT_WORDS: Final = 60
"""Most words of an edit that are shown."""
UNANSWERED: Final = "no answer"
"""First words of the problem of a call that failed: such a proposal says nothing about instructions."""


def remembered(failed: Sequence[FailedEdit], count: int) -> tuple[FailedEdit, ...]:
    """The last ``count`` failed edits, the latest last; a call that was not answered is none."""
    told = [edit for edit in failed if not edit.reason.startswith(UNANSWERED)]
    return tuple(told[len(told) - min(count, len(told)) :])


def memory_words(failed: Sequence[FailedEdit], count: int) -> str:
    """What a reflector is told of earlier proposals; empty where there is nothing to tell."""
    lines = [f"- {_words(edit)}" for edit in remembered(failed, count)]
    if not lines:
        return ""
    return "\n".join(("EARLIER PROPOSALS THAT FAILED, the latest last. Do not make them again:", *lines))


def _words(edit: FailedEdit) -> str:
    came = f"{edit.outcome} ({edit.reason})"
    if not edit.told:
        return f"{came}."
    before, after = split_clauses(edit.parent), split_clauses(edit.told)
    added = [clause for clause in after if clause not in before]
    removed = [clause for clause in before if clause not in after]
    parts = [
        f'{name}: "{_cut(" ".join(clauses))}"' for name, clauses in (("added", added), ("removed", removed)) if clauses
    ]
    return f"{came}. {'; '.join(parts) or 'the same sentences in another order'}"


def _cut(text: str) -> str:
    words = text.split()
    return text if len(words) <= EDIT_WORDS else f"{' '.join(words[:EDIT_WORDS])} {CUT}"
