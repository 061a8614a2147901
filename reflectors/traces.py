"""Feedback traces: what the student got wrong on reflect examples, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from lineage.records import Judgement
from reflectors.feedback import Feedback
from reflectors.wording import Judged, clean_words, flawed_words
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

    Attributes:
        example: its id.
        failing: the failure, or None where the example is judged right.
        text: all that is said of it, but for the document; never cut.
        fact: the fact concerned.
        excerpt: the line of the document that comes nearest to it.
        document: the document of a failure, which is cut where there is no room; empty where it is not shown.
        places: character offsets of the document at which the flaw and what is left of it stand.
    """

    example: str
    failing: Failing | None
    text: str
    fact: str | None = None
    excerpt: str | None = None
    document: str = field(default="", repr=False)
    places: tuple[int, ...] = ()


def build_traces(
    corpus: Corpus, judgements: Iterable[Judgement], *, scale: float, feedback: Feedback | None = None
) -> tuple[Trace, ...]:
    """Traces of every scored example, in order of their ids.

    Args:
        corpus: the reflect examples that were judged, twins included, and nothing else.
        judgements: one candidate's judgements on them, one replicate.
        scale: the student's score of a flawless document.
        feedback: which parts are told; all of them where it is left out.
    """
    told = feedback or Feedback()
    judged = {judgement.example: judgement for judgement in judgements if judgement.score is not None}
    constant = _constant_absences(corpus, judged)
    traces: list[Trace] = []
    for example in sorted(corpus.examples, key=lambda example: example.id):
        if example.id not in judged:
            continue
        facts = {fact.id: fact for fact in corpus.facts.get(example.group, ())}
        mine = Judged(judged[example.id], scale, facts)
        if example.label == "clean":
            traces.append(_clean_trace(example, mine, constant.get(example.group, frozenset()), told))
        elif example.twin is not None and example.twin in judged:
            twin = Judged(judged[example.twin], scale, facts)
            traces.append(_flawed_trace(example, corpus.by_id[example.twin], mine, twin, told))
    return tuple(traces)


def count_failures(traces: Iterable[Trace]) -> dict[Failing, int]:
    """How often each failure occurs, most frequent first."""
    counts = Counter(trace.failing for trace in traces if trace.failing is not None)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _constant_absences(corpus: Corpus, judged: Mapping[str, Judgement]) -> dict[str, frozenset[str]]:
    """Facts called absent on every judged document of their group, of which one is clean and another is not."""
    found: dict[str, frozenset[str]] = {}
    for group, examples in corpus.groups.items():
        scored = [example for example in examples if example.id in judged]
        if {example.label == "clean" for example in scored} == {True, False}:
            absent = [
                {verdict.fact for verdict in judged[example.id].facts if verdict.p_yes < FALSE_ABSENCE_BELOW}
                for example in scored
            ]
            found[group] = frozenset(set.intersection(*absent))
    return found


def _clean_trace(example: Example, judged: Judged, constant: frozenset[str], told: Feedback) -> Trace:
    absent = [verdict for verdict in judged.verdicts if verdict.p_yes < FALSE_ABSENCE_BELOW]
    text = clean_words(example, judged, absent, constant, told)
    if not absent:
        return Trace(example.id, None, text)
    fact = judged.named(min(absent, key=lambda verdict: verdict.p_yes))
    nearest = [nearest_line(judged.named(verdict), example.document) for verdict in absent]
    places = tuple(sorted({example.document.index(line) for line in nearest if line}))
    document = example.document if told.document else ""
    return Trace(example.id, "false_absence", text, fact, nearest_line(fact, example.document), document, places)


def _flawed_trace(example: Example, clean: Example, judged: Judged, twin: Judged, told: Feedback) -> Trace:
    failing = None if judged.score < twin.score else _FAILING_OF[example.flaw]
    known = judged.facts.get(example.fact or "")
    fact = None if known is None else known.fact
    return Trace(
        example.id,
        failing,
        flawed_words(example, judged, twin, told, failing=failing is not None),
        fact,
        nearest_line(fact, example.document) if fact else None,
        example.document if told.document and failing is not None else "",
        _places(example, clean),
    )


def _places(example: Example, clean: Example) -> tuple[int, ...]:
    """Where the document first differs from its twin, and where something of an omitted fact is left."""
    pairs = zip(example.document, clean.document, strict=False)
    shared = min(len(example.document), len(clean.document))
    changed = next((place for place, (mine, twins) in enumerate(pairs) if mine != twins), shared)
    return tuple(sorted({changed, *(mention.offset for mention in example.residual)}))


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
