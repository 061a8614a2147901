"""The gate: an answer is delivered, delivered restated, or rejected, with reasons and the places that bear on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from lineage.errors import InputError
from students.grounding.examination import Examined, asked_of, examine
from students.grounding.restating import NOT_DOCUMENTED, restated
from students.grounding.sentences import Sentence
from students.grounding.support import Span
from students.parsing import Abstained, Unread

PASS_MARK: Final = 0.7
"""Least rating at which what a sentence affirms passes."""

Outcome = Literal["delivered", "delivered restated", "rejected", "undecided"]
"""What becomes of an answer; undecided where a judge's answer could not be read and nothing else rejects it."""
Standing = Literal["supported", "restated", "rejected", "undecided", "no claim"]
"""What becomes of a sentence."""
Rating = float | Unread | Abstained
"""How sure a judge is, from 0 to 1, that the source states something; or why there is no number."""
Judge = Callable[[str, str], Rating]
"""Rates a statement against a source."""

_REJECTING: Final = {
    "affirmed": "the source affirms what it denies",
    "affirmed of the past": "the source affirms what it denies, of former times",
    "both": "the source denies this in one place and affirms it in another",
    "open": "the source leaves open what it denies",
}


@dataclass(frozen=True, slots=True)
class GatedSentence:
    """What became of one sentence, and why.

    Attributes:
        sentence: the sentence, with its place in the answer.
        polarity: what it does (see :data:`students.grounding.claims.Polarity`).
        standing: what became of it.
        text: what is delivered for it.
        reasons: why, in words.
        spans: the places of the source that support it, or speak against it. Of what a judge decided it is only the
            sentence with most words in common.
        rating: the judge's rating of what it affirms, or None where it was not asked or not read.
    """

    sentence: Sentence
    polarity: str
    standing: Standing
    text: str
    reasons: tuple[str, ...]
    spans: tuple[Span, ...] = ()
    rating: float | None = None


