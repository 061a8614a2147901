"""Clauses: what one subject and verb say, as far as a negation reaches, with what bears on the whole of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from students.grounding.cues import Cue, find_cues
from students.grounding.cutting import RELATIVE_REACH, is_at, parts_of
from students.grounding.lexicon import FINITE, listed
from students.grounding.sentences import Sentence, split_sentences
from students.grounding.subjects import PATIENT, Subject, subject_of
from students.grounding.words import Word, words_of

_HEDGES: Final = listed(
    "possible possibly may might probable probably likely unlikely suspected suspect suspicion perhaps "
    "maybe query potential potentially presumed presumably seems seemingly think thinks wonder wonders "
    "could doubtful"
)
_PAST: Final = listed(
    "previously previous ago childhood former formerly past resolved historically once child teenager "
    "earlier last yesterday"
)
_NOT_ASSERTING: Final = listed(
    "risk screen screened screening exclude worried worry worries concerned concern afraid fear fears "
    "fearful watch warned prevent prevention prophylaxis leaflet return test tested testing check "
    "checking checked beware case considered consider differential "
    "clinic team service referral vaccine vaccination vaccinated"
)
_BEFORE_A_MONTH: Final = listed("in since until of by last from during early late next this")
_MOST_OF_A_LABEL: Final = 5


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a sentence.

    Attributes:
        sentence: the sentence that it is of.
        words: its words, without what joins it to others.
        subject: whom it is about.
        cues: its negation cues.
        label: words before a colon, where it stands after one ("Allergies: none").
        lead: words that a relative clause belongs to.
        near: words of the clause before it in the sentence, which may say what it is about.
        asked: words of the question that the sentence answers.
        exception: words of the exception that is made from it.
        is_exception: whether it is one.
        conditional: whether it is what something depends on.
        hedged: whether it says that something may be, or is not sure to be.
        past: whether it speaks of former times.
        asserting: whether it says of what it names that it is: not so of tests, risks and worries.
    """

    sentence: Sentence
    words: tuple[Word, ...]
    subject: Subject = PATIENT
    cues: tuple[Cue, ...] = ()
    label: tuple[Word, ...] = ()
    lead: tuple[Word, ...] = ()
    near: tuple[Word, ...] = ()
    asked: tuple[Word, ...] = ()
    exception: tuple[Word, ...] = ()
    is_exception: bool = False
    conditional: bool = False
    hedged: bool = False
    past: bool = False
    asserting: bool = True

    @property
    def start(self) -> int:
        """Offset of its first word in the text."""
        return self.words[0].start

    @property
    def end(self) -> int:
        """Offset after its last word."""
        return self.words[-1].end


def read_clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a text in order, headings left out."""
    found: list[Clause] = []
    before, asked = PATIENT, tuple[Word, ...]()
    for sentence in split_sentences(text):
        if sentence.is_heading:
            before, asked = PATIENT, ()
            continue
        answered = () if sentence.question else asked
        clauses = list(_of_a_sentence(sentence, before, answered))
        found += clauses
        if clauses:
            before = clauses[-1].subject
        asked = tuple(word for clause in clauses for word in clause.words) if sentence.question else ()
        if any(cue.kind != "pseudo" for clause in clauses for cue in clause.cues) and sentence.question:
            asked = ()  # what an answer to a negated question means is not sure
    return tuple(found)


def clauses_of_sentence(sentence: Sentence, *, asked: tuple[Word, ...] = ()) -> tuple[Clause, ...]:
    """The clauses of one sentence by itself; nothing before it is known but words of a question that it answers."""
    return tuple(_of_a_sentence(sentence, PATIENT, asked))


def _of_a_sentence(sentence: Sentence, before: Subject, asked: tuple[Word, ...]) -> Iterator[Clause]:
    words = words_of(sentence.text, start=sentence.start)
    heading = words_of(sentence.heading)
    label: tuple[Word, ...] = ()
    made: list[Clause] = []
    for part in parts_of(words):
        if not part.words:
            continue
        if part.after_colon and made and len(made[-1].words) <= _MOST_OF_A_LABEL and not made[-1].cues:
            label = made[-1].words
            if len(made) == 1:
                made = []
        own = subject_of((*heading, *label, *part.words), before=before, clinician=sentence.speaker == "clinician")
        continues = bool(made) and (part.words[0].key in FINITE or part.joined in ("exception", "relative"))
        subject = made[-1].subject if continues and own.kind == "patient" else own
        keys = {word.key for word in part.words}
        cues = find_cues(part.words)
        clause = Clause(
            sentence,
            part.words,
            subject,
            cues,
            label,
            lead=made[-1].words[-RELATIVE_REACH:] if part.joined == "relative" and made else (),
            near=made[-1].words if made else (),
            asked=asked,
            is_exception=part.joined == "exception",
            conditional=part.joined == "condition",
            hedged=_is_hedged(part.words) or any(cue.kind == "open" for cue in cues),
            past=bool(keys & _PAST) or any(_is_year(word.key) for word in part.words) or _used_to(part.words),
            asserting=not keys & _NOT_ASSERTING,
        )
        if clause.is_exception and made:
            made[-1] = replace(made[-1], exception=clause.words)
        made.append(clause)
        before = subject
    yield from made


def _is_hedged(words: Sequence[Word]) -> bool:
    """Whether a word says that something may be; the month of May does not."""
    return any(
        word.key in _HEDGES and not (word.key == "may" and place and words[place - 1].key in _BEFORE_A_MONTH)
        for place, word in enumerate(words)
    )


def _is_year(key: str) -> bool:
    return key.isdigit() and len(key) == 4 and key[:2] in ("19", "20")


def _used_to(words: Sequence[Word]) -> bool:
    return any(is_at(words, place, ("used", "to")) for place in range(len(words)))
