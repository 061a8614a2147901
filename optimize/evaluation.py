"""Evaluations: candidates judged on examples as one step of the ledger, and the pairs and rewards read from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lineage.canonical import digest
from lineage.ledger import Ledger
from lineage.records import Candidate, Judgement
from lineage.segments import read_segment, write_segment
from optimize.objectives import ScoredPair, reward
from splits.corpus import Corpus, Example
from splits.lock import without_text
from students.judging import Bench
from students.student import Student, student_hash


@dataclass(frozen=True)
class Evaluation:
    """One candidate's judgements on some examples.

    A judgement that failed or abstained is here with its reason and without a score.
    """

    candidate: str
    examples: tuple[Example, ...]
    judgements: tuple[Judgement, ...]

    def score(self, example: str, replicate: int) -> float | None:
        """Stored score of an example in a replicate, or None where its judgement failed."""
        return self._scores.get((example, replicate))

    @cached_property
    def _scores(self) -> dict[tuple[str, int], float]:
        """Scores that there are, by example and replicate."""
        return {(j.example, j.replicate): j.score for j in self.judgements if j.score is not None}

    @cached_property
    def _samples(self) -> dict[tuple[str, int], int]:
        """Draws that each judgement combines, by example and replicate."""
        return {(j.example, j.replicate): int(j.sent.get("samples", 1)) for j in self.judgements}

    @cached_property
    def replicates(self) -> tuple[int, ...]:
        """Replicate numbers, sorted."""
        return tuple(sorted({judgement.replicate for judgement in self.judgements}))

    @property
    def failed(self) -> tuple[Judgement, ...]:
        """Judgements that failed; their number says nothing of those that abstained."""
        return tuple(judgement for judgement in self.judgements if judgement.status == "failed")

    @property
    def abstained(self) -> tuple[Judgement, ...]:
        """Judgements in which the judge said that it cannot judge."""
        return tuple(judgement for judgement in self.judgements if judgement.status == "abstained")

    @property
    def unscored(self) -> tuple[Judgement, ...]:
        """Judgements without a score: failed and abstained ones."""
        return tuple(judgement for judgement in self.judgements if judgement.score is None)

    def flawed(self, label: str | None = None) -> tuple[Example, ...]:
        """Flawed examples with a twin, of one label or of any."""
        return tuple(ex for ex in self.examples if ex.twin is not None and (label is None or ex.label == label))

    def pairs(self, label: str | None = None) -> list[ScoredPair]:
        """Every pair scored in both of its documents, by replicate."""
        scores, samples = self._scores, self._samples
        found = []
        for example in self.flawed(label):
            for replicate in self.replicates:
                mine, twins = scores.get((example.id, replicate)), scores.get((example.twin or "", replicate))
                if mine is not None and twins is not None:
                    found.append(
                        ScoredPair(
                            example.id,
                            example.group,
                            mine,
                            twins,
                            example.label,
                            example.kind,
                            example.trace,
                            example.severity,
                            example.stratum,
                            replicate,
                            cohort=example.cohort,
                            samples=samples[example.id, replicate],
                        )
                    )
        return found

    def planned_pairs(self, label: str | None = None) -> dict[str, str]:
        """Group of every pair that was to be scored."""
        return {example.id: example.group for example in self.flawed(label)}

    def scores(self, *, label: str, replicate: int | None = None) -> list[float]:
        """Scores of all scored examples of a label, in order of ids and replicates."""
        wanted = {example.id for example in self.examples if example.label == label}
        return [
            score
            for (example, of), score in self._scores.items()
            if example in wanted and (replicate is None or of == replicate)
        ]

    def rewards(self, *, scale: float, margin: float, clean_weight: float) -> dict[str, float]:
        """Reward of each example that has a score, as has its twin (first replicate); others are left out."""
        first = self.replicates[0] if self.replicates else 0
        scores = {example: score for (example, replicate), score in self._scores.items() if replicate == first}
        found = {}
        for example in self.examples:
            mine = scores.get(example.id)
            if mine is None or (example.twin is not None and example.twin not in scores):
                continue
            if example.twin is not None:
                found[example.id] = reward(mine, scores[example.twin], scale=scale, margin=margin)
            elif example.label == "clean":
                found[example.id] = clean_weight * reward(mine, None, scale=scale, margin=margin)
        return found


def n_rewarded(examples: Iterable[Example]) -> int:
    """Examples that have a reward if nothing fails: clean ones, and flawed ones with a twin."""
    return sum(example.label == "clean" or example.twin is not None for example in examples)


class Evaluator:
    """Judges candidates as steps of a ledger: what it holds is read back, what it does not is judged and recorded.

    Args:
        ledger: the campaign's ledger.
        directory: where judgement segments lie.
        bench: where students judge.
    """

    def __init__(self, ledger: Ledger, directory: Path, bench: Bench) -> None:
        self._ledger, self._directory, self._bench = ledger, directory, bench
        self._count = 0

    def evaluate(
        self,
        student: Student,
        candidates: Sequence[Candidate],
        corpus: Corpus,
        *,
        purpose: str,
        split: str,
        replicates: Collection[int] = (0,),
        iteration: int | None = None,
    ) -> tuple[Evaluation, ...]:
        """Judge all examples of ``corpus`` with each candidate, interleaved, in each replicate.

        Returns:
            One evaluation a candidate, in the order given.
        """
        self._count += 1
        name = f"{self._count:04d}-{purpose}"
        wanted = sorted(example.id for example in corpus.examples)

        def produce() -> dict[str, Any]:
            judged = self._bench.judge(student, corpus, candidates, phase=purpose, replicates=sorted(replicates))
            missing = [judgement for judgement in judged if judgement.score is None]
            return {
                "segment": write_segment(self._directory, name, judged),
                "failed": sum(judgement.status == "failed" for judgement in judged),
                "abstained": sum(judgement.status == "abstained" for judgement in judged),
                "failures": sorted({_stated(judgement.reason or "", split) for judgement in missing})[:10],
            }

        body = self._ledger.perform(
            "evaluation",
            {
                "purpose": purpose,
                "split": split,
                "candidates": [candidate.id for candidate in candidates],
                "student": student_hash(student),
                "replicates": sorted(replicates),
                "iteration": iteration,
                "examples": {"count": len(wanted), "hash": digest(wanted)},
            },
            produce,
        )
        judged = read_segment(self._directory, body["segment"])
        ordered = sorted(corpus.examples, key=lambda example: example.id)
        examples = tuple(without_text(example, corpus) for example in ordered)
        return tuple(
            Evaluation(candidate.id, examples, tuple(j for j in judged if j.candidate == candidate.id))
            for candidate in candidates
        )


def _stated(reason: str, split: str) -> str:
    """Why a judgement has no score, for the ledger: of held-out examples the kind alone, as answers quote notes."""
    return reason.partition(":")[0] if split == "heldout" else reason[:120]
