"""GEPA's search on ``gepa.optimize``: our adapter, samplers, acceptance and bookkeeping around its loop.

One accept instance is one example; a flawed one brings its twin, whose judgement is shared. All randomness derives from
(seed, iteration, call number) and every evaluation is a step of the ledger, so that a search that is run through again
after an interruption takes the same course without a call. gepa swallows exceptions in places; each is kept here,
stops the loop, and is raised when the loop is left.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import gepa
from gepa.core.adapter import EvaluationBatch
from gepa.proposer.base import CandidateProposal
from gepa.strategies.candidate_selector import ParetoCandidateSelector
from gepa.strategies.proposal_sampling import ProposalTask

from lineage.canonical import digest
from lineage.ledger import Ledger
from lineage.records import Candidate, candidate_id, minibatch_gain
from optimize.evaluation import Evaluation, Evaluator, n_rewarded
from optimize.gepa_parts import Instance, ScoredOnly, Silent, draw_groups
from optimize.measured import record_measures
from optimize.objectives import coverage
from optimize.search import PoolEntry, SearchResult, SearchSpace, candidate_row
from reflectors.reflector import Reflection, ReflectionRequest
from reflectors.traces import Trace, build_traces
from reflectors.validation import invalid_reason
from splits.corpus import Example

Value = TypeVar("Value")


def run_search(
    space: SearchSpace, *, evaluator: Evaluator, ledger: Ledger, seed_evaluation: Evaluation
) -> SearchResult:
    """Evolve the seed candidate and return every accepted candidate with its accept evaluation.

    Args:
        space: what the search may see.
        evaluator: judges candidates through the ledger.
        ledger: the campaign's ledger.
        seed_evaluation: the seed's evaluation on accept.

    Raises:
        HoldgateError: whatever stopped the search; it can be resumed.
    """
    search = _Search(space, evaluator, ledger, seed_evaluation)
    accept = [Instance(example.id, "accept") for example in space.accept.examples]
    reflect = [Instance(example.id, "reflect") for example in space.reflect.examples]
    if space.iterations:
        gepa.optimize(
            seed_candidate=dict(space.seed_candidate.texts),
            trainset=reflect,
            valset=accept,
            adapter=search,
            candidate_selection_strategy="pareto",
            skip_perfect_score=False,
            stop_callbacks=search.should_stop,
            logger=Silent(),
            track_best_outputs=False,
            cache_evaluation=False,
            use_merge=False,
            seed=space.seed,
            raise_on_exception=False,
            val_evaluation_policy=search.policy,
            acceptance_criterion=search,
            sampling_strategy=search,
            selection_strategy=search,
            callbacks=[search],
        )
    if search.failure is not None:
        raise search.failure
    return search.result


class _Search:
    """gepa's adapter, sampling strategy, acceptance criterion and selection strategy in one: they share one state."""

    def __init__(self, space: SearchSpace, evaluator: Evaluator, ledger: Ledger, seed_evaluation: Evaluation) -> None:
        self.space, self._evaluator, self._ledger = space, evaluator, ledger
        self.failure: BaseException | None = None
        self.policy = ScoredOnly()
        self._iteration = self._call = 0
        self._candidates: dict[str, Candidate] = {space.seed_candidate.id: space.seed_candidate}
        self._minibatch: tuple[str, ...] = ()
        self._traces: dict[str, tuple[Trace, ...]] = {}
        self._groups = [group for group, found in space.reflect.groups.items() if any(ex.twin for ex in found)]
        self.result = SearchResult([self._entry(space.seed_candidate, seed_evaluation, "seed")])
        self.policy.expect(self.result.pool[0].rewards)

    # -- stopping ------------------------------------------------------------------------------------------------------

    def should_stop(self, state: Any) -> bool:
        """The stopper of gepa: the plan's iterations are done, or something failed that gepa swallowed."""
        return self.failure is not None or state.i + 1 >= self.space.iterations

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
        """One parent, drawn in proportion to the examples it leads, and one minibatch of whole groups."""
        del candidate_selector, batch_sampler

        def sample() -> list[ProposalTask[Any, Any]]:
            self._iteration, self._call = state.i + 1, 0
            selector = ParetoCandidateSelector(rng=random.Random(self._derived("parent")))  # noqa: S311 - a search
            parent = selector.select_candidate_idx(state)
            groups = draw_groups(
                self._groups, self.space.minibatch_groups, seed=self.space.seed, iteration=self._iteration
            )
            examples = [example for group in groups for example in self.space.reflect.groups[group]]
            self._minibatch = tuple(example.id for example in examples)
            wanted = set(self._minibatch)
            ids = [key for key in trainset.all_ids() if trainset.fetch([key])[0].id in wanted]
            return [ProposalTask(parent, state.program_candidates[parent], ids, trainset.fetch(ids))]

        return self._guarded(sample)

    def _derived(self, purpose: str) -> int:
        return int(digest([self.space.seed, self._iteration, self._call, purpose])[:16], 16)

    # -- adapter -------------------------------------------------------------------------------------------------------

    def evaluate(
        self, batch: Sequence[Instance], candidate: Mapping[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Any, Any]:
        """Scores of a batch: of accept from the evaluation made in :meth:`select`, of a minibatch from a new one."""
        del capture_traces
        return self._guarded(lambda: self._scored(batch, candidate))

    def batch_evaluate(
        self, items: Sequence[tuple[Mapping[str, str], Sequence[Instance]]], *, capture_traces: bool = True
    ) -> list[EvaluationBatch[Any, Any]]:
        """:meth:`evaluate` for several candidates."""
        return [self.evaluate(batch, candidate, capture_traces) for candidate, batch in items]

    def _scored(self, batch: Sequence[Instance], texts: Mapping[str, str]) -> EvaluationBatch[Any, Any]:
        chosen = candidate_id(texts)
        if batch and batch[0].split == "accept":
            rewards = next(entry.rewards for entry in self.result.pool if entry.candidate.id == chosen)
            found = [rewards[instance.id] for instance in batch]
            return EvaluationBatch(outputs=found, scores=found)
        examples = [self.space.reflect.by_id[example] for example in self._minibatch]
        part = self.space.reflect.part(examples)
        (evaluation,) = self._evaluator.evaluate(
            self.space.student,
            [self._candidates[chosen]],
            part,
            purpose="minibatch",
            split="reflect",
            iteration=self._iteration,
        )
        traces = build_traces(part, evaluation.judgements, scale=self.space.student.scale)
        self._traces[chosen] = traces
        rewards = self._rewards(evaluation)
        outputs = [rewards.get(instance.id) for instance in batch]
        scores = [0.0 if output is None else output for output in outputs]  # a float for gepa; acceptance reads outputs
        return EvaluationBatch(outputs=outputs, scores=scores, trajectories=list(batch))

    def make_reflective_dataset(
        self, candidate: Mapping[str, str], eval_batch: Any, components_to_update: Sequence[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """The parent's traces, failures first, under each component."""
        del eval_batch

        def dataset() -> dict[str, list[dict[str, Any]]]:
            traces = self._traces[candidate_id(candidate)]
            ordered = sorted(traces, key=lambda trace: (trace.failing is None, trace.example))
            return {name: [{"trace": trace} for trace in ordered] for name in components_to_update}

        return self._guarded(dataset)

    def propose_new_texts(
        self,
        candidate: Mapping[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: Sequence[str],
    ) -> dict[str, str]:
        """One new text from the reflector, recorded as a candidate; none where it is invalid."""
        return self._guarded(lambda: self._propose(candidate, reflective_dataset, components_to_update))

    def _propose(
        self,
        texts: Mapping[str, str],
        dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components: Sequence[str],
    ) -> dict[str, str]:
        (component,) = components
        self._call += 1
        request = ReflectionRequest(
            parent=texts[component],
            traces=tuple(item["trace"] for item in dataset[component]),
            earlier=frozenset(known.texts[component] for known in self._candidates.values()),
            seed=self.space.seed,
            iteration=self._iteration,
            call=self._call,
        )
        parent = candidate_id(texts)
        self.space.contamination.request(request)
        body = self._ledger.perform(
            "reflection",
            {
                "iteration": self._iteration,
                "call": self._call,
                "parent": parent,
                "reflector": self.space.reflector.settings(),
                "minibatch": sorted(self._minibatch),
                "traces": digest([trace.text for trace in request.traces]),
            },
            lambda: {"reflection": self.space.reflector.reflect(request).row()},
        )
        reflection = Reflection.from_row(body["reflection"])
        child = Candidate({**texts, component: reflection.text}, "mutation", (parent,), self._iteration)
        self._ledger.perform("candidate", candidate_row(child, reflection.operator), dict)
        problem = reflection.problem or invalid_reason(
            reflection.text,
            parents=[request.parent],
            earlier=request.earlier,
            forbidden=self.space.forbidden,
            overlaps=self.space.contamination.candidate(child, parents=[request.parent]),
        )
        if problem is not None:
            self.result.invalid += 1
            self._outcome(child, "invalid", problem, {}, {})
            return {}
        self._candidates[child.id] = child
        return {component: reflection.text}

    # -- acceptance and selection --------------------------------------------------------------------------------------

    def should_accept(self, proposal: CandidateProposal[Any], state: Any) -> bool:
        """Whether the child's summed reward exceeds the parent's, over the examples scored for both."""
        del state
        before, after = _common(proposal)
        return minibatch_gain(before, after) > 0

    def select(
        self, proposals: list[CandidateProposal[Any]], state: Any, acceptance_criterion: Any
    ) -> list[CandidateProposal[Any]]:
        """Decide each proposal, record it whole, and evaluate the accepted on accept."""
        return self._guarded(
            lambda: [
                proposal
                for proposal in proposals
                if self._decide(proposal, passed=acceptance_criterion.should_accept(proposal, state))
            ]
        )

    def _decide(self, proposal: CandidateProposal[Any], *, passed: bool) -> bool:
        child = self._candidates[candidate_id(proposal.candidate)]
        before, after = _common(proposal)
        ids = [example.id for example in self._batch_examples()]
        named_before = {ids[index]: value for index, value in before.items()}
        named_after = {ids[index]: value for index, value in after.items()}
        planned = n_rewarded(self._batch_examples())
        if coverage(len(after), planned) < self.space.coverage:
            self.result.invalid += 1
            reason = f"only {len(after)} of {planned} minibatch examples scored for parent and child"
            self._outcome(child, "invalid", reason, named_before, named_after)
            return False
        gain = minibatch_gain(before, after)
        if not passed:
            self.result.rejected += 1
            self._outcome(child, "rejected", f"minibatch reward {gain:+.4f}", named_before, named_after)
            return False
        (evaluation,) = self._evaluator.evaluate(
            self.space.student,
            [child],
            self.space.accept,
            purpose="accept",
            split="accept",
            iteration=self._iteration,
        )
        record_measures(self._ledger, "accept", evaluation)
        entry = self._entry(child, evaluation, f"c{self._iteration:02d}")
        share = coverage(len(entry.rewards), n_rewarded(self.space.accept.examples))
        if share < self.space.coverage:
            self.result.invalid += 1
            reason = f"only {share:.0%} of accept examples scored"
            self._outcome(child, "invalid", reason, named_before, named_after)
            return False
        self.result.pool.append(entry)
        self.policy.expect(entry.rewards)
        self._outcome(child, "accepted", f"minibatch reward {gain:+.4f}", named_before, named_after)
        return True

    def _batch_examples(self) -> list[Example]:
        """The minibatch in the order in which gepa holds it: that of the reflect examples."""
        wanted = set(self._minibatch)
        return [example for example in self.space.reflect.examples if example.id in wanted]

    def _entry(self, candidate: Candidate, evaluation: Evaluation, name: str) -> PoolEntry:
        return PoolEntry(candidate, evaluation, self._rewards(evaluation), name)

    def _rewards(self, evaluation: Evaluation) -> dict[str, float]:
        return evaluation.rewards(
            scale=self.space.student.scale, margin=self.space.margin, clean_weight=self.space.clean_weight
        )

    def _outcome(
        self, child: Candidate, outcome: str, reason: str, before: Mapping[str, float], after: Mapping[str, float]
    ) -> None:
        self._ledger.perform(
            "outcome",
            {
                "iteration": self._iteration,
                "candidate": child.id,
                "parents": list(child.parents),
                "outcome": outcome,
                "reason": reason,
                "parent_rewards": dict(before),
                "child_rewards": dict(after),
            },
            dict,
        )


def _common(proposal: CandidateProposal[Any]) -> tuple[dict[int, float], dict[int, float]]:
    """Rewards of parent and child by place in the minibatch, where both have one."""
    assert proposal.eval_before is not None
    assert proposal.eval_after is not None
    before, after = proposal.eval_before.outputs, proposal.eval_after.outputs
    both = [index for index, pair in enumerate(zip(before, after, strict=True)) if None not in pair]
    return {index: before[index] for index in both}, {index: after[index] for index in both}
