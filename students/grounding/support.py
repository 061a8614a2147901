"""Where a source denies what an answer denies, or affirms it, or leaves it open: a search without a model.

The rule: a denial is supported only where the source itself denies it, in one clause and of the same subject. Stems,
side and dose must be those of the source. Since a denial of the narrower thing says nothing of the wider one, "no
severe pain" supports no "no pain"; the wider denial supports the narrower one where both have the same head.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from students.grounding.clauses import Clause, read_clauses
from students.grounding.items import Item, items_of, own_content, sides_agree
from students.grounding.lexicon import BODY, COMPOUNDS
from students.grounding.negation import Affirmed, Negation, affirmed_of, negations_of

Standing = Literal["denied", "affirmed", "affirmed of the past", "both", "open", "silent"]
"""What a source says of something: it denies or affirms it, does both, leaves it open, or does not say."""


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the source, by character offsets."""

    start: int
    end: int

    def of(self, source: str) -> str:
        """The words there."""
        return source[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a source says of one item, and where; silence has no place."""

    item: Item
    standing: Standing
    span: Span | None = None

    @property
    def words(self) -> str:
        """The item's stems, sides and doses, for a reason."""
        return " ".join(sorted(self.item.words | self.item.sides | self.item.doses))


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A source as it is searched: what its clauses deny and affirm."""

    denied: tuple[Negation, ...]
    affirmed: tuple[tuple[Clause, Affirmed], ...]
    said: tuple[tuple[Clause, frozenset[str]], ...]


@lru_cache(maxsize=64)
def read_source(source: str) -> ReadSource:
    """A source, read once for the claims of all answers; its questions say nothing but with their answers."""
    clauses = [clause for clause in read_clauses(source) if clause.words and not clause.sentence.question]
    stated = [clause for clause in clauses if not clause.conditional]
    negations = [negation for clause in stated for negation in negations_of(clause)]
    unstated = {id(negation.clause) for negation in negations if not negation.denies}
    return ReadSource(
        tuple(negation for negation in negations if negation.denies),
        tuple((clause, affirmed_of(clause)) for clause in stated if clause.asserting and id(clause) not in unstated),
        tuple(
            (clause, frozenset(part.stem for part in own_content((*clause.asked, *clause.label, *clause.words))))
            for clause in stated
            if id(clause) not in unstated
        ),
    )


def findings_of(denial: Negation, source: str) -> tuple[Finding, ...]:
    """What the source says of each thing that a denial denies."""
    read = read_source(source)
    return tuple(_finding(item, denial, read) for item in denial.items)


def documented(silence: Negation, source: str) -> Finding | None:
    """Where the source says anything of what is said to be undocumented, or None where it says nothing of it."""
    subject = silence.clause.subject
    for item in silence.items:
        wanted = item.words | item.sides | item.doses
        for clause, stems in read_source(source).said:
            if wanted <= stems and (clause.subject.may_be(subject) or clause.subject.covers(subject)):
                return Finding(item, "affirmed", Span(clause.start, clause.end))
    return None


def refuted(text: str, source: str) -> Finding | None:
    """Where the source denies, in so many words, what a text affirms; None where it does not, or also affirms it."""
    read = read_source(source)
    for clause in read_clauses(text):
        if clause.cues or clause.conditional or clause.hedged or clause.past or not clause.asserting:
            continue
        for item in items_of(clause.words):
            for negation in read.denied:
                former = negation.clause.past and negation.cue.kind != "ceased"
                if former or negation.clause.hedged or not negation.clause.subject.covers(clause.subject):
                    continue
                if any(_entails(stated, item) for stated in negation.items) and not negation.clause.exception:
                    as_denied = Negation(clause, negation.cue, (item,), item.start, item.end)
                    if _affirmation(item, as_denied, read, past=False) is None:
                        return Finding(item, "denied", _span(negation))
    return None


def _finding(item: Item, denial: Negation, read: ReadSource) -> Finding:
    denied, opened, excepted = _denials(item, denial, read)
    affirmed = excepted or _affirmation(item, denial, read, past=False)
    if denied is not None:
        return Finding(item, "both", affirmed) if affirmed is not None else Finding(item, "denied", denied)
    if affirmed is not None:
        return Finding(item, "affirmed", affirmed)
    if (opened := opened or _affirmation(item, denial, read, past=False, hedged=True)) is not None:
        return Finding(item, "open", opened)
    former = _affirmation(item, denial, read, past=True) or (_former(item, denial, read) if denial.never else None)
    return Finding(item, "silent") if former is None else Finding(item, "affirmed of the past", former)


def _denials(item: Item, denial: Negation, read: ReadSource) -> tuple[Span | None, Span | None, Span | None]:
    """Where the source denies an item, where it leaves it open, and where it excepts it from a denial."""
    denied = opened = excepted = None
    for negation in read.denied:
        if not negation.clause.subject.covers(denial.clause.subject) or (denial.never and not negation.never):
            continue
        exception = frozenset(part.stem for part in own_content(negation.clause.exception))
        for stated in negation.items:
            span = _span(negation)
            if exception and _is_excepted(stated, item, exception, denial):
                excepted = Span(span.start, max(span.end, negation.clause.exception[-1].end))
            elif not _entails(stated, item):
                continue
            elif negation.clause.hedged and not denial.clause.hedged:
                opened = span
            else:
                denied = denied or span
    return denied, opened, excepted


def _is_excepted(stated: Item, item: Item, exception: frozenset[str], denial: Negation) -> bool:
    """Whether an exception is made of the item, or of a part of it that the answer does not except."""
    if stated.head != item.head:
        return False
    own = frozenset(part.stem for part in own_content(denial.clause.exception))
    return bool(item.words & exception) or (item.words <= stated.words and not exception <= own)


def _entails(stated: Item, item: Item) -> bool:
    """Whether the denial of ``stated`` in a source denies ``item``."""
    if not sides_agree(item, stated) or (stated.doses and stated.doses != item.doses):
        return False
    more = item.words - stated.words
    if stated.words - item.words <= item.context and more <= stated.context:
        return True
    elsewhere = more & BODY - stated.context  # "the ankle is swollen, no redness" says nothing of the ear
    return stated.words < item.words and stated.head == item.head and not elsewhere


def _span(negation: Negation) -> Span:
    """The negation in the source, from the question or the label on where it takes what it denies from there."""
    starts = [negation.start]
    if negation.reach == "question":
        starts.append(negation.clause.asked[0].start)
    elif negation.reach == "label" or negation.clause.label:
        starts.append(negation.clause.label[0].start)
    return Span(min(starts), max(negation.end, negation.clause.end if negation.reach != "scope" else negation.end))


def _affirmation(item: Item, denial: Negation, read: ReadSource, *, past: bool, hedged: bool = False) -> Span | None:
    """Where the source affirms an item, now or of former times, for sure or as what may be."""
    for clause, affirmed in read.affirmed:
        if (clause.past, clause.hedged) == (past, hedged) and _affirms(clause, affirmed, item, denial):
            return Span(min(clause.start, *(word.start for word in affirmed.words)), clause.end)
    return None


def _affirms(clause: Clause, affirmed: Affirmed, item: Item, denial: Negation) -> bool:
    if not clause.subject.may_be(denial.clause.subject):
        return False
    stems = {part.stem for part in affirmed.content}
    if not item.words or not item.words <= stems or not item.doses <= stems:
        return False
    if not (item.all_sides <= stems or "both" in stems):
        return False
    return any(part.stem == item.head and not _only_names_a_kind(affirmed, part.last) for part in affirmed.content)


def _only_names_a_kind(affirmed: Affirmed, last: int) -> bool:
    return last + 1 < len(affirmed.words) and affirmed.words[last + 1].key in COMPOUNDS


def _former(item: Item, denial: Negation, read: ReadSource) -> Span | None:
    """Where the source says that something has ceased, which so was there once."""
    for negation in read.denied:
        ceased = negation.cue.kind == "ceased" and negation.clause.subject.covers(denial.clause.subject)
        if ceased and any(_entails(stated, item) for stated in negation.items):
            return _span(negation)
    return None
