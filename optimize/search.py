"""What a search is given and what it yields, whatever engine runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage.records import Candidate
from optimize.contamination import ContaminationRecord
from optimize.evaluation import Evaluation
from reflectors.reflector import Reflector
from splits.contamination import NgramIndex
from splits.corpus import Corpus
from students.student import Student


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """Everything a search may see: reflect and accept examples, and hashes of what a prompt must not repeat.

    The rewards' ``margin`` is in units of the student's score.
    """

    student: Student
    seed_candidate: Candidate
    reflect: Corpus
    accept: Corpus
    reflector: Reflector
    forbidden: NgramIndex
    contamination: ContaminationRecord
    iterations: int
    minibatch_groups: int
    seed: int
    margin: float
    clean_weight: float
    coverage: float


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """An accepted candidate with its evaluation on accept, which is optimistic for whoever is chosen by it."""

    candidate: Candidate
    accept: Evaluation
    rewards: Mapping[str, float]
    name: str


@dataclass(slots=True)
class SearchResult:
    """The pool in order of acceptance, the seed first, and how many proposals came to what."""

    pool: list[PoolEntry] = field(default_factory=list)
    rejected: int = 0
    invalid: int = 0

    @property
    def proposals(self) -> int:
        """All proposals, the seed left out."""
        return len(self.pool) - 1 + self.rejected + self.invalid

    def frontier(self) -> dict[str, tuple[str, ...]]:
        """For each accept example, the ids of the candidates with the highest reward on it."""
        examples = sorted({example for entry in self.pool for example in entry.rewards})
        found = {}
        for example in examples:
            best = max(entry.rewards[example] for entry in self.pool if example in entry.rewards)
            found[example] = tuple(e.candidate.id for e in self.pool if e.rewards.get(example) == best)
        return found


def candidate_row(candidate: Candidate, operator: str | None) -> dict[str, Any]:
    """What the ledger holds of a candidate."""
    return {
        "candidate": candidate.id,
        "texts": dict(candidate.texts),
        "kind": candidate.kind,
        "parents": list(candidate.parents),
        "iteration": candidate.iteration,
        "operator": operator,
    }
