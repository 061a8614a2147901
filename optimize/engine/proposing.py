"""Proposals: what the reflector is asked, what it answers, and whether that can become a candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lineage.canonical import digest
from lineage.ledger import Ledger
from lineage.records import Candidate, CandidateKind
from optimize.engine.attempts import Attempt, SearchRecord
from optimize.search import SearchSpace
from reflectors.reflector import Reflection, ReflectionRequest
from reflectors.traces import Trace
from reflectors.validation import invalid_reason


class Proposer:
    """Turns attempts into candidates, through the ledger.

    Args:
        space: what the search may see.
        ledger: the campaign's ledger.
        record: of the search.
    """

    def __init__(self, space: SearchSpace, ledger: Ledger, record: SearchRecord) -> None:
        self._space, self._ledger, self._record = space, ledger, record
        self._contract = space.contract

    def ask(self, attempt: Attempt, traces: Sequence[Trace], component: str) -> None:
        """Write the request of an attempt, with its parent's traces, failures first.

        A merge is of a block in which its parents differ: the next one whose turn it is, or else the first.
        """
        first, *others = attempt.parents
        if others and all(other.texts[component] == first.texts[component] for other in others):
            component = next(name for name in first.texts if first.texts[name] != others[0].texts[name])
        attempt.component = component
        attempt.request = ReflectionRequest(
            parent=first.texts[component],
            traces=tuple(sorted(traces, key=lambda trace: (trace.failing is None, trace.example))),
            earlier=self._record.earlier(first.texts, component),
            seed=self._space.settings.seed,
            iteration=attempt.iteration,
            call=attempt.call,
            component=component,
            others=tuple(other.texts[component] for other in others),
            failed=self._record.failed(component),
        )

    def reflect(self, attempts: Sequence[Attempt]) -> None:
        """Have all attempts of an iteration answered, and record each with the candidate that it proposes.

        The reflector is asked for all that the ledger does not hold at once.
        """
        requests = [request for attempt in attempts if (request := attempt.request) is not None]
        assert len(requests) == len(attempts), "every attempt has asked"
        for request in requests:
            self._space.contamination.request(request)
        answered: dict[int, Reflection] = {}
        for place, (attempt, request) in enumerate(zip(attempts, requests, strict=True)):

            def produce(place: int = place) -> dict[str, Any]:
                if not answered:
                    answered.update(enumerate(self._space.reflector.reflect_all(requests[place:]), start=place))
                return {"reflection": answered[place].row()}

            body = self._ledger.perform("reflection", self._key(attempt, request), produce)
            self._propose(attempt, request, Reflection.from_row(body["reflection"]))

    def begin(self, attempt: Attempt, seed: Candidate) -> None:
        """Record a further seed of the plan as a proposal of its own."""
        self._record.propose(attempt, seed, None)
        overlaps = self._space.contamination.candidate(seed)
        for component, text in seed.texts.items():
            problem = invalid_reason(
                text,
                parents=[],
                earlier=self._record.earlier(seed.texts, component),
                forbidden=self._space.forbidden,
                overlaps=overlaps,
            )
            if problem is not None:
                self._record.refuse(attempt, "invalid", problem)
                return
        self._record.admit(attempt)

    def _key(self, attempt: Attempt, request: ReflectionRequest) -> dict[str, Any]:
        first, *others = attempt.parents
        return {
            "iteration": attempt.iteration,
            "call": attempt.call,
            "parent": first.id,
            "others": [other.id for other in others],
            "component": attempt.component,
            "reflector": self._space.reflector.settings(),
            "minibatch": sorted(attempt.minibatch),
            "traces": digest([trace.text for trace in request.traces]),
        }

    def _propose(self, attempt: Attempt, request: ReflectionRequest, reflection: Reflection) -> None:
        first = attempt.parents[0]
        texts = {**first.texts, attempt.component: reflection.text}
        kind: CandidateKind = "mutation" if len(attempt.parents) == 1 else "merge"
        parents = tuple(parent.id for parent in attempt.parents)
        child = Candidate(texts, kind, parents, attempt.iteration)
        self._record.propose(attempt, child, reflection.operator)
        problem = reflection.problem or invalid_reason(
            reflection.text,
            parents=[request.parent, *request.others],
            earlier=self._record.earlier(texts, attempt.component),
            forbidden=self._space.forbidden,
            overlaps=self._space.contamination.candidate(child, parents=[_whole(one) for one in attempt.parents]),
            contract=self._contract,
        )
        if problem is None:
            self._record.admit(attempt)
        else:
            self._record.refuse(attempt, "invalid", problem)


def _whole(candidate: Candidate) -> str:
    """All texts of a candidate, as the contamination check reads them."""
    return "\n".join(candidate.texts[name] for name in sorted(candidate.texts))
