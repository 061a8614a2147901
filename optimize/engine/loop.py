"""The loop of gepa with our adapter, sampling, selection and bookkeeping in it.

One accept instance is one example; a flawed one brings its twin, whose judgement is shared. All randomness derives from
(seed, iteration, call number) and every evaluation is a step of the ledger, so that a search that is run through again
after an interruption takes the same course without a call. gepa swallows exceptions in places; each is kept here,
stops the loop, and is raised when the loop is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import gepa
from gepa.core.adapter import EvaluationBatch
from gepa.proposer.base import CandidateProposal
from gepa.strategies.proposal_sampling import ProposalTask

from lineage.ledger import Ledger
from lineage.records import candidate_id
from optimize.engine.attempts import Attempt
from optimize.engine.parents import ParentSampling
from optimize.engine.rounds import Rounds
from optimize.engine.vectors import Objectives, front_of
from optimize.evaluation import Evaluation, Evaluator
from optimize.gepa_parts import ACCEPT, REFLECT, SEED, Instance, ScoredOnly, Silent
from optimize.search import SearchResult, SearchSpace

Value = TypeVar("Value")

FRONTIERS: Final = {"examples": "instance", "objectives": "objective", "both": "hybrid"}
"""gepa's names of what a frontier is kept by."""


def run_search(
    space: SearchSpace,
    *,
    evaluator: Evaluator,
    ledger: Ledger,
    seed_evaluation: Evaluation,
    sampling: ParentSampling | None = None,
) -> SearchResult:
    """Evolve the seed candidates and return every accepted candidate with its accept evaluation.

    Args:
        space: what the search may see.
        evaluator: judges candidates through the ledger.
        ledger: the campaign's ledger.
        seed_evaluation: the baseline's evaluation on accept.
        sampling: draws the parents; by default from the frontier, as the settings say.

    Raises:
        HoldgateError: whatever stopped the search; it can be resumed.
    """
    search = _Search(space, Rounds(space, evaluator, ledger, seed_evaluation, sampling))
    if space.settings.iterations or space.seeds:
        gepa.optimize(
            seed_candidate=dict(space.seed_candidate.texts),
            trainset=[Instance(example.id, REFLECT) for example in space.reflect.examples],
            valset=[Instance(example.id, ACCEPT) for example in space.accept.examples],
            adapter=search,
            candidate_selection_strategy="pareto",
            frontier_type=FRONTIERS[space.settings.frontier],
            skip_perfect_score=False,
            stop_callbacks=search.should_stop,
            logger=Silent(),
            track_best_outputs=False,
            cache_evaluation=False,
            use_merge=False,
            seed=space.settings.seed,
            raise_on_exception=False,
            val_evaluation_policy=search.policy,
            sampling_strategy=search,
            selection_strategy=search,
            callbacks=[search],
        )
    if search.failure is not None:
        raise search.failure
    return search.rounds.record.result


class _Dataset(dict[str, list[dict[str, Any]]]):
    """gepa's reflective data set of one attempt, which comes back when new texts are wanted."""

    def __init__(self, attempt: Attempt) -> None:
        traces = attempt.request.traces if attempt.request is not None else ()
        super().__init__({attempt.component: [{"trace": trace} for trace in traces]})
        self.attempt = attempt


