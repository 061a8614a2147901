"""Scored notes in memory: a verifier's P(+) of each step, made up by a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from lineage.records import Judgement
from optimize.steps import ScoredSteps, scored_steps
from splits.corpus import Corpus, Example
from splits.steps import Granularity, LabelledNote, label_notes
from students.answers import Reading
from students.steps import StepVerifier, of_votes
from students.steps.reading import StepRead, log_logistic

FINE = Granularity.of("fine")
CLEAN = "HISTORY\nCough for a week. No fever.\nPLAN\nRest. Come back if worse."
CHANGED = CLEAN.replace("a week", "a month")
ADDED = CLEAN.replace("No fever.", "No fever. Smokes a pipe.")
LOST = CLEAN.replace(" Come back if worse.", "")

P = Callable[[LabelledNote], Sequence[float]]


def documents(groups: int) -> Corpus:
    """Groups of a clean note with a change, an addition and an omission."""
    examples = []
    for number in range(groups):
        group = f"g{number:02d}"
        shared: dict[str, Any] = {"group": group, "stratum": "s", "source": "Doctor: Any cough?"}
        flawed: dict[str, Any] = {"twin": f"{group}.clean", **shared}
        examples += [
            Example(f"{group}.clean", document=CLEAN, label="clean", kind="clean", **shared),
            Example(f"{group}.changed", document=CHANGED, label="commission", kind="change", **flawed),
            Example(f"{group}.added", document=ADDED, label="commission", kind="add", **flawed),
            Example(f"{group}.lost", document=LOST, label="omission", kind="omit", trace="complete", **flawed),
        ]
    return Corpus(tuple(examples), {})


def judgements_of(corpus: Corpus, p: P, *, failed: Sequence[str] = (), votes: bool = False) -> list[Judgement]:
    """Judgements as a verifier would record them."""
    student = StepVerifier(model={"name": "m"})
    found = []
    for labelled in label_notes(corpus.examples, corpus, FINE):
        example = labelled.example
        if example.id in failed:
            found.append(Judgement(example.id, "c", "s", "failed", None, reason="truncated: step s1"))
            continue
        named = [(step.id, step.place) for step in labelled.note.steps]
        reads = [_read(value, votes=votes) for value in p(labelled)]
        reading: Reading = student.combined([student._reading(named, reads)])
        found.append(Judgement(example.id, "c", "s", "scored", reading.score, facts=reading.facts, parts=reading.parts))
    return found


def settings_of(**changes: Any) -> Mapping[str, Any]:
    """Settings of a step verifier."""
    return StepVerifier(model={"name": "m"}).settings() | changes


@pytest.fixture
def scored() -> Callable[..., ScoredSteps]:
    """Made-up judgements beside their labels."""

    def make(p: P, *, groups: int = 4, corpus: Corpus | None = None, failed: Sequence[str] = ()) -> ScoredSteps:
        judged = documents(groups) if corpus is None else corpus
        return scored_steps("made up", judged, judgements_of(judged, p, failed=failed), settings_of())

    return make


def perfect(labelled: LabelledNote) -> list[float]:
    """Knows every label."""
    return [0.1 if label == "-" else 0.9 for label in labelled.labels]


def blind(labelled: LabelledNote) -> list[float]:
    """Says the same of every step."""
    return [0.7] * len(labelled.labels)


def _read(p: float, *, votes: bool) -> StepRead:
    import math

    if votes:
        return of_votes([p >= 0.5])
    margin = math.log(p) - math.log1p(-p)
    return StepRead(p, log_logistic(margin), margin)
