"""What is said of one example: each part of the feedback in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lineage.records import FactVerdict, Judgement
from reflectors.excerpts import CUT, sentences
from reflectors.feedback import Feedback
from splits.corpus import Example, Fact, Residual

SEVERE: Final[Mapping[str, str]] = {
    "critical": "missing or wrong, it could change what is done next or do harm",
    "supporting": "it is needed to follow the conclusions, and not dangerous by its absence alone",
    "peripheral": "it is background on which nothing rests",
}
"""Why a flaw of each severity is of that severity."""

DIFFERENT_BY: Final = 0.05
"""Least difference of two probabilities of *yes* that is told."""
MOST_DIFFERENT: Final = 4
"""Most other facts that are told of one example."""
SAID_WORDS: Final = 60
"""Most words of a judge's own that are quoted."""
_OWN_WORDS: Final = 6
"""Fewest words of an answer that say more than a score."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A scored judgement, the scale it is on, and the facts of its group by id."""

    judgement: Judgement
    scale: float
    facts: Mapping[str, Fact]

    @property
    def score(self) -> float:
        """The stored score."""
        assert self.judgement.score is not None
        return self.judgement.score

    @property
    def verdicts(self) -> tuple[FactVerdict, ...]:
        """Verdicts on single facts, where the judge gives any."""
        return self.judgement.facts

    def verdict(self, fact: str | None) -> FactVerdict | None:
        """The verdict on one fact."""
        return next((verdict for verdict in self.verdicts if verdict.fact == fact), None)

    def named(self, verdict: FactVerdict) -> str:
        """What a verdict is about: the judge's own fact, or that of the corpus."""
        known = self.facts.get(verdict.fact)
        return verdict.text or (verdict.fact if known is None else known.fact)


def clean_words(
    example: Example, judged: Judged, absent: Sequence[FactVerdict], constant: frozenset[str], told: Feedback
) -> str:
    """What is said of a correct document."""
    parts: list[str] = []
    if told.truth:
        kind = "A document taken as correct" if example.candidate else "A correct document"
        parts.append(f"{kind}, which states every fact." if absent else f"{kind}.")
    if told.said:
        parts.append(f"The judge gave {judged.score:g} of {judged.scale:g}.{_own_words(judged.judgement)}")
        here = [verdict for verdict in absent if not (told.constant_absences and verdict.fact in constant)]
        if here:
            parts.append(f"It called absent, though they are there: {_listed(judged, here)}.")
        elif judged.verdicts and not absent:
            parts.append("No fact was called absent.")
    always = [verdict for verdict in absent if verdict.fact in constant]
    if told.constant_absences and always:
        parts.append(
            "Called absent on every document of this group, the correct one included, so that they tell nothing apart: "
            f"{_listed(judged, always)}."
        )
    return _one_line(parts)


def flawed_words(example: Example, judged: Judged, twin: Judged, told: Feedback, *, failing: bool) -> str:
    """What is said of a flawed document; of one that is judged right only what it is and how it came out."""
    known = judged.facts.get(example.fact or "")
    parts = [_truth(example, known, told)] if told.truth or told.fact else []
    if failing and told.severity and example.severity is not None:
        quotes = "" if known is None else "".join(f' The source says: "{quote}"' for quote in known.evidence)
        parts.append(f"Severity {example.severity}: {SEVERE[example.severity]}.{quotes}")
    if failing and told.mention:
        parts += [_mention(mention, example.document) for mention in example.residual]
    if told.rank:
        parts.append(_rank(judged, twin, failing=failing))
    if told.said:
        if not told.rank:
            parts.append(f"The judge gave it {judged.score:g} of {judged.scale:g}.")
        parts += _on_the_fact(example.fact, judged, twin) if failing else []
        parts += [words.strip()] if failing and (words := _own_words(judged.judgement)) else []
    if failing and told.differences:
        parts += _differences(example.fact, judged, twin)
    return _one_line(parts)


def _one_line(parts: Sequence[str]) -> str:
    """Everything in one line, whatever line breaks a quotation has: examples are told by their numbers."""
    return " ".join(" ".join(parts).split())


def _truth(example: Example, fact: Fact | None, told: Feedback) -> str:
    about = "" if fact is None or not told.fact else f": {fact.fact.rstrip('.')}"
    if example.label == "omission":
        kind = "An omission" if example.trace is None else f"An omission ({example.trace})"
        what = f"the document leaves out{about or ' a fact of the source'}"
    elif example.kind == "change":
        kind, what = "An alteration", f"the document changes{about or ' a fact of the source'}"
    else:
        kind, what = "An addition", "the document states something that the source does not support"
    return f"{kind}: {what}." if told.truth else f"{what[0].upper()}{what[1:]}."


def _mention(mention: Residual, document: str) -> str:
    """Where something of the fact is left, how strong it is, and its sentence."""
    line = next((document[a:b].strip(" -\n") for a, b in sentences(document) if a <= mention.offset < b), "")
    quoted = f': "{line}"' if line else ""
    heading = f"under {mention.heading}" if mention.heading else "under no heading"
    return f"What is left of it stands {heading}, at character {mention.offset} ({mention.strength}){quoted}."


def _rank(judged: Judged, twin: Judged, *, failing: bool) -> str:
    apart = abs(judged.score - twin.score)
    order = "level with" if apart == 0 else f"{apart:.3g} {'above' if judged.score > twin.score else 'below'}"
    wanted = " It belongs below." if failing else " That is right."
    return (
        f"The judge gave it {judged.score:g}, {order} its correct twin at {twin.score:g} (of {judged.scale:g}).{wanted}"
    )


def _on_the_fact(fact: str | None, judged: Judged, twin: Judged) -> list[str]:
    here, there = judged.verdict(fact), twin.verdict(fact)
    if here is None or there is None:
        return []
    return [
        f"On that fact P(yes) was {here.p_yes:.2f} here and {there.p_yes:.2f} in the twin "
        f"({here.p_yes - there.p_yes:+.2f})."
    ]


def _differences(fact: str | None, judged: Judged, twin: Judged) -> list[str]:
    """Facts besides the one concerned on which the judge changed its mind, the largest change first."""
    changed = [
        (verdict, there)
        for verdict in judged.verdicts
        if verdict.fact != fact
        and (there := twin.verdict(verdict.fact)) is not None
        and abs(verdict.p_yes - there.p_yes) >= DIFFERENT_BY
    ]
    changed.sort(key=lambda pair: (-abs(pair[0].p_yes - pair[1].p_yes), pair[0].fact))
    if not changed:
        return []
    told = "; ".join(
        f"{judged.named(here).rstrip('.')} ({here.p_yes:.2f}, twin {there.p_yes:.2f})"
        for here, there in changed[:MOST_DIFFERENT]
    )
    more = f"; and {len(changed) - MOST_DIFFERENT} more" if len(changed) > MOST_DIFFERENT else ""
    return [f"Judged otherwise than in the twin, though the flaw is not about them: {told}{more}."]


def _listed(judged: Judged, verdicts: Sequence[FactVerdict]) -> str:
    return "; ".join(f"{judged.named(verdict).rstrip('.')} (P(yes) {verdict.p_yes:.2f})" for verdict in verdicts)


def _own_words(judgement: Judgement) -> str:
    """The judge's last answer in its own words, where it says more than a score or verdicts on facts."""
    words = judgement.raw[-1].split() if judgement.raw and not judgement.facts else []
    if len(words) < _OWN_WORDS:
        return ""
    return f' It said: "{" ".join(words[:SAID_WORDS])}{f" {CUT}" if len(words) > SAID_WORDS else ""}"'