@dataclass(frozen=True, slots=True)
class Gated:
    """What became of an answer.

    Attributes:
        outcome: delivered, delivered restated, rejected, or undecided.
        text: what is delivered; None where nothing is.
        sentences: its sentences.
        score: the least support of any scored sentence, from 0 to 1: a rating, 1 for a supported denial, 0 for what is
            rejected without a judge. None where nothing is scored, as a restatement claims nothing, and where a rating
            is missing. It is no probability that the answer is right.
        pass_mark: the mark that ratings were held against.
    """

    outcome: Outcome
    text: str | None
    sentences: tuple[GatedSentence, ...]
    score: float | None
    pass_mark: float

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it was not delivered as it stands; of a delivered answer nothing."""
        bad = [each for each in self.sentences if each.standing in ("rejected", "undecided", "restated")]
        return tuple(f"{each.sentence.text}: {reason}" for each in bad for reason in each.reasons)

    def row(self, source: str) -> dict[str, Any]:
        """The JSON form, with the words of the source that bear on each sentence."""
        return {
            "outcome": self.outcome,
            "text": self.text,
            "score": self.score,
            "pass_mark": self.pass_mark,
            "sentences": [
                {
                    "text": each.sentence.text,
                    "start": each.sentence.start,
                    "end": each.sentence.end,
                    "polarity": each.polarity,
                    "standing": each.standing,
                    "delivered": each.text,
                    "rating": each.rating,
                    "reasons": list(each.reasons),
                    "spans": [{"start": s.start, "end": s.end, "words": s.of(source)} for s in each.spans],
                }
                for each in self.sentences
            ],
        }


def gate(answer: str, source: str, judge: Judge, *, question: str = "", pass_mark: float = PASS_MARK) -> Gated:
    """Hold an answer against its source.

    What a sentence denies is looked for in the source without a model; what it affirms is rated by the judge. A denial
    that the source does not state is restated as not documented either way, and one that the source affirms or leaves
    open rejects the answer. All sentences are looked at, so that all reasons are known.

    Args:
        answer: the answer.
        source: what it must be stated in.
        judge: rates what is affirmed; it is not asked of what is denied.
        question: what the answer answers, where a bare *no* may stand in it.
        pass_mark: least rating that passes, in (0, 1].

    Raises:
        InputError: the answer holds no sentence, or the pass mark is outside (0, 1].
    """
    examined = examine(answer, source, question)
    ratings = [judge(asked, source) for asked in asked_of(examined)]
    return decide(examined, ratings, answer=answer, question=question, pass_mark=pass_mark)


def decide(
    examined: Sequence[Examined],
    ratings: Sequence[Rating],
    *,
    answer: str,
    question: str = "",
    pass_mark: float = PASS_MARK,
) -> Gated:
    """What becomes of an answer with the ratings of what a judge was asked, in order.

    Raises:
        InputError: the answer holds no sentence, or the pass mark is outside (0, 1].
    """
    if not 0 < pass_mark <= 1:
        raise InputError(f"pass_mark must be in (0, 1], got {pass_mark:g}; use {PASS_MARK}")
    if not examined:
        raise InputError("answer holds no sentence, so that there is nothing to hold against the source; give one")
    assert len(ratings) == len(asked_of(examined)), "a rating for everything that is asked"
    left = iter(ratings)
    sentences = tuple(
        _gated(each, next(left) if each.asked else None, pass_mark=pass_mark, question=question) for each in examined
    )
    outcome = _outcome(sentences)
    text = _delivered(answer, sentences) if outcome in ("delivered", "delivered restated") else None
    return Gated(outcome, text, sentences, _score(examined, sentences), pass_mark)


def _outcome(sentences: Sequence[GatedSentence]) -> Outcome:
    standings = {each.standing for each in sentences}
    if "rejected" in standings:
        return "rejected"
    if "undecided" in standings:
        return "undecided"
    return "delivered restated" if "restated" in standings else "delivered"


def _gated(each: Examined, rating: Rating | None, *, pass_mark: float, question: str) -> GatedSentence:
    claims = each.claims
    value = _number(rating)
    against = list(_against(each, value, pass_mark=pass_mark))
    unread = _why_unread(rating)
    silent = [finding for _, finding in each.denials if finding.standing == "silent"]
    spans = tuple(span for _, finding in each.denials if (span := finding.span) is not None)
    nearest = () if each.nearest is None or not each.asked else (each.nearest,)
    spans = tuple(dict.fromkeys((*spans, *(span for _, span in each.against), *nearest)))
    standing: Standing
    text, reasons = claims.sentence.text, tuple(against)
    if against:
        standing = "rejected"
    elif unread:
        standing, reasons = "undecided", (unread,)
    elif silent:
        standing, reasons = "restated", ("the source says nothing of it either way",)
        text = restated(claims, each.denials, question=question)
    elif claims.polarity in ("none", "undocumented"):
        standing = "no claim"
    else:
        standing = "supported"
    return GatedSentence(claims.sentence, claims.polarity, standing, text, reasons, spans, value)


def _against(each: Examined, rating: float | None, *, pass_mark: float) -> Iterator[str]:
    """What rejects a sentence."""
    for _, finding in each.denials:
        if finding.standing in _REJECTING:
            yield f"{_REJECTING[finding.standing]} ({finding.words})"
    yield from (reason for reason, _ in each.against)
    if rating is not None and rating < pass_mark:
        yield f"the judge rates what it affirms {rating:.2f}, below {pass_mark:g}"


def _number(rating: Rating | None) -> float | None:
    """A rating that is a number from 0 to 1; anything else is none."""
    if isinstance(rating, bool) or not isinstance(rating, int | float):
        return None
    return float(rating) if math.isfinite(rating) and 0 <= rating <= 1 else None


def _why_unread(rating: Rating | None) -> str:
    if rating is None or _number(rating) is not None:
        return ""
    if isinstance(rating, Unread):
        return f"the judge's answer could not be read ({rating.reason}: {rating.seen})"
    if isinstance(rating, Abstained):
        return f"the judge abstained ({rating.seen})"
    return f"the judge's rating is no number from 0 to 1 ({rating!r})"


def _score(examined: Sequence[Examined], sentences: Sequence[GatedSentence]) -> float | None:
    if any(_is_missing(each, sentence) for each, sentence in zip(examined, sentences, strict=True)):
        return None
    scores: list[float] = []
    for each, sentence in zip(examined, sentences, strict=True):
        if sentence.rating is not None:
            scores.append(sentence.rating)
        if each.against:
            scores.append(0.0)
        scores += [
            1.0 if finding.standing == "denied" else 0.0 for _, finding in each.denials if finding.standing != "silent"
        ]
    return min(scores, default=None)


def _is_missing(each: Examined, sentence: GatedSentence) -> bool:
    return bool(each.asked) and sentence.rating is None


def _delivered(answer: str, sentences: Sequence[GatedSentence]) -> str:
    """The answer with its restated sentences in place."""
    pieces, at = [], 0
    for each in sentences:
        pieces += [answer[at : each.sentence.start], each.text]
        at = each.sentence.end
    return "".join([*pieces, answer[at:]])


__all__ = [
    "NOT_DOCUMENTED",
    "PASS_MARK",
    "Gated",
    "GatedSentence",
    "Judge",
    "Outcome",
    "Rating",
    "decide",
    "gate",
]
