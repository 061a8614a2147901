"""Doses, sides and persons of what an answer affirms, held against the source: another one is no support.

The check needs no model and is made before a judge is asked, as small judges read past a digit, a side or a mother. It
speaks only where the source has the same thing with another dose, side or person, and nowhere with the answer's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from students.grounding.clauses import Clause, read_clauses
from students.grounding.items import own_content
from students.grounding.lexicon import BODY, UNITS
from students.grounding.subjects import Subject
from students.grounding.support import Span, read_source
from students.grounding.words import Content

_UNITS = frozenset(UNITS.values()) - {"times", "days", "weeks", "months", "years", "hours", "minutes", ""}
"""Units of a dose; a time may be of many things, and is left to the judge."""
_OPPOSITE = {"left": "right", "right": "left"}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """What an answer says otherwise than the source.

    Attributes:
        of: what has the dose, the side or the person.
        said: as the answer has it.
        stated: as the source has it.
        span: where the source has it.
    """

    of: str
    said: str
    stated: str
    span: Span


def mismatch_of(text: str, source: str) -> Mismatch | None:
    """The first dose, side or person of a text that the source has otherwise, or None where none is to be seen."""
    stated = [(clause, own_content(clause.words)) for clause in read_clauses(source)]
    for clause in read_clauses(text):
        said = own_content(clause.words)
        if (other := _person(clause, said, source)) is not None:
            return other
        for place, part in enumerate(said):
            found = None
            if part.is_number:
                found = _dose(said, place, stated)
            elif part.stem in _OPPOSITE:
                found = _side(said, place, stated)
            if found is not None:
                return found
    return None


def _person(clause: Clause, said: Sequence[Content], source: str) -> Mismatch | None:
    """Whom the source says it of, where that is somebody else and nobody whom the answer may mean."""
    wanted = {part.stem for part in said}
    if clause.cues or clause.subject.kind == "unclear" or not wanted:
        return None
    having = [
        (stated, affirmed)
        for stated, affirmed in read_source(source).affirmed
        if wanted <= {part.stem for part in affirmed.content}
    ]
    if not having or any(_may_mean(stated.subject, clause.subject) for stated, _ in having):
        return None
    stated = having[0][0]
    return Mismatch(" ".join(sorted(wanted)), str(clause.subject), str(stated.subject), Span(stated.start, stated.end))


def _may_mean(stated: Subject, subject: Subject) -> bool:
    return stated.kind == "unclear" or stated.may_be(subject) or subject.may_be(stated)


def _dose(said: Sequence[Content], place: int, stated: Sequence[tuple[Clause, Sequence[Content]]]) -> Mismatch | None:
    dose = said[place].stem
    if (unit := _unit(dose)) not in _UNITS:
        return None
    things = [part.stem for part in said if not part.is_number and not part.is_side]
    if any(part.stem == dose for _, content in stated for part in content):
        return None
    for thing in things:
        for clause, content in stated:
            if not any(part.stem == thing for part in content):
                continue
            for part in content:
                if part.is_number and _unit(part.stem) == unit:
                    return Mismatch(thing, dose, part.stem, Span(clause.start, clause.end))
    return None


def _side(said: Sequence[Content], place: int, stated: Sequence[tuple[Clause, Sequence[Content]]]) -> Mismatch | None:
    side = said[place].stem
    thing = next((part.stem for part in said[place + 1 : place + 3] if part.stem in BODY), None)
    if thing is None:
        return None
    having = [
        (clause, stems)
        for clause, content in stated
        if thing in (stems := {part.stem for part in content}) and stems & {"left", "right", "both"}
    ]
    if not having or any({side, "both"} & stems for _, stems in having):
        return None
    clause = having[0][0]
    return Mismatch(thing, side, _OPPOSITE[side], Span(clause.start, clause.end))


def _unit(dose: str) -> str:
    return dose.lstrip("0123456789.,")
