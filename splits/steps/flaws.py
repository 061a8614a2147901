"""What is wrong with a note and where, and the labels of its steps that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from lineage.errors import CorpusError
from splits.steps.cutting import Step, SteppedNote

ErrorKind = Literal["factual-inaccuracy", "hallucination", "unhelpfulness", "incompleteness"]
ERRORS: Final[tuple[ErrorKind, ...]] = get_args(ErrorKind)
"""Kinds of errors: what is stated wrongly, what nobody said, what says nothing, and what is missing."""

Label = Literal["+", "-"]
RIGHT: Final[Label] = "+"
WRONG: Final[Label] = "-"

LABELS_OF: Final[Mapping[ErrorKind, tuple[str, str]]] = {
    "factual-inaccuracy": ("commission", "change"),
    "hallucination": ("commission", "add"),
    "unhelpfulness": ("commission", "add"),
    "incompleteness": ("omission", "omit"),
}
"""Label and kind of an example with an error of each kind, in the form of a corpus."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is known to be wrong with a note, in offsets of its text, so that it holds for any granularity.

    Attributes:
        error: its kind.
        wrong: spans of the note that are wrong.
        lacking: an offset inside each problem that lacks something.
        complete: whether the note as a whole is complete; None where that is not known.
        problems: whether ``lacking`` names every problem that lacks something; else their completeness is not known.
        located: whether ``wrong`` holds every wrong span; else a step outside of them is not known to be right.
    """

    error: ErrorKind
    wrong: tuple[tuple[int, int], ...] = ()
    lacking: tuple[int, ...] = ()
    complete: bool | None = True
    problems: bool = True
    located: bool = True

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "error": self.error,
            "wrong": [list(span) for span in self.wrong],
            "lacking": list(self.lacking),
            "complete": self.complete,
            "problems": self.problems,
            "located": self.located,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any], *, where: str) -> Flaw:
        """The flaw that :meth:`row` wrote.

        Raises:
            CorpusError: the row is not one of a flaw; ``where`` says whose it is.
        """
        try:
            found = cls(
                **{
                    **row,
                    "wrong": tuple((int(start), int(end)) for start, end in row["wrong"]),
                    "lacking": tuple(int(offset) for offset in row["lacking"]),
                }
            )
        except (TypeError, KeyError, ValueError) as error:
            raise CorpusError(
                f"{where}: meta.steps must hold a flaw as holdgate steps build writes it ({error!r}); build it again"
            ) from error
        if found.error not in ERRORS:
            raise CorpusError(f"{where}: meta.steps.error must be one of {', '.join(ERRORS)}, got {found.error!r}")
        return found


def labels_of(note: SteppedNote, flaw: Flaw | None) -> tuple[Label | None, ...]:
    """The label of every step: right, wrong, or None where it is not known.

    A step is wrong if its text holds a part of a wrong span. A problem is incomplete if it lacks something, and so is
    the note. Where a statement was changed the right one is gone: whether the problem is complete is then a matter of
    words, and not labelled. The step at the end is wrong if anything is.

    Args:
        note: the note, cut.
        flaw: what is wrong with it; None for a note without a flaw.
    """
    return tuple(_label(step, note, flaw) for step in note.steps)


def first_wrong(labels: tuple[Label | None, ...]) -> int | None:
    """Place, from 0, of the first wrong step; None where none is known to be."""
    return next((place for place, label in enumerate(labels) if label == WRONG), None)


def _label(step: Step, note: SteppedNote, flaw: Flaw | None) -> Label | None:
    if flaw is None:
        return RIGHT
    changed = flaw.error == "factual-inaccuracy"
    if step.kind == "end":
        known = bool(flaw.wrong) or not flaw.located or flaw.complete is False
        return WRONG if known else None
    if step.kind == "note-complete":
        return WRONG if flaw.complete is False else None if flaw.complete is None or changed else RIGHT
    if step.kind == "problem-complete":
        start, end = note.spans[(step.problem or 1) - 1]
        if any(start <= offset < end for offset in flaw.lacking):
            return WRONG
        touched = changed and any(first < end and start < last for first, last in flaw.wrong)
        return None if touched or not flaw.problems else RIGHT
    if any(_shares_text(step, span) for span in flaw.wrong):
        return WRONG
    return RIGHT if flaw.located else None


def _shares_text(step: Step, span: tuple[int, int]) -> bool:
    """Whether a step holds more than white space of a span."""
    start, end = max(step.start, span[0]), min(step.end, span[1])
    return start < end and bool(step.raw[start - step.start : end - step.start].strip())
