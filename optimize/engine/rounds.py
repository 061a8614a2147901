"""The rounds of a search: whose turn it is, what each candidate does on a minibatch, and what comes of each attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lineage.errors import CampaignError
from lineage.ledger import Ledger
from optimize.engine.acceptance import Acceptance, rewards_of
from optimize.engine.attempts import Attempt, SearchRecord
from optimize.engine.minibatches import Minibatches
from optimize.engine.parents import Front, FrontierSampling, ParentSampling
from optimize.engine.proposing import Proposer
from optimize.evaluation import Evaluation, Evaluator
from optimize.search import PoolEntry, SearchSpace
from optimize.search_budget import SearchUse
from reflectors.traces import Trace, build_traces


@dataclass(frozen=True, slots=True)
class Judged:
    """One candidate on one minibatch; examples without a score have no reward."""

    rewards: Mapping[str, float]
    traces: tuple[Trace, ...]


class Rounds:
    """One search, an iteration at a time, without a word of gepa.

    The attempts of an iteration are drawn, asked for and judged in one order, that of the ledger. Round 0 is that of
    the further seeds of the plan.

    Args:
        space: what the search may see.
        evaluator: judges candidates through the ledger.
        ledger: the campaign's ledger.
        seed_evaluation: the baseline's evaluation on accept.
        sampling: draws the parents; by default from the frontier, as the settings say.

    Raises:
        CampaignError: there is nothing to draw minibatches of.
    """

    def __init__(
        self,
        space: SearchSpace,
        evaluator: Evaluator,
        ledger: Ledger,
        seed_evaluation: Evaluation,
        sampling: ParentSampling | None = None,
    ) -> None:
        settings = space.settings
        self._space, self._evaluator = space, evaluator
        self._sampling = sampling or FrontierSampling(settings.seed, settings.merge)
        self._minibatches = Minibatches(
            space.reflect, size=settings.minibatch_groups, seed=settings.seed, rare=settings.rare_traces
        )
        if settings.iterations and not self._minibatches.groups:
            raise CampaignError(
                "no reflect group has a flawed example with its twin, so there is nothing to draw minibatches of; "
                "commit a split with such groups in reflect"
            )
        baseline = PoolEntry(space.seed_candidate, seed_evaluation, rewards_of(space, seed_evaluation), "seed")
        self.record = SearchRecord(ledger, baseline)
        self.use = SearchUse(settings.budget)
        self._proposer = Proposer(space, ledger, self.record)
        self._acceptance = Acceptance(space, evaluator, ledger, self.record, self.use.add)
        self._attempts: list[Attempt] = []
        self._judged: dict[tuple[str, tuple[str, ...]], Judged] = {}
        self._asked = 0

    def begin_seeds(self) -> Sequence[Attempt]:
        """The attempts of the plan's further seeds."""
        return self._begin([Attempt(0, call, (), ()) for call, _ in enumerate(self._space.seeds, start=1)])

    def begin(self, iteration: int, front: Front) -> Sequence[Attempt]:
        """The attempts of an iteration, each with its parents and its minibatch, all drawn of the pool as it is now."""
        parallel, pool = self._space.settings.parallel, self.record.result.pool
        found = []
        for call in range(parallel):
            drawn = self._sampling.draw(front, iteration=iteration, call=call)
            places = (drawn.first,) if drawn.second is None else (drawn.first, drawn.second)
            examples = self._minibatches.examples((iteration - 1) * parallel + call + 1)
            minibatch = tuple(example.id for example in examples)
            parents = tuple(pool[place].candidate for place in places)
            found.append(Attempt(iteration, call + 1, parents, places, minibatch))
        return self._begin(found)

    def _begin(self, attempts: list[Attempt]) -> Sequence[Attempt]:
        self._attempts, self._judged, self._asked = attempts, {}, 0
        return tuple(attempts)

    def on_minibatch(self, candidate: str, minibatch: tuple[str, ...]) -> Judged:
        """A candidate on a minibatch, judged once an iteration."""
        if (candidate, minibatch) not in self._judged:
            space = self._space
            part = space.reflect.part(space.reflect.by_id[example] for example in minibatch)
            (evaluation,) = self._evaluator.evaluate(
                space.student,
                [self.record.known(candidate)],
                part,
                purpose="minibatch",
                split="reflect",
                iteration=self._attempts[0].iteration,
            )
            self.use.add(evaluation)
            traces = build_traces(part, evaluation.judgements, scale=space.student.scale, feedback=space.feedback)
            self._judged[candidate, minibatch] = Judged(rewards_of(space, evaluation), traces)
        return self._judged[candidate, minibatch]

    def ask(self, component: str) -> Attempt:
        """Write the request of the next attempt, in their order."""
        attempt = self._attempts[self._asked]
        self._asked += 1
        if attempt.parents:
            judged = self.on_minibatch(attempt.parents[0].id, attempt.minibatch)
            self._proposer.ask(attempt, judged.traces, component)
        return attempt

    def propose(self, attempt: Attempt) -> Mapping[str, str]:
        """The texts of an attempt's candidate; none where it is invalid. The first has all attempts answered."""
        if all(one.child is None for one in self._attempts):
            if attempt.parents:
                self._proposer.reflect(self._attempts)
            else:
                for one, seed in zip(self._attempts, self._space.seeds, strict=True):
                    self._proposer.begin(one, seed)
        return attempt.proposed.texts if attempt.valid else {}

    def decide(self, candidate: str) -> PoolEntry | None:
        """Decide a proposed candidate and record it whole; its entry, where it is in the pool now."""
        attempt = self._attempt(candidate)
        if attempt.parents:
            theirs, ours = (
                self.on_minibatch(one, attempt.minibatch).rewards for one in (attempt.parents[0].id, candidate)
            )
            both = [example for example in attempt.minibatch if example in theirs and example in ours]
            attempt.before, attempt.after = ({example: side[example] for example in both} for side in (theirs, ours))
        return self.record.entries[candidate] if self._acceptance.decide(attempt) else None

    def places(self, candidate: str) -> list[int]:
        """Places of a proposed candidate's parents in the pool."""
        return list(self._attempt(candidate).places)

    def _attempt(self, candidate: str) -> Attempt:
        return next(one for one in self._attempts if one.valid and one.proposed.id == candidate)
