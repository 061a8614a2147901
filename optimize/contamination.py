"""What a campaign records of contamination: each finding an event, in numbers and names and never in text.

Findings are computed again on resumption, from the same texts, and so are the same.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from lineage.ledger import Ledger
from lineage.records import Candidate
from reflectors.reflector import ReflectionRequest
from splits.contamination import NGRAM_WORDS, PASSAGE_SHARE, PASSAGE_WORDS, ContaminationCheck, Overlap, SplitSignatures
from splits.corpus import Corpus
from splits.lock import SplitLock
from splits.near_duplicates import SHINGLE_WORDS, THRESHOLD
from splits.neighbours import neighbours
from splits.seal import Seal

EVENT: Final = "contamination"
CHECKS: Final = {
    "ngram_words": NGRAM_WORDS,
    "passage_words": PASSAGE_WORDS,
    "passage_share": PASSAGE_SHARE,
    "shingle_words": SHINGLE_WORDS,
    "similarity": THRESHOLD,
}
"""What counts as a finding, as the ledger keeps it."""


def record_neighbours(ledger: Ledger, corpus: Corpus, lock: SplitLock) -> None:
    """Record, once and also where there are none, which near-duplicate groups the split separates."""

    def found() -> dict[str, Any]:
        return {"checks": CHECKS, "findings": [pair.row() for pair in neighbours(corpus, lock)]}

    ledger.perform(EVENT, {"of": "splits", "lock_hash": lock.hash}, found)


@dataclass(frozen=True, slots=True)
class ContaminationRecord:
    """Looks through every candidate and every request to the reflector, and records what it finds.

    Args:
        ledger: the campaign's ledger.
        check: knows accept and held-out text again.
    """

    ledger: Ledger
    check: ContaminationCheck

    @classmethod
    def of(cls, ledger: Ledger, *, reflect: Corpus, accept: Corpus, seal: Seal) -> ContaminationRecord:
        """The record of a campaign on these splits; of held-out text it has signatures alone."""
        return cls(ledger, ContaminationCheck(reflect, [SplitSignatures(accept, split="accept"), seal.signatures()]))

    def candidate(self, candidate: Candidate, *, parents: Collection[str] = ()) -> tuple[Overlap, ...]:
        """Record what the texts of a candidate have of accept or held-out examples.

        Args:
            candidate: the candidate.
            parents: texts of the instructions that it was made from.

        Returns:
            What it has more than its parents: a baseline that states a fact does not bar the whole search.
        """
        found = self.check.overlaps("\n".join(candidate.texts[name] for name in sorted(candidate.texts)))
        self._record({"of": "candidate", "candidate": candidate.id, "iteration": candidate.iteration}, found)
        before = [overlap for parent in parents for overlap in self.check.overlaps(parent)] if found else []
        return tuple(overlap for overlap in found if not any(overlap.within(known) for known in before))

    def request(self, request: ReflectionRequest) -> tuple[Overlap, ...]:
        """Record what a reflector would be told of accept or held-out examples, before it is asked."""
        found = self.check.overlaps("\n".join(request.told))
        self._record({"of": "reflection", "iteration": request.iteration, "call": request.call}, found)
        return found

    def _record(self, place: dict[str, Any], found: tuple[Overlap, ...]) -> None:
        if found:
            self.ledger.perform(EVENT, {**place, "findings": [overlap.row() for overlap in found]}, dict)
