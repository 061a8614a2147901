"""MIPROv2 as an engine: its own proposals and its own sampler on our examples, rewards, calls and ledger.

Only the instruction may evolve here, so it runs without demonstrations in the prompt. Those that it makes by running
the seed on reflect examples inform its proposals, as they do wherever it runs without demonstrations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import dspy
from dspy.teleprompt import MIPROv2

from lineage.ledger import Ledger
from lineage.records import Candidate
from optimize.engines.asking import LenientAdapter, ReflectorEngine, reflector_lm
from optimize.engines.desk import Desk, Origin
from optimize.engines.program import RivalProgram, data_set, reward
from optimize.engines.quiet import hushed, silenced
from optimize.engines.relay import Relay, SearchEndedError
from optimize.evaluation import Evaluation, Evaluator
from optimize.search import SearchResult, SearchSpace

NAME: Final = "mipro"
SHOWN: Final = 3
"""Reflect examples a call for the summary of the data; more of them do not fit into a small model's context."""
UNREAD: Final = "dspy could not read the answer"
NOT_TRIED: Final = "never tried: the search ended before the sampler drew it"


def search(space: SearchSpace, *, evaluator: Evaluator, ledger: Ledger, seed_evaluation: Evaluation) -> SearchResult:
    """Search instructions with MIPROv2; arguments and result as of our own search."""
    desk = Desk(space, evaluator, ledger, seed_evaluation, operator=NAME)
    relay = Relay("MIPROv2")
    engine = ReflectorEngine(desk, relay)
    if space.settings.iterations:
        tried = _Tried(desk, engine)
        desk.unknown = tried
        with hushed():
            relay.run(lambda: _compile(desk, relay, engine, tried))
        tried.leave()
    return desk.result


def n_trials(candidates: int, predictors: int) -> int:
    """Trials for so many instructions, as MIPROv2 sets them itself where it is left to."""
    return int(max(2 * predictors * math.log2(candidates), 1.5 * candidates))


def _compile(desk: Desk, relay: Relay, engine: ReflectorEngine, tried: _Tried) -> None:
    space, lm = desk.space, reflector_lm(engine)
    candidates = space.settings.iterations + 1  # the first is the seed
    with silenced(), dspy.context(lm=lm, adapter=LenientAdapter(), num_threads=1, disable_history=True):
        optimiser = _Mipro(
            metric=reward,
            prompt_model=lm,
            task_model=lm,
            auto=None,
            num_candidates=candidates,
            max_bootstrapped_demos=0,
            max_labeled_demos=0,
            num_threads=1,
            max_errors=10**6,
            seed=space.settings.seed,
            track_stats=False,
        )
        optimiser.tried = tried
        optimiser.compile(
            RivalProgram(space.student, desk, relay),
            trainset=data_set(space.reflect, space.student, split="reflect"),
            valset=data_set(space.accept, space.student, split="accept"),
            num_trials=n_trials(candidates, len(space.seed_candidate.texts)),
            minibatch=False,
            program_aware_proposer=False,
            view_data_batch_size=SHOWN,
        )


class _Mipro(MIPROv2):  # type: ignore[misc]  # dspy has no types
    """MIPROv2 that says what it proposed."""

    tried: _Tried

    def _propose_instructions(self, *args: Any, **kwargs: Any) -> Any:
        found = super()._propose_instructions(*args, **kwargs)
        return dict(enumerate(self.tried.propose([list(found[place]) for place in sorted(found)])))


class _Tried:
    """Candidates in the order in which the sampler first draws them, recorded then; the others at the end."""

    def __init__(self, desk: Desk, engine: ReflectorEngine) -> None:
        self._desk, self._engine = desk, engine
        self._seed = dict(desk.space.seed_candidate.texts)
        self._proposed: list[tuple[str, str]] = []
        self._drawn = set(self._seed.items())
        self._unread = 0

    def propose(self, instructions: list[list[str]]) -> list[list[str]]:
        """Keep the proposed instructions of each block; the seed's stands in for what could not be read."""
        self._unread = sum(not text.strip() for texts in instructions for text in texts)
        readable = [[text if text.strip() else texts[0] for text in texts] for texts in instructions]
        self._proposed = [(name, text) for name, texts in zip(self._seed, readable, strict=True) for text in texts]
        return readable

    def __call__(self, texts: Mapping[str, str]) -> None:
        """Record a candidate that is drawn for the first time, and evaluate it if it is valid.

        Raises:
            SearchEndedError: the search's budget is used up.
        """
        if self._desk.use.spent:
            raise SearchEndedError
        self._drawn |= set(texts.items())
        if (candidate := self._recorded(dict(texts))) is not None:
            self._desk.entered(candidate, "drawn by the sampler, and judged on all of accept")

    def leave(self) -> None:
        """Record each instruction that was proposed and never drawn, and each that could not be read."""
        for name, text in dict.fromkeys(self._proposed):
            drawn = (name, text) in self._drawn
            if not drawn and (candidate := self._recorded({**self._seed, name: text})) is not None:
                self._desk.outcome(candidate, "rejected", NOT_TRIED)
        for _ in range(self._unread):
            self._desk.iteration += 1
            self._desk.proposed(self._seed, self._seed, Origin(NAME, problem=UNREAD))

    def _recorded(self, texts: dict[str, str]) -> Candidate | None:
        """Record a proposal; the candidate, if it may be judged."""
        self._desk.iteration += 1
        new = next((text for name, text in texts.items() if text != self._seed[name]), "")
        answered = self._engine.written(new) if new.strip() else None
        origin = Origin(NAME) if answered is None else Origin(NAME, answered.prompt, answered.text)
        valid = self._desk.proposed(self._seed, texts, origin)
        return self._desk.candidate(texts) if valid else None
