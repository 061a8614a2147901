"""Clauses: what one subject and verb say, as far as a negation reaches, with what bears on the whole of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from students.grounding.cues import Cue, find_cues
from students.grounding.items import own_content
from students.grounding.lexicon import listed
from students.grounding.sentences import Sentence, split_sentences
from students.grounding.subjects import PATIENT, Subject, subject_of
from students.grounding.words import Word, words_of

_HARD: Final = frozenset(";:()[]\u2013\u2014-.!?")
_BREAKS: Final = listed("but however though although whereas while because plus otherwise")
_RELATIVE: Final = frozenset(("which", "who"))
_EXCEPTIONS: Final = (
    ("except", "for"),
    ("except",),
    ("apart", "from"),
    ("aside", "from"),
    ("other", "than"),
    ("besides",),
    ("save", "for"),
    ("with", "the", "exception", "of"),
    ("excluding",),
)
_CONDITIONS: Final = listed("if unless until should whether")
_FINITE: Final = listed(
    "is are was were am has have had does did do can could will would may might should must remains "
    "remained continues continued took takes started starts uses used feels felt went goes came comes saw "
    "sees gets got noticed notices reports reported states stated says said complains complained "
    "describes described lives works drinks smokes improved worsened developed denies denied presents "
    "presented shows showed reveals revealed began begins wants needs thinks looks appears seems became "
    "becomes gave gives tried tries woke wakes eats sleeps stopped vomited fell settled resolved returned "
    "spread spreads radiates lasts lasted hurts hurt confirms confirmed"
)
_STARTERS: Final = listed("he she it they i we you patient pt his her my their with having mother father but")
_DENIALS: Final = frozenset(("before", "verb", "lexical", "undocumented"))
_INTERJECTIONS: Final = listed("no nope nah yes yeah yep")
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
_OPENING: Final = listed("sure know known remember recall ask asked see wonder wonders")
_BEFORE_A_MONTH: Final = listed("in since until of by last from during early late next this")
_SIDES: Final = listed("left right")
_MOST_OF_A_LABEL: Final = 5
_RELATIVE_REACH: Final = 3


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
    for part in _parts(words):
        if not part.words:
            continue
        if part.after_colon and made and len(made[-1].words) <= _MOST_OF_A_LABEL and not made[-1].cues:
            label = made[-1].words
            if len(made) == 1:
                made = []
        own = subject_of((*heading, *label, *part.words), before=before, clinician=sentence.speaker == "clinician")
        continues = bool(made) and (part.words[0].key in _FINITE or part.joined in ("exception", "relative"))
        subject = made[-1].subject if continues and own.kind == "patient" else own
        keys = {word.key for word in part.words}
        cues = find_cues(part.words)
        clause = Clause(
            sentence,
            part.words,
            subject,
            cues,
            label,
            lead=made[-1].words[-_RELATIVE_REACH:] if part.joined == "relative" and made else (),
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


@dataclass(frozen=True, slots=True)
class _Part:
    words: tuple[Word, ...]
    joined: str = ""
    after_colon: bool = False


def _parts(words: Sequence[Word]) -> Iterator[_Part]:
    """The words cut where a clause ends, without the marks and conjunctions between clauses."""
    start, joined, colon, place = 0, "", False, 0
    while place < len(words):
        key = words[place].key
        skip, kind = 0, ""
        if key in _HARD:
            skip, kind = int(not (key == ":" and _lists(words[start:place]))), "mark"
        elif (found := next((phrase for phrase in _EXCEPTIONS if _is_at(words, place, phrase)), None)) is not None:
            skip, kind = len(found), "exception"
        elif key in _BREAKS:
            skip, kind = 1, "break"
        elif key in _CONDITIONS and not _is_at(words, place - 1, ("as", "if")):
            skip, kind = 1, "condition"
        elif key == "in" and _is_at(words, place, ("in", "case")):
            skip, kind = 2, "condition"
        elif key in _RELATIVE or (key == "that" and _is_denied_soon(words, place + 1)):
            skip, kind = 1, "relative"
        elif key in (",", "and") and place > start and _begins_a_clause(words, place + 1, first=place - start == 1):
            skip, kind = 1, "comma" if key == "," else "and"
        elif key in (",", "and") and _turns_to_the_other_side(words[start:place], words[place + 1 : place + 2]):
            skip, kind = 1, "comma"
        elif key == "with" and place > start and _cue_at(words, place + 1):
            skip, kind = 1, "with"
        if skip and not (kind == "condition" and _is_open(words, place)):
            yield _Part(_trimmed(words[start:place]), joined, colon)
            start, joined, colon = place + skip, kind, key == ":"
            place += skip
        else:
            place += 1
    yield _Part(_trimmed(words[start:]), joined, colon)


def _trimmed(words: Sequence[Word]) -> tuple[Word, ...]:
    """Without marks and conjunctions at the ends."""
    first, last = 0, len(words)
    while first < last and (words[first].key in (",", "and", "or", "so") or words[first].is_mark):
        first += 1
    while last > first and (words[last - 1].key in (",", "and", "or", "with") or words[last - 1].is_mark):
        last -= 1
    return tuple(words[first:last])


def _is_at(words: Sequence[Word], place: int, phrase: Sequence[str]) -> bool:
    return place >= 0 and tuple(word.key for word in words[place : place + len(phrase)]) == tuple(phrase)


def _is_open(words: Sequence[Word], place: int) -> bool:
    """Whether a condition's word belongs to a cue, as in *not sure whether*."""
    return words[place].key in ("if", "whether") and place > 0 and words[place - 1].key in _OPENING


