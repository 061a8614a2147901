"""Simulated arms as the records that a real campaign holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lineage import Judgement
from lineage.records import Candidate
from optimize.evaluation import Evaluation
from optimize.simulation.notes import SimulatedNotes, SimulatedScores
from optimize.simulation.shape import MOST_OMISSIONS
from splits import Example

MakeEvaluation = Callable[[SimulatedNotes, SimulatedScores, int, int], Evaluation]


@pytest.fixture
def candidate_of() -> Callable[[int], Candidate]:
    """Candidates whose prompts grow as the search goes on."""
    return prompted


def prompted(arm: int) -> Candidate:
    return Candidate({"instruction": "x" * (10 + arm)}, "mutation" if arm else "seed", iteration=arm)


@pytest.fixture
def evaluation() -> MakeEvaluation:
    """One arm of one campaign: the evaluation that judged the same notes with the same scores."""

    def make(notes: SimulatedNotes, scores: SimulatedScores, campaign: int, arm: int) -> Evaluation:
        examples: list[Example] = []
        judgements: list[Judgement] = []
        candidate = prompted(arm).id
        clean, flawed = scores.clean[campaign, arm], scores.flawed[campaign, arm]
        for group in range(clean.shape[1]):
            name = f"g{group:03d}"
            rows: list[tuple[str, str, str | None, Any]] = [(f"{name}.clean", "clean", None, clean[:, group])]
            for slot in np.flatnonzero(notes.present[campaign, group]):
                label = "omission" if slot < MOST_OMISSIONS else "commission"
                rows.append((f"{name}.{slot}", label, f"{name}.clean", flawed[:, group, slot]))
            for id_, label, twin, values in rows:
                examples.append(Example(id_, name, "s", "", "", label, "omit", twin=twin))
                judgements += [
                    Judgement(id_, candidate, "s", "scored", float(value), replicate=replicate)
                    for replicate, value in enumerate(values)
                ]
        return Evaluation(candidate, tuple(examples), tuple(judgements))

    return make
