"""Verification accuracy: the tie rule, chance, and sets that lack a score."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimize.steps import ScoredSteps, scored_steps, twin_sets, verification_accuracy
from students.steps import AGGREGATIONS
from tests.optimize.steps.conftest import blind, documents, judgements_of, perfect, settings_of

MakeScored = Callable[..., ScoredSteps]


def test_one_who_knows_every_label_finds_every_clean_note(scored: MakeScored) -> None:
    for aggregation in AGGREGATIONS:
        found = verification_accuracy(scored(perfect), aggregation=aggregation)
        assert found.estimate.value == 1.0
        assert (found.strictly, found.ties, found.left_out, found.worst) == (4, 0, 0, 1.0)
        assert found.chance == 0.25
        assert found.strict.low < 1.0, "certainty is not had from four sets"
        assert set(found.by_error) == {"factual-inaccuracy", "hallucination", "incompleteness"}
        assert {part.chance for part in found.by_error.values()} == {0.5}


def test_one_who_says_the_same_of_every_step_is_at_chance(scored: MakeScored) -> None:
    found = verification_accuracy(scored(blind), aggregation="mean")
    assert found.estimate.value == pytest.approx(found.chance) == 0.25
    assert (found.strictly, found.ties) == (0, 4)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_a_tie_counts_what_drawing_among_the_level_notes_would(levels: list[int]) -> None:
    names = ("clean", "changed", "added", "lost")
    corpus = documents(1)
    by_name = dict(zip(names, levels, strict=True))
    judged = judgements_of(
        corpus, lambda note: [0.5 + 0.1 * by_name[note.example.id.partition(".")[2]]] * len(note.labels)
    )
    (found,) = twin_sets(scored_steps("x", corpus, judged, settings_of()))
    assert found is not None
    mine, top = by_name["clean"], max(levels)
    assert found.credit("mean") == (1 / levels.count(top) if mine == top else 0.0)


def test_random_scores_come_to_chance_on_average() -> None:
    rng = np.random.default_rng(4)
    corpus = documents(400)
    judged = judgements_of(corpus, lambda note: [float(rng.choice([0.3, 0.6, 0.8]))] * len(note.labels))
    found = verification_accuracy(scored_steps("x", corpus, judged, settings_of()), aggregation="minimum")
    assert found.ties > 50
    assert found.estimate.interval.contains(found.chance)


def test_a_set_that_lacks_a_score_is_left_out_counted_and_wrong_at_worst(scored: MakeScored) -> None:
    found = verification_accuracy(scored(perfect, failed=["g00.lost", "g01.clean"]), aggregation="sum")
    assert (found.estimate.value, found.left_out, found.worst) == (1.0, 2, 0.5)
    assert found.by_error["hallucination"].left_out == 1


def test_without_a_set_there_is_no_accuracy(scored: MakeScored) -> None:
    found = verification_accuracy(scored(perfect).part("none", lambda _: False), aggregation="sum")
    assert np.isnan(found.estimate.value)
    assert found.estimate.reason