def _is_denied_soon(words: Sequence[Word], place: int) -> bool:
    return any(word.key in ("not", "never") for word in words[place : place + _RELATIVE_REACH])


def _cue_at(words: Sequence[Word], place: int) -> bool:
    cues = find_cues(words[place : place + 4])
    return bool(cues) and cues[0].first == 0 and cues[0].kind in _DENIALS


def _begins_a_clause(words: Sequence[Word], place: int, *, first: bool) -> bool:
    """Whether what follows a comma or *and* is a clause, and no further item of a list."""
    if place >= len(words):
        return False
    if words[place - 1].key == "," and words[place].key in ("and", "or"):
        place += 1
        if place >= len(words) or words[place - 1].key == "or":
            return False
    if first and words[place - 2].key in _INTERJECTIONS and words[place - 1].key == ",":
        return True
    if words[place].key in _STARTERS or _cue_at(words, place):
        return True
    for word in words[place:]:
        if word.key in (",", "and", "or") or word.key in _HARD or word.key in _BREAKS:
            return False
        if word.key in _FINITE:
            return True
    return False


def _turns_to_the_other_side(words: Sequence[Word], following: Sequence[Word]) -> bool:
    """Whether *left* follows what is said of the right, or the other way; a list of what is denied goes on."""
    if not following or following[0].key not in _SIDES:
        return False
    keys = {word.key for word in words}
    return bool(keys & (_SIDES - {following[0].key})) and not any(cue.kind in _DENIALS for cue in find_cues(words))


def _is_hedged(words: Sequence[Word]) -> bool:
    """Whether a word says that something may be; the month of May does not."""
    return any(
        word.key in _HEDGES and not (word.key == "may" and place and words[place - 1].key in _BEFORE_A_MONTH)
        for place, word in enumerate(words)
    )


def _lists(words: Sequence[Word]) -> bool:
    """Whether a colon goes on with what a cue before it denies, as in *stated as absent: fever*."""
    cues = find_cues(words)
    return bool(cues) and cues[-1].kind in ("after", "unstated") and not own_content(words[: cues[-1].first])


def _is_year(key: str) -> bool:
    return key.isdigit() and len(key) == 4 and key[:2] in ("19", "20")


def _used_to(words: Sequence[Word]) -> bool:
    return any(_is_at(words, place, ("used", "to")) for place in range(len(words)))
