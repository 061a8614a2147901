"""The baselines without a language model, as students that make no call: they are judged, stored and measured alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, ClassVar, Final

from splits.corpus import Example, Fact
from students.answers import Answers, Reading
from students.budget import ReasoningBudget
from students.embedding import EMBEDDING, embedding_score, sentence_embedder
from students.facts import checked_facts
from students.flag_rules import FlagRule
from students.overlap import overlap_score
from students.sending import Sending
from students.student import CallsAtMost, Draw, PromptCache
from students.transport.base import CallRequest

Scorer = Callable[[Sequence[Fact], str], float]
"""Scores a document by the facts of its group; higher is better."""


@dataclass(frozen=True, slots=True)
class FactBaseline:
    """A judge without a model: how near the words of the facts are to those of the document.

    It sees neither the source nor what else a document says. Where the fact list is given and an omission is complete
    it is hard to beat, and it says nothing about a document that states more than it should.

    Args:
        name: of the baseline.
        scorer: makes what scores a document, when it is first needed.
        own: what else its scores depend on.
    """

    name: str
    scorer: Callable[[], Scorer]
    own: Mapping[str, Any]

    scale: ClassVar[float] = 1.0
    samples: ClassVar[int] = 1
    prompt_cache: ClassVar[PromptCache] = "unset"
    budget: ClassVar[ReasoningBudget] = ReasoningBudget()
    sending: ClassVar[Sending] = Sending({}, None, None, seeded=False)
    flag_rule: ClassVar[FlagRule | None] = None
    seed_texts: ClassVar[Mapping[str, str]] = {}

    def settings(self) -> dict[str, Any]:
        """Everything that can change a score."""
        return {"student": self.name, **self.own}

    def calls_at_most(self, facts: int) -> CallsAtMost:
        """None."""
        del facts
        return CallsAtMost(0)

    def chain(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw
    ) -> tuple[CallRequest, ...]:
        """Nothing is asked; the score is read from the example."""
        del example, facts, texts, draw
        return ()

    def follow(
        self, example: Example, facts: Sequence[Fact], texts: Mapping[str, str], draw: Draw, answers: Answers
    ) -> tuple[CallRequest, ...]:
        """Nothing is asked."""
        del example, facts, texts, draw, answers
        return ()

    def read(self, example: Example, facts: Sequence[Fact], answers: Answers) -> Reading:
        """The score, from all facts of the group and the document.

        Raises:
            PlanError: the group has no facts.
        """
        del answers
        checked = checked_facts(facts, None)
        if not example.document.strip():
            return Reading("failed", None, "empty: the document has no sentence")
        return Reading("scored", self.scorer()(checked, example.document))

    def combined(self, readings: Sequence[Reading]) -> Reading:
        """The one reading."""
        (reading,) = readings
        return reading


def _embedding() -> Scorer:
    return partial(embedding_score, embedder=sentence_embedder())


WORD_OVERLAP: Final = FactBaseline("word-overlap", lambda: overlap_score, {})
SENTENCE_EMBEDDING: Final = FactBaseline(
    "sentence-embedding", _embedding, {"vectors": EMBEDDING, "wordllama": version("wordllama")}
)
BASELINES: Final = (WORD_OVERLAP, SENTENCE_EMBEDDING)
"""Both, in the order in which they stand in tables."""
