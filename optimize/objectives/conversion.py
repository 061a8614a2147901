"""Evaluations as arrays of scored examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from lineage.errors import InputError
from lineage.records import Judgement
from optimize.objectives.scored import ScoredExamples
from splits.corpus import Example


class Judged(Protocol):
    """Judgements of one candidate on some examples, such as an evaluation."""

    @property
    def examples(self) -> Sequence[Example]:
        """The examples that were to be judged."""
        ...

    @property
    def judgements(self) -> Sequence[Judgement]:
        """Their judgements, failed ones among them."""
        ...


def scored_evaluation(evaluation: Judged) -> ScoredExamples:
    """Scored examples of an evaluation; a judgement that failed or abstained is NaN.

    Raises:
        InputError: an example is judged twice in one replicate or is not among the examples, or judgements combine
            different numbers of samples.
    """
    examples, judgements = evaluation.examples, evaluation.judgements
    row_of = {example.id: row for row, example in enumerate(examples)}
    replicates = tuple(sorted({judgement.replicate for judgement in judgements})) or (0,)
    column_of = {replicate: column for column, replicate in enumerate(replicates)}
    scores = [[float("nan")] * len(replicates) for _ in examples]
    seen: set[tuple[str, int]] = set()
    samples = {1} if not judgements else set()
    for judgement in judgements:
        unit = (judgement.example, judgement.replicate)
        if unit in seen:
            raise InputError(f"example {unit[0]!r} is judged twice in replicate {unit[1]}; number the replicates")
        if judgement.example not in row_of:
            raise InputError(f"{judgement.example!r} is judged and is not among the examples; pass every example")
        seen.add(unit)
        samples.add(int(judgement.sent.get("samples", 1)))
        if judgement.score is not None:
            scores[row_of[judgement.example]][column_of[judgement.replicate]] = judgement.score
    if len(samples) != 1:
        raise InputError(f"judgements must combine the same number of samples, got {sorted(samples)}")
    return ScoredExamples.of_columns(
        ids=[example.id for example in examples],
        groups=[example.group for example in examples],
        labels=[example.label for example in examples],
        scores=np.array(scores, dtype=np.float64).reshape(len(examples), len(replicates)),
        twins=[example.twin for example in examples],
        attributes={
            "kind": [example.kind for example in examples],
            "trace": [example.trace for example in examples],
            "severity": [example.severity for example in examples],
            "stratum": [example.stratum for example in examples],
            "cohort": [example.cohort for example in examples],
        },
        replicates=replicates,
        samples=samples.pop(),
    )
