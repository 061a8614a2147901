"""Restating: what an answer denied and the source does not state, said in words that claim nothing."""

from __future__ import annotations

from collections.abc import Sequence

from students.grounding.claims import Claims
from students.grounding.items import Item
from students.grounding.negation import Negation
from students.grounding.support import Finding

NOT_DOCUMENTED = "Not documented either way"
"""Beginning of every restatement; it says nothing of what is so."""


def restated(claims: Claims, found: Sequence[tuple[Negation, Finding]], *, question: str = "") -> str:
    """A sentence without what the source does not state.

    What it affirms stays in its own words, what is denied and supported is listed, and what is silent is said to be not
    documented either way.

    Args:
        claims: the sentence.
        found: what the source says of everything that it denies.
        question: what the answer answers.
    """
    kept = [
        _named(claims, negation, finding.item, question) for negation, finding in found if finding.standing == "denied"
    ]
    silent = [
        _named(claims, negation, finding.item, question) for negation, finding in found if finding.standing == "silent"
    ]
    parts = [claims.positive] if claims.positive else []
    if kept:
        parts.append(f"Stated as absent: {', '.join(kept)}.")
    parts.append(f"{NOT_DOCUMENTED}: {', '.join(silent)}.")
    return " ".join(parts)


def _named(claims: Claims, negation: Negation, item: Item, question: str) -> str:
    """The words of an item as the answer has them, with the subject where that is not the patient."""
    sentence = claims.sentence
    if negation.reach == "question":
        words = question[item.start : item.end]
    elif negation.reach == "heading":
        words = sentence.heading.lower()
    else:
        start, end = item.start, item.end
        if negation.cue.kind == "verb":
            start = min(negation.clause.start, start)
            return _statement(sentence.text[start - sentence.start : end - sentence.start], negation)
        words = sentence.text[start - sentence.start : end - sentence.start]
    subject = negation.clause.subject
    return words if subject.kind == "patient" else f"{words} ({subject})"


def _statement(words: str, negation: Negation) -> str:
    """A verb's denial without its cue, as *whether* introduces it."""
    cue = negation.clause.words[negation.cue.first : negation.cue.last + 1]
    first, last = cue[0].start - negation.clause.start, cue[-1].end - negation.clause.start
    if not 0 <= first < last <= len(words):
        return words
    plain = " ".join((words[:first] + " " + words[last:]).split())
    return f"whether {plain[0].lower()}{plain[1:]}"
