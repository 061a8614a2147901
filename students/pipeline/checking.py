"""The check of a fact list on a document: a verdict a fact, and a second look over those that are absent.

Severity is not among what a check is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from students.dialogue import Dialogue, Question
from students.keyed import PRESENT, Keyed, parse_keyed
from students.keyed_questions import ask_each
from students.parsing import Abstained, Unread
from students.pipeline.quotes import parse_quotes, stands_in
from students.prompt import Prompt

Grade = Literal["full", "partial", "absent"]

GRADED: Final[Mapping[str, Grade]] = {"full": "full", "partial": "partial", "absent": "absent"}
"""Words of the tier with three grades."""
COERCED: Final = "coerced"
"""What ``partial`` is in the tier with two: present, and counted."""
_BINARY: Final[Mapping[str, str]] = {
    **{word: "full" if present else "absent" for word, present in PRESENT.items()},
    "partial": COERCED,
    "partially present": COERCED,
}


@dataclass(frozen=True, slots=True)
class Checked:
    """What a document says of one fact.

    ``mentions`` holds the grade in each of its sections where they were checked apart. ``coerced`` says that the judge
    answered *partial* where there is no such grade; ``rescue`` are the document's words that overruled *absent*.
    """

    grade: Grade
    mentions: tuple[Grade, ...] = ()
    coerced: bool = False
    rescue: str | None = None


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What a second look found: verdicts after it, and how many quotes were not in the document."""

    checked: Mapping[str, Checked]
    refused: int


def check_facts(
    prompt: Prompt, texts: Mapping[str, str], document: str, *, graded: bool
) -> Dialogue[dict[str, Checked]]:
    """A verdict for each fact on one text, by key.

    Raises:
        UnreadError: an answer could not be read, or a fact has no verdict after a second request.
    """
    question = Question(prompt, {"document": document}, "check of the facts")
    words = yield from ask_each(question, texts, slot="facts", parse=_grades if graded else _verdicts)
    return {
        key: Checked("full", coerced=True) if word == COERCED else Checked(GRADED[word]) for key, word in words.items()
    }


def check_sections(
    prompt: Prompt, texts: Mapping[str, str], sections: Sequence[str], *, graded: bool
) -> Dialogue[dict[str, Checked]]:
    """A verdict for each fact on each section; the document's is the best of them.

    Raises:
        UnreadError: as :func:`check_facts`.
    """
    found = []
    for section in sections:
        found.append((yield from check_facts(prompt, texts, section, graded=graded)))
    order = ("absent", "partial", "full")
    whole = {}
    for key in texts:
        mentions = tuple(each[key].grade for each in found)
        best = max(mentions, key=order.index)
        whole[key] = Checked(best, mentions, any(each[key].coerced for each in found))
    return whole


def look_again(
    prompt: Prompt, texts: Mapping[str, str], document: str, checked: Mapping[str, Checked]
) -> Dialogue[SecondLook]:
    """Ask once more for the facts that are absent; a quote that stands in the document makes a fact present.

    Raises:
        UnreadError: an answer could not be read, or a fact is left out twice.
    """
    absent = {key: texts[key] for key, seen in checked.items() if seen.grade == "absent"}
    if not absent:
        return SecondLook(checked, 0)
    question = Question(prompt, {"document": document}, "second look")
    quotes = yield from ask_each(question, absent, slot="facts", parse=parse_quotes)
    rescued = {key: quote for key, quote in quotes.items() if stands_in(quote, document)}
    after = {
        key: replace(seen, grade="full", rescue=rescued[key]) if key in rescued else seen
        for key, seen in checked.items()
    }
    return SecondLook(after, sum(bool(quote) for quote in quotes.values()) - len(rescued))


def _verdicts(text: str, keys: Sequence[str]) -> Keyed[str] | Unread | Abstained:
    return parse_keyed(text, keys, _BINARY)


def _grades(text: str, keys: Sequence[str]) -> Keyed[str] | Unread | Abstained:
    return parse_keyed(text, keys, {word: str(grade) for word, grade in GRADED.items()})
