"""Judgements of a step verifier beside what is known of the steps: what every evaluation reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from lineage.errors import InputError
from lineage.records import Judgement
from splits.corpus import Corpus
from splits.steps import Granularity, LabelledNote, label_notes
from students.steps import AGGREGATIONS, Aggregation, aggregated, stored_read


@dataclass(frozen=True, slots=True)
class ScoredNote:
    """One note, judged once.

    Attributes:
        labelled: the note, with the labels of its steps.
        replicate: which repetition.
        p: P(+) of each step, in order.
        scores: score of the note under each aggregation, in [0, 1]; higher is a better note.
    """

    labelled: LabelledNote
    replicate: int
    p: tuple[float, ...]
    scores: Mapping[Aggregation, float]

    @property
    def id(self) -> str:
        """Id of the example."""
        return self.labelled.example.id

    @property
    def group(self) -> str:
        """Its group."""
        return self.labelled.example.group

    @property
    def clean(self) -> bool:
        """Whether it is a clean note."""
        return self.labelled.flaw is None


@dataclass(frozen=True)
class ScoredSteps:
    """All judgements of one verifier on one corpus; its representation holds no text.

    Attributes:
        name: what the corpus is called in tables.
        notes: the notes that have a score.
        unscored: group and reason of every judgement without one, by example and replicate.
        read: ``log-probabilities`` or ``votes``.
        threshold: least P(+) of a step that is not bad.
        aggregation: the verifier's own.
        planned: every note that was to be judged, as labelled notes; unscored ones among them.
    """

    name: str
    notes: tuple[ScoredNote, ...]
    unscored: Mapping[tuple[str, int], tuple[str, str]]
    read: str
    threshold: float
    aggregation: Aggregation
    planned: tuple[LabelledNote, ...]

    def __repr__(self) -> str:
        return f"ScoredSteps({self.name!r}, {len(self.notes)} notes)"

    @cached_property
    def by_key(self) -> Mapping[tuple[str, int], ScoredNote]:
        """Scored notes by example and replicate."""
        return {(note.id, note.replicate): note for note in self.notes}

    @cached_property
    def replicates(self) -> tuple[int, ...]:
        """Repetitions, in order."""
        kept = {note.replicate for note in self.notes} | {replicate for _, replicate in self.unscored}
        return tuple(sorted(kept))

    @property
    def reasons(self) -> dict[str, int]:
        """Judgements without a score, by the first word of their reason."""
        return dict(sorted(Counter(reason for _, reason in self.unscored.values()).items()))

    @property
    def origins(self) -> tuple[str, ...]:
        """Where the flawed notes come from, in order of their names."""
        return tuple(sorted({labelled.origin for labelled in self.planned if labelled.flaw is not None}))

    def part(self, name: str, keep: Callable[[LabelledNote], bool]) -> ScoredSteps:
        """The same judgements, of clean notes and of some flawed ones only."""
        kept = {each.example.id for each in self.planned if each.flaw is None or keep(each)}
        return replace(
            self,
            name=name,
            notes=tuple(note for note in self.notes if note.id in kept),
            unscored={key: why for key, why in self.unscored.items() if key[0] in kept},
            planned=tuple(each for each in self.planned if each.example.id in kept),
        )


def scored_steps(
    name: str, corpus: Corpus, judgements: Sequence[Judgement], settings: Mapping[str, Any]
) -> ScoredSteps:
    """The judgements of a step verifier beside the labels of its corpus.

    Args:
        name: what the corpus is to be called.
        corpus: that was judged; it is cut again, as records hold no text.
        judgements: of one candidate.
        settings: of the student, as they were registered.

    Raises:
        InputError: the student is no step verifier, or a judgement is not of these notes or steps.
    """
    if settings.get("student") != "step-verifier":
        raise InputError(f"{name}: {settings.get('student')!r} judges no steps; name a student of shape step-verifier")
    granularity = Granularity.of(str(settings["granularity"]))
    ids = sorted({judgement.example for judgement in judgements})
    if unknown := [each for each in ids if each not in corpus.by_id]:
        raise InputError(f"{name}: {unknown[0]!r} was judged and is not in the corpus; give the corpus that was judged")
    planned = label_notes([corpus.by_id[each] for each in ids], corpus, granularity)
    by_id = {labelled.example.id: labelled for labelled in planned}
    notes: list[ScoredNote] = []
    unscored: dict[tuple[str, int], tuple[str, str]] = {}
    for judgement in judgements:
        labelled = by_id[judgement.example]
        if judgement.score is None:
            reason = (judgement.reason or "").partition(":")[0]
            unscored[judgement.example, judgement.replicate] = labelled.example.group, reason
            continue
        named = [(verdict.fact, verdict.text) for verdict in judgement.facts]
        if named != [(step.id, step.place) for step in labelled.note.steps]:
            raise InputError(f"{name}: the steps of {judgement.example} are not those that were judged")
        reads = [stored_read(verdict) for verdict in judgement.facts]
        scores = {aggregation: aggregated(reads, aggregation) for aggregation in AGGREGATIONS}
        notes.append(ScoredNote(labelled, judgement.replicate, tuple(read.p for read in reads), scores))
    return ScoredSteps(
        name,
        tuple(notes),
        unscored,
        str(settings["read"]),
        float(settings["threshold"]),
        settings["aggregation"],
        planned,
    )
