"""Examining an answer: all that is found without a model, and what a judge is to be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from students.grounding.claims import Claims, claims_of
from students.grounding.items import own_content
from students.grounding.mismatches import Mismatch, mismatch_of
from students.grounding.negation import Negation
from students.grounding.sentences import split_sentences
from students.grounding.support import Finding, Span, documented, findings_of, refuted
from students.grounding.words import words_of


@dataclass(frozen=True, slots=True)
class Examined:
    """One sentence of an answer with what the source says of it.

    Attributes:
        claims: the sentence and its claims.
        denials: each thing that it denies, with its negation.
        documented: where the source does say what the sentence says to be undocumented.
        mismatch: a dose or a side that the source has otherwise.
        refuted: where the source denies what the sentence affirms.
        nearest: the sentence of the source that shares most words with what the sentence affirms.
    """

    claims: Claims
    denials: tuple[tuple[Negation, Finding], ...] = ()
    documented: Finding | None = None
    mismatch: Mismatch | None = None
    refuted: Finding | None = None
    nearest: Span | None = None

    @property
    def asked(self) -> str:
        """What a judge is asked about; nothing where the sentence affirms nothing, or the source decides without it."""
        return self.claims.positive if self.mismatch is None and self.refuted is None else ""

    @property
    def against(self) -> tuple[tuple[str, Span], ...]:
        """What speaks against what the sentence affirms or says to be undocumented, in words, and where."""
        found: list[tuple[str, Span]] = []
        if self.documented is not None and self.documented.span is not None:
            words = f"the source does say something of what is said to be undocumented ({self.documented.words})"
            found.append((words, self.documented.span))
        if (wrong := self.mismatch) is not None:
            found.append((f"the source has {wrong.stated} for {wrong.of}, and not {wrong.said}", wrong.span))
        if self.refuted is not None and self.refuted.span is not None:
            found.append((f"the source denies what it affirms ({self.refuted.words})", self.refuted.span))
        return tuple(found)


@lru_cache(maxsize=256)
def examine(answer: str, source: str, question: str = "") -> tuple[Examined, ...]:
    """Every sentence of an answer, examined against the source; the same on every machine."""
    return tuple(_examined(claims, source) for claims in claims_of(answer, question=question))


def _examined(claims: Claims, source: str) -> Examined:
    denials = tuple((denial, finding) for denial in claims.denials for finding in findings_of(denial, source))
    said = (documented(silence, source) for silence in claims.silences)
    return Examined(
        claims,
        denials,
        next((finding for finding in said if finding is not None), None),
        mismatch_of(claims.positive, source) if claims.positive else None,
        refuted(claims.positive, source) if claims.positive else None,
        nearest_of(claims.positive, source) if claims.positive else None,
    )


def nearest_of(text: str, source: str) -> Span | None:
    """The sentence of the source with most of the text's stems, the first of several; None where none has any.

    It shows where to look. It is no proof: the judge decides, and shared words say nothing of what is said with them.
    """
    wanted = _stems(text)
    best: tuple[int, Span | None] = (0, None)
    for sentence in split_sentences(source):
        shared = len(wanted & _stems(sentence.text))
        if shared > best[0]:
            best = (shared, Span(sentence.start, sentence.end))
    return best[1]


@lru_cache(maxsize=1024)
def _stems(text: str) -> frozenset[str]:
    return frozenset(part.stem for part in own_content(words_of(text)))


def asked_of(examined: Sequence[Examined]) -> tuple[str, ...]:
    """What a judge is asked about, in order of the sentences."""
    return tuple(each.asked for each in examined if each.asked)
