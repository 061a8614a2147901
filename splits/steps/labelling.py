"""Notes with the labels of their steps, from the examples of any corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from splits.corpus import Corpus, Example
from splits.steps.cutting import SteppedNote, cut
from splits.steps.flaws import Flaw, Label, first_wrong, labels_of
from splits.steps.granularity import Granularity
from splits.steps.known import flaw_of


@dataclass(frozen=True, slots=True)
class LabelledNote:
    """One example as steps with labels; its representation holds no text.

    Attributes:
        example: the example.
        note: its document, cut.
        flaw: what is known to be wrong with it; None for a clean one.
        labels: of each step; None where it is not known.
    """

    example: Example
    note: SteppedNote
    flaw: Flaw | None
    labels: tuple[Label | None, ...]

    def __repr__(self) -> str:
        return f"LabelledNote({self.example.id!r}, {len(self.labels)} steps)"

    @property
    def error(self) -> str | None:
        """Kind of its error; None for a clean note."""
        return None if self.flaw is None else self.flaw.error

    @property
    def first_wrong(self) -> int | None:
        """Place, from 0, of the first step that is known to be wrong."""
        return first_wrong(self.labels)

    @property
    def origin(self) -> str:
        """How it came about: as a built example says, else that of its corpus."""
        return str(self.example.meta.get("origin", "corpus"))

    @property
    def words(self) -> int:
        """Words of the note."""
        return len(self.note.document.split())


def label_notes(examples: Iterable[Example], corpus: Corpus, granularity: Granularity) -> tuple[LabelledNote, ...]:
    """Examples as labelled notes, in the order given.

    Args:
        examples: the examples.
        corpus: their corpus, which holds the clean twins.
        granularity: which kinds of steps there are.

    Raises:
        CorpusError: what an example says of its flaw is damaged.
    """
    found = []
    for example in examples:
        note, flaw = cut(example.document, granularity), flaw_of(example, corpus)
        found.append(LabelledNote(example, note, flaw, labels_of(note, flaw)))
    return tuple(found)
