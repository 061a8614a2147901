"""dspy.GEPA as an engine: its own sampling, acceptance and prompts on our examples, rewards, calls and ledger."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

import dspy
from dspy.teleprompt.gepa import InstructionProposer
from gepa.strategies.batch_sampler import EpochShuffledBatchSampler

from lineage.ledger import Ledger
from optimize.engines.asking import ReflectorEngine, reflector_lm
from optimize.engines.desk import Desk, Origin
from optimize.engines.program import RivalProgram, data_set, reward
from optimize.engines.quiet import hushed, silenced
from optimize.engines.relay import Relay
from optimize.evaluation import Evaluation, Evaluator
from optimize.search import SearchResult, SearchSpace

NAME: Final = "dspy-gepa"
MINIBATCH: Final = 3
"""Examples a minibatch, which is dspy.GEPA's own default."""
NO_LIMIT: Final = 10**9
"""dspy.GEPA must be given a number of metric calls; the plan's iterations and budget end the search before."""


def search(space: SearchSpace, *, evaluator: Evaluator, ledger: Ledger, seed_evaluation: Evaluation) -> SearchResult:
    """Evolve the seed candidate with dspy.GEPA; arguments and result as of our own search."""
    desk = Desk(space, evaluator, ledger, seed_evaluation, operator=NAME)
    relay = Relay("dspy.GEPA")
    engine = ReflectorEngine(desk, relay)
    if space.settings.iterations:
        with hushed():
            relay.run(lambda: _compile(desk, relay, engine))
    return desk.result


def _compile(desk: Desk, relay: Relay, engine: ReflectorEngine) -> None:
    space, lm = desk.space, reflector_lm(engine)
    sampler = _Sampler(desk, random.Random(space.settings.seed))  # noqa: S311 - a search
    with silenced(), dspy.context(lm=lm, num_threads=1, disable_history=True):
        optimiser = dspy.GEPA(
            metric=reward,
            max_metric_calls=NO_LIMIT,
            reflection_minibatch_size=None,
            reflection_lm=lm,
            instruction_proposer=_Proposer(desk, relay, engine),
            use_merge=False,
            num_threads=1,
            warn_on_score_mismatch=False,
            seed=space.settings.seed,
            gepa_kwargs={
                "batch_sampler": sampler,
                "selection_strategy": _Selection(desk, relay),
                "stop_callbacks": lambda state: state.i + 1 >= space.settings.iterations or desk.use.spent,
            },
        )
        optimiser.compile(
            RivalProgram(space.student, desk, relay),
            trainset=data_set(space.reflect, space.student, split="reflect"),
            valset=data_set(space.accept, space.student, split="accept"),
        )


class _Sampler(EpochShuffledBatchSampler):  # type: ignore[misc]  # gepa is not followed by the type checker
    """gepa's own minibatches, which are told to the desk so that each is judged at once."""

    def __init__(self, desk: Desk, rng: random.Random) -> None:
        super().__init__(minibatch_size=min(MINIBATCH, len(desk.space.reflect.examples)), rng=rng)
        self._desk = desk

    def next_minibatch_ids(self, loader: Any, state: Any) -> list[Any]:
        """The ids of the next minibatch."""
        ids: list[Any] = super().next_minibatch_ids(loader, state)
        self._desk.iteration = state.i + 1
        self._desk.batch = tuple(dict.fromkeys(example["example"] for example in loader.fetch(ids)))
        return ids


class _Proposer(InstructionProposer):  # type: ignore[misc]  # dspy has no types
    """dspy's own proposer; each proposal is recorded, and one that may not be tried is withheld."""

    def __init__(self, desk: Desk, relay: Relay, engine: ReflectorEngine) -> None:
        super().__init__()
        self._desk, self._relay, self._engine = desk, relay, engine

    def __call__(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """One new text, or none."""
        problem, proposed = None, dict[str, str]()
        try:
            proposed = super().__call__(candidate, reflective_dataset, components_to_update)
        except Exception as error:  # whatever dspy makes of an answer that it cannot read
            problem = f"dspy could not read the answer: {type(error).__name__}"
        last = self._engine.answers[-1] if self._engine.answers else None
        origin = Origin(
            NAME,
            None if last is None else last.prompt,
            None if last is None else last.text,
            (last.problem if last is not None else None) or problem,
        )
        texts = {**candidate, **proposed}
        names = set(candidate)
        valid = self._relay.ask(lambda: self._desk.proposed(candidate, texts, origin))
        return {name: text for name, text in proposed.items() if name in names} if valid else {}


class _Selection:
    """gepa's own selection, every improvement; what becomes of each proposal is recorded."""

    def __init__(self, desk: Desk, relay: Relay) -> None:
        self._desk, self._relay = desk, relay

    def select(self, proposals: Sequence[Any], state: Any, acceptance_criterion: Any) -> list[Any]:
        """The proposals that enter the pool."""
        return [each for each in proposals if self._kept(each, state, acceptance_criterion.should_accept(each, state))]

    def _kept(self, proposal: Any, state: Any, passed: bool) -> bool:
        parent = state.program_candidates[proposal.parent_program_ids[0]]
        return self._relay.ask(lambda: self._desk.decided(proposal.candidate, parent=parent, passed=passed))
