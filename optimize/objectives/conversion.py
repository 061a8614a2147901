"""Evaluations and scored pairs as arrays of scored examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from lineage.errors import InputError
from lineage.records import Judgement
from optimize.objectives.pairs import ScoredPair
from optimize.objectives.scored import Attribute, ScoredExamples
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
        InputError: an example is judged twice in one replicate, or judgements combine different numbers of samples.
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


def scored_pairs(pairs: Sequence[ScoredPair]) -> ScoredExamples:
    """Scored examples of scored pairs, the clean twins among them where every pair names its twin.

    Pairs that do not name their twins leave no clean document behind: how many there are cannot be told from their
    scores. Pairs that failed in every replicate are not among the pairs, so coverage reads them as not planned.

    Raises:
        InputError: a pair occurs twice in one replicate, or a twin has two scores in one, or samples differ.
    """
    replicates = tuple(sorted({pair.replicate for pair in pairs})) or (0,)
    column_of = {replicate: column for column, replicate in enumerate(replicates)}
    first: dict[str, ScoredPair] = {}
    cells: dict[tuple[str, int], float] = {}
    twin_cells: dict[tuple[str, int], float] = {}
    clean: dict[str, ScoredPair] = {}
    named = all(pair.twin is not None for pair in pairs)
    for pair in pairs:
        if (pair.example, pair.replicate) in cells:
            raise InputError(f"pair {pair.example!r} occurs twice in replicate {pair.replicate}; number the replicates")
        if first.setdefault(pair.example, pair).group != pair.group:
            raise InputError(f"pair {pair.example!r} is in groups {first[pair.example].group!r} and {pair.group!r}")
        cells[pair.example, pair.replicate] = pair.score
        twin_cells[pair.example, pair.replicate] = pair.twin_score
        if named and pair.twin is not None:
            clean.setdefault(pair.twin, pair)
            if cells.setdefault((pair.twin, pair.replicate), pair.twin_score) != pair.twin_score:
                raise InputError(f"twin {pair.twin!r} has two scores in replicate {pair.replicate}")
    samples = {pair.samples for pair in pairs} or {1}
    if len(samples) != 1:
        raise InputError(f"pairs must combine the same number of samples, got {sorted(samples)}")
    ids = [*first, *clean]
    scores, twin_scores = (np.full((len(ids), len(replicates)), np.nan) for _ in range(2))
    row_of = {name: row for row, name in enumerate(ids)}
    for filled, source in ((scores, cells), (twin_scores, twin_cells)):
        for (name, replicate), score in source.items():
            filled[row_of[name], column_of[replicate]] = score
    flawed, twins = list(first.values()), list(clean.values())

    def column(of_flawed: Callable[[ScoredPair], str | None], of_twin: Callable[[ScoredPair], str | None]) -> Attribute:
        return Attribute.of([*map(of_flawed, flawed), *map(of_twin, twins)])

    return ScoredExamples(
        ids=tuple(ids),
        groups=column(lambda pair: pair.group, lambda pair: pair.group),
        attributes={
            "label": column(lambda pair: pair.label, lambda _: "clean"),
            "kind": column(lambda pair: pair.kind, lambda _: "clean"),
            "trace": column(lambda pair: pair.trace, lambda _: None),
            "severity": column(lambda pair: pair.severity, lambda _: None),
            "stratum": column(lambda pair: pair.stratum, lambda pair: pair.stratum),
            "cohort": column(lambda pair: pair.cohort, lambda _: None),
        },
        scores=scores,
        twin_scores=twin_scores,
        paired=np.arange(len(ids)) < len(flawed),
        replicates=replicates,
        samples=samples.pop(),
    )
