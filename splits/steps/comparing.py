"""Two notes step by step: which steps of one are not in the other."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from splits.construct.pairs import is_subsequence
from splits.steps.cutting import Step, SteppedNote, cut
from splits.steps.flaws import ErrorKind, Flaw

MOST_CHANGED = 0.5
"""Share of the steps from which two notes are two texts, and no longer one with a flaw."""


@dataclass(frozen=True, slots=True)
class StepDifference:
    """How a note differs from its clean one.

    Attributes:
        altered: steps of the note, each with the clean one that it stands for.
        inserted: steps that the clean note does not have.
        removed: steps of the clean note that are gone.
        share: steps that differ, over those of the longer note.
    """

    altered: tuple[tuple[Step, Step], ...]
    inserted: tuple[Step, ...]
    removed: tuple[Step, ...]
    share: float

    @property
    def count(self) -> int:
        """Steps that differ."""
        return len(self.altered) + len(self.inserted) + len(self.removed)


def step_difference(note: SteppedNote, clean: SteppedNote) -> StepDifference:
    """The steps in which two notes differ, by their texts; white space around a step is no difference."""
    mine, theirs = note.texts, clean.texts
    matcher = SequenceMatcher(None, [step.text for step in theirs], [step.text for step in mine], autojunk=False)
    altered: list[tuple[Step, Step]] = []
    inserted: list[Step] = []
    removed: list[Step] = []
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            continue
        both = min(end - start, last - first)
        altered += zip(mine[first : first + both], theirs[start : start + both], strict=True)
        inserted += mine[first + both : last]
        removed += theirs[start + both : end]
    count = len(altered) + len(inserted) + len(removed)
    return StepDifference(tuple(altered), tuple(inserted), tuple(removed), count / max(len(mine), len(theirs), 1))


def flaw_by_difference(document: str, clean: str, *, error: ErrorKind, trace: str | None = None) -> Flaw:
    """The flaw of a note that was made from a clean one by an edit.

    An omission may shorten a sentence: what is left of it is right, and its problem lacks something. Where more than
    half of the steps differ the two are different texts, and nothing is known but that there is a flaw.

    Args:
        document: the flawed note.
        clean: the clean note.
        error: what the flaw is.
        trace: of an omission; with ``partial-strong`` the fact is still in the note, and completeness is not known.
    """
    note, whole = cut(document), cut(clean)
    difference = step_difference(note, whole)
    omission = error == "incompleteness"
    if difference.share > MOST_CHANGED or not difference.count:
        return Flaw(error, complete=False if omission else None, problems=False, located=False)
    if not omission:
        steps = [mine for mine, _ in difference.altered] + list(difference.inserted)
        return Flaw(error, wrong=tuple((step.start, step.end) for step in steps))
    if trace == "partial-strong":
        return Flaw(error, complete=None, problems=False)
    shortened = [mine for mine, theirs in difference.altered if is_subsequence(mine.text, theirs.text)]
    rewritten = [mine for mine, _ in difference.altered if mine not in shortened]
    gone = [_near(step, note, whole) for step in difference.removed]
    lacking = sorted({step.start for step in shortened} | {offset for offset in gone if offset is not None})
    return Flaw(
        error,
        wrong=tuple((step.start, step.end) for step in rewritten),
        lacking=tuple(lacking),
        complete=False,
    )


def _near(gone: Step, note: SteppedNote, clean: SteppedNote) -> int | None:
    """Where a note still has something of the problem that a step is gone from; None where all of it is gone."""
    left = {step.text: step.start for step in reversed(note.texts)}
    same = [step for step in clean.texts if step.problem == gone.problem and step is not gone]
    return next((left[step.text] for step in same if step.text in left), None)
