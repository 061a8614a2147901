"""A proposal on its way, and the record of what was proposed and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lineage.ledger import Ledger
from lineage.records import Candidate, Outcome, minibatch_gain
from lineage.tree import proposal_name
from optimize.search import PoolEntry, SearchResult, candidate_row
from reflectors.reflector import FailedEdit, ReflectionRequest


@dataclass(slots=True)
class Attempt:
    """One proposal, from the draw of its parents to its outcome.

    Attributes:
        iteration: 0 for a seed of the plan.
        call: number in the iteration, from 1.
        parents: one for a mutation, two for a merge, none for a seed. The child is compared with the first.
        places: of the parents in the pool.
        minibatch: ids of its reflect examples, in their order.
        component: name of the block that is written anew.
        request: what the reflector is asked.
        child: the candidate that was proposed.
        valid: whether it may be judged.
        name: of the child, as people read it.
        before: rewards of the first parent on the minibatch, of the examples scored for both.
        after: rewards of the child on the same examples.
    """

    iteration: int
    call: int
    parents: tuple[Candidate, ...]
    places: tuple[int, ...]
    minibatch: tuple[str, ...] = ()
    component: str = ""
    request: ReflectionRequest | None = None
    child: Candidate | None = None
    valid: bool = False
    name: str = ""
    before: Mapping[str, float] = field(default_factory=dict)
    after: Mapping[str, float] = field(default_factory=dict)

    @property
    def gain(self) -> float:
        """Summed reward of the child on the minibatch less its first parent's; it decides and estimates nothing."""
        return minibatch_gain(self.before, self.after)

    @property
    def proposed(self) -> Candidate:
        """The candidate that was proposed."""
        assert self.child is not None, "it is decided after it was proposed"
        return self.child


class SearchRecord:
    """Every proposal and outcome of one search, in the ledger and as later proposals need them.

    Args:
        ledger: the campaign's ledger.
        baseline: the pool's first entry.
    """

    def __init__(self, ledger: Ledger, baseline: PoolEntry) -> None:
        self._ledger = ledger
        self.result = SearchResult([baseline])
        self.entries: dict[str, PoolEntry] = {baseline.candidate.id: baseline}
        self.means = [_mean(baseline)]
        self._known: dict[str, Candidate] = {baseline.candidate.id: baseline.candidate}
        self._failed: dict[str, list[FailedEdit]] = {}
        self._names = {baseline.name}

    def known(self, candidate: str) -> Candidate:
        """A valid candidate, by its id."""
        return self._known[candidate]

    def earlier(self, texts: Mapping[str, str], component: str) -> frozenset[str]:
        """Every text of a component that was tried, with the other components as they are here."""
        others = {name: text for name, text in texts.items() if name != component}
        return frozenset(
            candidate.texts[component]
            for candidate in self._known.values()
            if all(candidate.texts[name] == text for name, text in others.items())
        )

    def failed(self, component: str) -> tuple[FailedEdit, ...]:
        """Proposals for a component that did not enter the pool, the latest last."""
        return tuple(self._failed.get(component, ()))

    def propose(self, attempt: Attempt, child: Candidate, operator: str | None) -> None:
        """Record a proposed candidate, valid or not."""
        self._ledger.perform("candidate", candidate_row(child, operator), dict)
        attempt.child = child
        attempt.name = proposal_name(child.kind, child.iteration, self._names)
        self._names.add(attempt.name)

    def admit(self, attempt: Attempt) -> None:
        """Know a proposed candidate as one that may be judged."""
        self._known[attempt.proposed.id] = attempt.proposed
        attempt.valid = True

    def accept(self, attempt: Attempt, entry: PoolEntry, reason: str, accept: Mapping[str, float] | None) -> None:
        """Take a candidate into the pool, and record that."""
        self.result.pool.append(entry)
        self.means.append(_mean(entry))
        self.entries[entry.candidate.id] = entry
        self._outcome(attempt, "accepted", reason, accept)

    def refuse(
        self,
        attempt: Attempt,
        outcome: Outcome,
        reason: str,
        accept: Mapping[str, float] | None = None,
        *,
        told: str | None = None,
    ) -> None:
        """Record that a candidate is ``rejected`` or ``invalid``, and keep it in mind.

        ``told`` is the reason in words that a reflector may read, where that is another one.
        """
        if outcome == "rejected":
            self.result.rejected += 1
        else:
            self.result.invalid += 1
        if attempt.request is not None:
            text, parent = attempt.proposed.texts[attempt.component], attempt.request.parent
            edit = FailedEdit(text, outcome, told or reason, parent, attempt.iteration)
            self._failed.setdefault(attempt.component, []).append(edit)
        self._outcome(attempt, outcome, reason, accept)

    def _outcome(self, attempt: Attempt, outcome: Outcome, reason: str, accept: Mapping[str, float] | None) -> None:
        child = attempt.proposed
        body = {
            "iteration": attempt.iteration,
            "candidate": child.id,
            "parents": list(child.parents),
            "outcome": outcome,
            "reason": reason,
            "parent_rewards": dict(attempt.before),
            "child_rewards": dict(attempt.after),
        }
        self._ledger.perform("outcome", body if accept is None else {**body, "accept_gains": dict(accept)}, dict)


def _mean(entry: PoolEntry) -> float:
    """Mean reward on accept, summed as gepa sums it."""
    return sum(entry.rewards.values()) / len(entry.rewards)
