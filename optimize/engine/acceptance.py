"""Acceptance: a child against its parent on the minibatch, then its evaluation on accept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lineage.ledger import Ledger
from lineage.records import minibatch_gain
from optimize.engine.attempts import Attempt, SearchRecord
from optimize.evaluation import Evaluation, Evaluator, n_rewarded
from optimize.measured import record_measures
from optimize.objectives import coverage
from optimize.search import PoolEntry, SearchSpace


class Acceptance:
    """Decides what was proposed.

    Promiscuous, as published: what beats its parent on the minibatch enters the pool, and the frontier prunes what
    leads nothing. A merge is compared with its first parent, as in the published record. Under ``full`` a child also
    has to beat every parent on accept as a whole.

    Args:
        space: what the search may see.
        evaluator: judges candidates through the ledger.
        ledger: the campaign's ledger.
        record: of the search.
        spent: is told of every evaluation.
    """

    def __init__(
        self,
        space: SearchSpace,
        evaluator: Evaluator,
        ledger: Ledger,
        record: SearchRecord,
        spent: Callable[[Evaluation], None],
    ) -> None:
        self._space, self._evaluator, self._ledger = space, evaluator, ledger
        self._record, self._spent = record, spent

    def decide(self, attempt: Attempt) -> bool:
        """Decide one proposal and record it whole; whether it is in the pool now."""
        if attempt.request is not None:
            planned = n_rewarded(self._space.reflect.by_id[example] for example in attempt.minibatch)
            if coverage(len(attempt.after), planned) < self._space.coverage:
                reason = f"only {len(attempt.after)} of {planned} minibatch examples scored for parent and child"
                self._record.refuse(attempt, "invalid", reason)
                return False
            if not attempt.gain > 0:
                self._record.refuse(attempt, "rejected", _gained(attempt))
                return False
        return self._on_accept(attempt)

    def _on_accept(self, attempt: Attempt) -> bool:
        (evaluation,) = self._evaluator.evaluate(
            self._space.student,
            [attempt.proposed],
            self._space.accept,
            purpose="accept",
            split=self._space.accept_split,
            iteration=attempt.iteration,
        )
        self._spent(evaluation)
        record_measures(self._ledger, "accept", evaluation)
        entry = PoolEntry(attempt.proposed, evaluation, rewards_of(self._space, evaluation), attempt.name)
        share = coverage(len(entry.rewards), n_rewarded(self._space.accept.examples))
        if share < self._space.coverage:
            self._record.refuse(attempt, "invalid", f"only {share:.0%} of accept examples scored")
            return False
        gains = self._against_parents(attempt, entry) if self._space.settings.acceptance == "full" else None
        if gains and not min(gains.values()) > 0:
            reason = f"accept reward {min(gains.values()):+.4f}"
            self._record.refuse(attempt, "rejected", reason, gains, told="no better than its parent in other examples")
            return False
        reason = "a seed of the plan" if attempt.request is None else _gained(attempt)
        self._record.accept(attempt, entry, reason, gains)
        return True

    def _against_parents(self, attempt: Attempt, entry: PoolEntry) -> dict[str, float]:
        """Summed reward on accept less that of each parent, over the examples scored for both."""
        found = {}
        for parent in attempt.parents:
            theirs = self._record.entries[parent.id].rewards
            both = [example for example in entry.rewards if example in theirs]
            before, after = ({example: side[example] for example in both} for side in (theirs, entry.rewards))
            found[parent.id] = minibatch_gain(before, after)
        return found


def rewards_of(space: SearchSpace, evaluation: Evaluation) -> Mapping[str, float]:
    """Rewards under the search's objective, by example."""
    return evaluation.rewards(scale=space.student.scale, margin=space.margin, clean_weight=space.clean_weight)


def _gained(attempt: Attempt) -> str:
    return f"minibatch reward {attempt.gain:+.4f}"
