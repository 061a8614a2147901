"""Feedback traces: what the student got wrong on reflect examples, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from lineage.records import FactVerdict, Judgement
from splits.corpus import Corpus, Example

Failing = Literal[
    "missed_omission", "missed_fragment", "missed_restated", "missed_addition", "missed_change", "false_absence"
]

_FAILING_OF: Final[Mapping[str, Failing]] = {
    "complete": "missed_omission",
    "omit": "missed_omission",
    "partial-weak": "missed_fragment",
    "partial-strong": "missed_restated",
    "add": "missed_addition",
    "change": "missed_change",
}
FALSE_ABSENCE_BELOW: Final = 0.5
"""A fact of a clean document with a lower probability of *yes* counts as falsely absent."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One example, what is true of it, and what the student made of it.

    ``failing`` names the failure, or is None where the example is judged right. ``fact`` and ``excerpt`` illustrate it:
    the fact concerned and the line of the document that comes nearest to it.
    """

    example: str
    failing: Failing | None
    text: str
    fact: str | None = None
    excerpt: str | None = None


def build_traces(corpus: Corpus, judgements: Iterable[Judgement], *, scale: float) -> tuple[Trace, ...]:
    """Traces of every scored example, in order of their ids.

    Args:
        corpus: the reflect examples that were judged, twins included, and nothing else.
        judgements: one candidate's judgements on them, one replicate.
        scale: the student's score of a flawless document.
    """
    judged = {judgement.example: judgement for judgement in judgements if judgement.score is not None}
    traces: list[Trace] = []
    for example in sorted(corpus.examples, key=lambda example: example.id):
        if example.id not in judged:
            continue
        twin = judged.get(example.twin) if example.twin else None
        facts = {fact.id: fact.fact for fact in corpus.facts.get(example.group, ())}
        if example.label == "clean":
            traces.append(_clean_trace(example, judged[example.id], facts, scale))
        elif twin is not None:
            traces.append(_flawed_trace(example, judged[example.id], twin, facts, scale))
    return tuple(traces)


def count_failures(traces: Iterable[Trace]) -> dict[Failing, int]:
    """How often each failure occurs, most frequent first."""
    counts = Counter(trace.failing for trace in traces if trace.failing is not None)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _clean_trace(example: Example, judgement: Judgement, facts: Mapping[str, str], scale: float) -> Trace:
    absent = [verdict for verdict in judgement.facts if verdict.p_yes < FALSE_ABSENCE_BELOW]
    said = f"The judge gave {judgement.score:g} of {scale:g}."
    if not absent:
        checked = " No fact was called absent." if judgement.facts else ""
        return Trace(example.id, None, f"A correct note. {said}{checked}")
    worst = min(absent, key=lambda verdict: verdict.p_yes)
    fact = facts[worst.fact]
    listed = "; ".join(f"{facts[verdict.fact]} (P(yes) {verdict.p_yes:.2f})" for verdict in absent)
    return Trace(
        example.id,
        "false_absence",
        f"A correct note, which states every fact. {said} It called absent, though they are there: {listed}",
        fact,
        nearest_line(fact, example.document),
    )


def _flawed_trace(
    example: Example, judgement: Judgement, twin: Judgement, facts: Mapping[str, str], scale: float
) -> Trace:
    assert judgement.score is not None
    assert twin.score is not None
    right = judgement.score < twin.score
    order = "below" if right else "level with" if judgement.score == twin.score else "above"
    fact = facts.get(example.fact or "")
    about = f": {fact.rstrip('.')}" if fact else " a fact of the transcript"
    if example.label == "omission":
        known = ", ".join((example.trace or "trace unknown", example.severity or "severity unknown"))
        what = f"An omission ({known}): the note leaves out{about}"
    elif example.kind == "change":
        what = f"An alteration: the note changes{about}"
    else:
        what = "An addition: the note states something that the transcript does not support"
    left = "".join(
        f" What is left of it stands under {mention.heading or 'no heading'} ({mention.strength})."
        for mention in example.residual
    )
    verdicts = _verdicts(example.fact, judgement.facts, twin.facts)
    text = (
        f"{what}.{left} The judge gave it {judgement.score:g}, {order} its correct twin at {twin.score:g} "
        f"(of {scale:g}).{verdicts}"
    )
    failing = None if right else _FAILING_OF[example.flaw]
    return Trace(example.id, failing, text, fact, nearest_line(fact, example.document) if fact else None)


def _verdicts(fact: str | None, mine: Sequence[FactVerdict], twins: Sequence[FactVerdict]) -> str:
    here = next((verdict.p_yes for verdict in mine if verdict.fact == fact), None)
    there = next((verdict.p_yes for verdict in twins if verdict.fact == fact), None)
    if here is None or there is None:
        return ""
    return f" On that fact P(yes) was {here:.2f} in this note and {there:.2f} in the twin."


def nearest_line(fact: str, document: str) -> str | None:
    """The sentence of a document that shares most words with a fact, or None where none shares any."""
    wanted = set(fact.lower().split())
    lines = [
        part.strip(" -")
        for line in document.split("\n")
        if not line.isupper()
        for part in re.split(r"(?<=[.!?])\s+", line)
    ]
    best = max(lines, key=lambda line: len(wanted & set(line.lower().split())), default="")
    return best if wanted & set(best.lower().split()) else None
