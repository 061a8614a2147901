"""The claims of an answer, sentence by sentence: what a judge is asked about, and what is denied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from students.grounding.clauses import Clause, clauses_of_sentence
from students.grounding.items import own_content
from students.grounding.lexicon import listed
from students.grounding.negation import Negation, negations_of
from students.grounding.sentences import Sentence, split_sentences
from students.grounding.words import Word, words_of

Polarity = Literal["positive", "negative", "mixed", "undocumented", "none"]
"""What a sentence does: affirm, deny, both, say that something is not documented, or claim nothing."""

_JOINING: Final = listed("but however though although whereas while and with because except")
_INTRODUCING: Final = frozenset(("before", "lexical", "undocumented", "ceased"))


@dataclass(frozen=True, slots=True)
class Claims:
    """One sentence of an answer with what it claims.

    Attributes:
        sentence: the sentence.
        polarity: what it does.
        positive: the text that a judge is asked about: the sentence, or what of it is not denied; nothing where it
            affirms nothing.
        denials: its negations.
        silences: what it says to be undocumented.
    """

    sentence: Sentence
    polarity: Polarity
    positive: str = ""
    denials: tuple[Negation, ...] = ()
    silences: tuple[Negation, ...] = ()


def claims_of(answer: str, *, question: str = "") -> tuple[Claims, ...]:
    """The claims of an answer, a sentence each; headings and questions claim nothing.

    Args:
        answer: the answer.
        question: what it answers, from which a bare *no* takes what it denies.
    """
    asked = words_of(question)
    sentences = split_sentences(answer)
    return tuple(_claims(sentence, asked=asked if number == 0 else ()) for number, sentence in enumerate(sentences))


def _claims(sentence: Sentence, *, asked: tuple[Word, ...]) -> Claims:
    if sentence.is_heading or sentence.question:
        return Claims(sentence, "none")
    clauses = clauses_of_sentence(sentence, asked=asked)
    denials: list[Negation] = []
    silences: list[Negation] = []
    pieces: list[str] = []
    for clause in clauses:
        stated = [
            negation for negation in negations_of(clause) if not clause.conditional and negation.cue.kind != "ceased"
        ]
        denials += [negation for negation in stated if negation.denies]
        silences += [negation for negation in stated if not negation.denies]
        if clause.is_exception and denials:
            pieces.append(_exception_piece(sentence, denials[-1], clause))
        elif piece := _affirmed_piece(sentence, clause, stated):
            pieces.append(piece)
    if not denials and not silences:
        return Claims(sentence, "positive", sentence.text)
    positive = " ".join(pieces)
    polarity: Polarity = "mixed" if positive else "negative" if denials else "undocumented"
    return Claims(sentence, polarity, positive, tuple(denials), tuple(silences))


def _affirmed_piece(sentence: Sentence, clause: Clause, stated: Sequence[Negation]) -> str:
    """The text of a clause that affirms: all of it without a negation, and else what stands before the first one."""
    if not clause.words:
        return ""
    words = clause.words
    if stated:
        first = stated[0].cue
        begins = min((word.start for word in words if word.start >= stated[0].start), default=clause.start)
        if first.kind not in _INTRODUCING or stated[0].reach != "scope":
            return ""
        words = tuple(word for word in words[: first.first] if word.end <= begins)
    while words and (words[-1].key in _JOINING or words[-1].is_mark):
        words = words[:-1]
    while words and (words[0].key in _JOINING or words[0].is_mark):
        words = words[1:]
    if not own_content(words):
        return ""
    piece = sentence.text[words[0].start - sentence.start : words[-1].end - sentence.start]
    return f"{piece[0].upper()}{piece[1:]}."


def _exception_piece(sentence: Sentence, denial: Negation, clause: Clause) -> str:
    """What an exception affirms: of "no allergies except penicillin" that penicillin is one."""
    first, last = denial.items[0].start - sentence.start, denial.items[-1].end - sentence.start
    excepted = sentence.text[clause.start - sentence.start : clause.end - sentence.start]
    named = sentence.text[max(first, 0) : last]
    return f"{named[:1].upper()}{named[1:]}: {excepted}." if named else f"{excepted[0].upper()}{excepted[1:]}."
