"""Plain word overlap as a judge, beside every held-out number: no model, and hard to beat on complete omissions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from optimize.objectives import paired_credit
from splits.corpus import Corpus, Example
from students.facts import checked_facts
from students.overlap import overlap_score


def overlap_row(corpus: Corpus, max_facts: int | None) -> dict[str, Any]:
    """Paired discrimination on omissions of word overlap over the facts that a per-fact student checks, by trace."""
    scores = {
        example.id: overlap_score(checked_facts(corpus.facts[example.group], max_facts), example.document)
        for example in corpus.examples
        if example.group in corpus.facts
    }

    def paired(examples: Iterable[Example]) -> dict[str, Any]:
        credit = [
            paired_credit(scores[example.id], scores[example.twin])
            for example in examples
            if example.twin in scores and example.id in scores
        ]
        return {"value": sum(credit) / len(credit) if credit else None, "pairs": len(credit)}

    by_trace: dict[str, list[Example]] = {}
    for example in corpus.examples:
        if example.label == "omission" and example.twin:
            by_trace.setdefault(example.trace or "unknown", []).append(example)
    return {
        "all": paired(example for examples in by_trace.values() for example in examples),
        "by_trace": {trace: paired(by_trace[trace]) for trace in sorted(by_trace)},
    }
