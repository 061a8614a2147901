"""How many calls a judging run needs at most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from optimize.judging import JudgingRun
from splits.corpus import Corpus


def most_calls(run: JudgingRun, corpus: Corpus) -> Mapping[str, int]:
    """Most calls of each judge that makes any, as if nothing were cached, what is about a source once a group."""
    documents = Counter(str(row["group"]) for row in run.part.rows)
    found = {}
    for judge in run.judges:
        total = 0
        for group, count in documents.items():
            most = judge.student.calls_at_most(len(corpus.facts.get(group, ())))
            total += most.document * count + most.group
        if total:
            found[judge.name] = total * run.plan.replicates
    return found
