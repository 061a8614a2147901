"""What people are asked: the sections of a pack, their questions and answers, and what is hidden from the reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from splits.corpus import SEVERITIES

CANNOT_TELL: Final = "cannot-tell"
"""The answer of who abstains. It is counted, and never taken for another."""


@dataclass(frozen=True, slots=True)
class Question:
    """One section's question.

    Attributes:
        section: its name.
        prefix: of its items' names.
        title: over the section.
        text: the question, the same for each of its items.
        answers: the answers in their order, each with its words; who abstains comes last.
        hidden: what the reader does not see, in words.
    """

    section: str
    prefix: str
    title: str
    text: str
    answers: tuple[tuple[str, str], ...]
    hidden: tuple[str, ...]

    @property
    def categories(self) -> tuple[str, ...]:
        """The answers that decide, in their order."""
        return tuple(name for name, _ in self.answers if name != CANNOT_TELL)


DOCUMENTS: Final = Question(
    section="documents",
    prefix="D",
    title="Documents against their sources",
    text="Read the source, then the document. What is wrong with the document? If there is more than one thing, give "
    "the one that matters most.",
    answers=(
        ("clean", "Nothing that matters: it is complete and says nothing that the source does not"),
        ("omission", "It leaves out something that matters"),
        ("commission", "It adds or changes something that matters"),
        (CANNOT_TELL, "I cannot tell"),
    ),
    hidden=(
        "which judges there are and what each said",
        "whether the document was made with a flaw, and which",
        "whether it was drawn because judges disagree",
    ),
)
SEVERITY: Final = Question(
    section="severity",
    prefix="S",
    title="How much a fact matters",
    text="Suppose that a document about this source left the fact out. How serious would that be?",
    answers=(
        *zip(
            SEVERITIES,
            (
                "Critical: a reader could act wrongly and do harm",
                "Supporting: the reader would miss it, and no harm is likely",
                "Peripheral: it would hardly be missed",
            ),
            strict=True,
        ),
        (CANNOT_TELL, "I cannot tell"),
    ),
    hidden=("the grade on record", "who gave it, a person or a judge", "whether any document left the fact out"),
)
FLAGS: Final = Question(
    section="flags",
    prefix="F",
    title="Claims that something is missing",
    text="The claim says that the document does not state a fact of the source, neither in these words nor in others. "
    "Is the claim right?",
    answers=(
        ("right", "The claim is right: the document does not state it"),
        ("wrong", "The claim is wrong: the document states it"),
        (CANNOT_TELL, "I cannot tell"),
    ),
    hidden=(
        "whether a judge made the claim, or found the opposite",
        "which judge",
        "whether the document was made with a flaw",
    ),
)
QUESTIONS: Final = {question.section: question for question in (DOCUMENTS, SEVERITY, FLAGS)}