class _Search:
    """gepa's adapter, sampling strategy and selection strategy in one: they share one state, the rounds."""

    def __init__(self, space: SearchSpace, rounds: Rounds) -> None:
        self.rounds = rounds
        self._settings, self._seeded = space.settings, bool(space.seeds)
        self._keys = {example.id: key for key, example in enumerate(space.reflect.examples)}
        (baseline,) = rounds.record.result.pool
        self._objectives = None if space.settings.frontier == "examples" else Objectives(baseline.accept)
        self.policy = ScoredOnly()
        self.policy.expect(baseline.rewards)
        self.failure: BaseException | None = None

    # -- stopping ------------------------------------------------------------------------------------------------------

    def should_stop(self, state: Any) -> bool:
        """The stopper of gepa: the plan's iterations are done, its budget is used, or something failed."""
        done = self._iteration(state)
        spent = done >= 0 and self.rounds.use.spent
        return self.failure is not None or done >= self._settings.iterations or spent

    def _iteration(self, state: Any) -> int:
        """Number of gepa's iteration as we count it: the further seeds take one of gepa's, which is our 0."""
        return int(state.i) + 1 - self._seeded

    def on_error(self, event: Mapping[str, Any]) -> None:
        """The callback of gepa on what it swallowed: an error of its own stops the search as ours do."""
        self.failure = self.failure or event["exception"]

    def _guarded(self, step: Callable[[], Value]) -> Value:
        """Run a step; keep what it raises, and let nothing run after a failure."""
        if self.failure is not None:
            raise RuntimeError("the search has failed; its first failure is raised when the loop is left")
        try:
            return step()
        except BaseException as error:
            self.failure = error
            raise

    # -- sampling ------------------------------------------------------------------------------------------------------

    def sample_tasks(
        self, state: Any, candidate_selector: Any, batch_sampler: Any, trainset: Any
    ) -> list[ProposalTask[Any, Any]]:
        """As many tasks as the plan proposes at once, each with parents and a minibatch of its own; first the seeds."""
        del candidate_selector, batch_sampler
        return self._guarded(lambda: self._sampled(state, trainset))

    def _sampled(self, state: Any, trainset: Any) -> list[ProposalTask[Any, Any]]:
        texts = state.program_candidates
        if (iteration := self._iteration(state)) == 0:
            return [
                ProposalTask(0, texts[0], [f"seed {one.call}"], [Instance(f"seed {one.call}", SEED)])
                for one in self.rounds.begin_seeds()
            ]
        front = front_of(state, self.rounds.record.means, whole=self._objectives is not None)
        tasks = []
        for one in self.rounds.begin(iteration, front):
            keys = [self._keys[example] for example in one.minibatch]
            tasks.append(ProposalTask(one.places[0], texts[one.places[0]], keys, trainset.fetch(keys)))
        return tasks

    # -- adapter -------------------------------------------------------------------------------------------------------

    def evaluate(
        self, batch: Sequence[Instance], candidate: Mapping[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Any, Any]:
        """Scores of a batch: of accept from the evaluation made in :meth:`select`, of a minibatch from a new one."""
        del capture_traces
        return self._guarded(lambda: self._scored(batch, candidate_id(candidate)))

    def batch_evaluate(
        self, items: Sequence[tuple[Mapping[str, str], Sequence[Instance]]], *, capture_traces: bool = True
    ) -> list[EvaluationBatch[Any, Any]]:
        """:meth:`evaluate` for several candidates, one after the other: their order is that of the ledger."""
        return [self.evaluate(batch, candidate, capture_traces) for candidate, batch in items]

    def _scored(self, batch: Sequence[Instance], candidate: str) -> EvaluationBatch[Any, Any]:
        split = batch[0].split if batch else REFLECT
        if split == SEED:  # no minibatch test, and no call
            return EvaluationBatch(outputs=[0.0], scores=[0.0], trajectories=list(batch))
        if split == ACCEPT:
            entry = self.rounds.record.entries[candidate]
            found = [entry.rewards[instance.id] for instance in batch]
            scores = None
            if self._objectives is not None:
                scores = [self._objectives.of(entry.candidate, entry.accept)] * len(found)
            return EvaluationBatch(outputs=found, scores=found, objective_scores=scores)
        rewards = self.rounds.on_minibatch(candidate, tuple(instance.id for instance in batch)).rewards
        outputs = [rewards.get(instance.id) for instance in batch]
        floats = [0.0 if output is None else output for output in outputs]  # for gepa, which decides nothing by them
        return EvaluationBatch(outputs=outputs, scores=floats, trajectories=list(batch))

    def make_reflective_dataset(
        self, candidate: Mapping[str, str], eval_batch: Any, components_to_update: Sequence[str]
    ) -> _Dataset:
        """What the reflector is asked for the next attempt; gepa comes for each in the order of its tasks."""
        del candidate, eval_batch
        (component,) = components_to_update
        return _Dataset(self._guarded(partial(self.rounds.ask, component)))

    def propose_new_texts(
        self, candidate: Mapping[str, str], reflective_dataset: _Dataset, components_to_update: Sequence[str]
    ) -> dict[str, str]:
        """The texts of an attempt's candidate; none where it is invalid."""
        del candidate, components_to_update
        return dict(self._guarded(partial(self.rounds.propose, reflective_dataset.attempt)))

    # -- selection -----------------------------------------------------------------------------------------------------

    def select(
        self, proposals: list[CandidateProposal[Any]], state: Any, acceptance_criterion: Any
    ) -> list[CandidateProposal[Any]]:
        """Decide each proposal, record it whole, and evaluate the accepted on accept.

        gepa's own criterion, which compares sums over examples that one of both may have failed, is not asked.
        """
        del state, acceptance_criterion
        return self._guarded(lambda: [proposal for proposal in proposals if self._decided(proposal)])

    def _decided(self, proposal: CandidateProposal[Any]) -> bool:
        candidate = candidate_id(proposal.candidate)
        entry = self.rounds.decide(candidate)
        if entry is None:
            return False
        proposal.parent_program_ids = self.rounds.places(candidate)
        self.policy.expect(entry.rewards)
        return True
