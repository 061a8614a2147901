"""A student as a dspy program that judges on the campaign's own bench."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from optimize.engines.desk import Desk, Seen
from optimize.engines.relay import Relay
from splits.corpus import Corpus
from students import KeyedFactChecker, PerFactChecker, Student
from students.programs import JudgeProgram


class UnscoredError(Exception):
    """An example came to no score; dspy counts it as it counts any example that failed."""


class RivalProgram(JudgeProgram):
    """A student as dspy's optimisers see it: a predictor for each evolving block, whose instruction they rewrite.

    It takes an example by its id and judges it, with its twin, on the bench: the calls, their seeds, the order in which
    a local model reads them and the cache are those of every other search. A student exported by itself
    (:class:`~students.programs.JudgeProgram`) would ask the same, message by message, without any of that.

    Args:
        student: the student.
        desk: judges.
        relay: the way to it.
    """

    def __init__(self, student: Student, desk: Desk, relay: Relay) -> None:
        super().__init__(student, dict(desk.space.seed_candidate.texts))
        self._ask = _Way(desk, relay)

    def forward(
        self, source: str = "", document: str = "", facts: Sequence[str] = (), *, example: str = "", split: str = ""
    ) -> Any:
        """Judge one example."""
        seen = self._ask(self.texts, example, split)
        if seen.reward is None:
            raise UnscoredError(seen.feedback)
        if dspy.settings.trace is not None:
            given = {"source": source, "document": document, "facts": list(facts)}
            predictor = self.predictors()[0]
            dspy.settings.trace.append((predictor, given, dspy.Prediction(answer=seen.answer)))
        return dspy.Prediction(score=seen.score, reward=seen.reward, feedback=seen.feedback, answer=seen.answer)


class _Way:
    """The way from a program to the desk; copies of the program share it."""

    def __init__(self, desk: Desk, relay: Relay) -> None:
        self._desk, self._relay = desk, relay

    def __call__(self, texts: dict[str, str], example: str, split: str) -> Seen:
        judge = self._desk.on_reflect if split == "reflect" else self._desk.on_accept
        return self._relay.ask(lambda: judge(texts, example))

    def __deepcopy__(self, memo: object) -> _Way:
        return self


def data_set(corpus: Corpus, student: Student, *, split: str) -> list[Any]:
    """Examples as dspy's; of an accept example nothing but its id is in it."""
    found = []
    sourced = not isinstance(student, PerFactChecker | KeyedFactChecker)
    for example in corpus.examples:
        shown: dict[str, Any] = {}
        if split == "reflect":
            facts = [fact.fact for fact in corpus.facts.get(example.group, ())]
            shown = {"source": example.source if sourced else "", "document": example.document, "facts": facts}
        inputs = {"example": example.id, "split": split, **shown}
        known = {"expected": example.flaw} if split == "reflect" else {}
        found.append(dspy.Example(**inputs, **known).with_inputs(*inputs))
    return found


def reward(gold: Any, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None) -> Any:
    """The reward that our own search sees; with feedback where dspy.GEPA asks for a predictor's."""
    del gold, trace, pred_trace
    if pred_name is None:
        return pred.reward
    return dspy.Prediction(score=pred.reward, feedback=pred.feedback)
