"""What a search is given and what it yields, whatever engine runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage.records import Candidate
from optimize.contamination import ContaminationRecord
from optimize.evaluation import Evaluation
from optimize.search_plan import SearchPlan
from reflectors.feedback import Feedback
from reflectors.reflector import Reflector
from reflectors.validation import fixed_texts
from splits.contamination import NgramIndex
from splits.corpus import Corpus
from students.student import Student


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """Everything a search may see: reflect and accept examples, and hashes of what a prompt must not repeat.

    Attributes:
        student: judges every candidate.
        seed_candidate: the baseline, at which the search begins.
        reflect: examples of the minibatches; the reflector reads nothing else.
        accept: examples of the frontier and of the choice.
        reflector: writes proposals.
        forbidden: n-grams that no prompt may repeat.
        contamination: looks through candidates and requests.
        settings: of the search, as in the plan.
        margin: of the reward, in units of the student's score.
        clean_weight: weight of a clean example's reward.
        coverage: least share of examples that must have a reward.
        seeds: further candidates that the search begins at.
        accept_split: the split that ``accept`` is of, for the record.
        feedback: which parts of the feedback the reflector is told.
    """

    student: Student
    seed_candidate: Candidate
    reflect: Corpus
    accept: Corpus
    reflector: Reflector
    forbidden: NgramIndex
    contamination: ContaminationRecord
    settings: SearchPlan
    margin: float
    clean_weight: float
    coverage: float
    seeds: tuple[Candidate, ...] = ()
    accept_split: str = "accept"
    feedback: Feedback = field(default_factory=Feedback)

    @property
    def contract(self) -> tuple[str, ...]:
        """The fixed texts around the instruction, which a proposal must not restate."""
        return fixed_texts(self.student)


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """An accepted candidate with its evaluation on accept, which is optimistic for whoever is chosen by it."""

    candidate: Candidate
    accept: Evaluation
    rewards: Mapping[str, float]
    name: str


@dataclass(slots=True)
class SearchResult:
    """The pool in order of acceptance, the baseline first, and how many proposals came to what.

    Further seeds of the plan are proposals: each was one more candidate to choose from.
    """

    pool: list[PoolEntry] = field(default_factory=list)
    rejected: int = 0
    invalid: int = 0

    @property
    def proposals(self) -> int:
        """All proposals, the baseline left out."""
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
