"""Preference accuracy: ties, chance, twins and rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimize.steps import ScoredSteps, preference_accuracy, preferences, scored_steps
from optimize.steps.preference import CHANCE, total_rate, ways
from splits.corpus import Corpus
from tests.optimize.steps.conftest import blind, documents, judgements_of, perfect, settings_of

MakeScored = Callable[..., ScoredSteps]


def rated(rates: dict[str, float]) -> Corpus:
    """One group whose notes people rated."""
    corpus = documents(1)
    kept = []
    for example in corpus.examples:
        rate = rates.get(example.id.partition(".")[2])
        meta = {} if rate is None else {"rates": {"HallucinationRate": rate, "OmissionRate": 0.0}}
        kept.append(replace(example, meta=meta))
    return Corpus(tuple(kept), {})


def test_twins_and_rates_say_which_note_is_better(scored: MakeScored) -> None:
    assert ways(scored(perfect)) == ("twin",)
    corpus = rated({"clean": 0.0, "changed": 0.5, "added": 0.5, "lost": 0.2})
    found = scored(perfect, corpus=corpus)
    assert ways(found) == ("twin", "rates")
    pairs = {(pair.better.id[4:], pair.worse.id[4:]) for pair in preferences(found, by="rates") if pair is not None}
    assert pairs == {
        ("clean", "changed"),
        ("clean", "added"),
        ("clean", "lost"),
        ("lost", "changed"),
        ("lost", "added"),
    }


def test_one_who_knows_is_always_right_and_one_who_never_decides_is_at_chance(scored: MakeScored) -> None:
    right = preference_accuracy(scored(perfect), aggregation="sum", by="twin")
    assert (right.estimate.value, right.ties, right.estimate.n, right.strictly) == (1.0, 0, 12, 12)
    assert 0.7 < right.strict.low < right.strict.high == 1.0, "certainty is not had from twelve pairs"
    level = preference_accuracy(scored(blind), aggregation="minimum", by="twin")
    assert (level.estimate.value, level.ties) == (CHANCE, 12)


def test_pairs_without_a_score_are_left_out_and_counted(scored: MakeScored) -> None:
    found = preference_accuracy(scored(perfect, failed=["g00.clean", "g01.lost"]), aggregation="sum", by="twin")
    assert (found.estimate.n, found.left_out) == (8, 4)


@given(st.lists(st.sampled_from([0.4, 0.6, 0.8]), min_size=4, max_size=4))
def test_turning_every_preference_round_turns_the_accuracy_round(levels: list[float]) -> None:
    corpus = rated(dict(zip(("clean", "changed", "added", "lost"), (0.0, 0.1, 0.2, 0.3), strict=True)))
    turned = rated(dict(zip(("clean", "changed", "added", "lost"), (0.3, 0.2, 0.1, 0.0), strict=True)))
    by_id = dict(zip(sorted(corpus.by_id), levels, strict=True))
    values = []
    for each in (corpus, turned):
        judged = judgements_of(each, lambda note: [by_id[note.example.id]] * len(note.labels))
        scored = scored_steps("x", each, judged, settings_of())
        values.append(preference_accuracy(scored, aggregation="mean", by="rates").estimate.value)
    assert sum(values) == pytest.approx(1.0)


def test_random_scores_come_to_chance_on_average() -> None:
    rng = np.random.default_rng(2)
    corpus = documents(300)
    judged = judgements_of(corpus, lambda note: [float(rng.choice([0.3, 0.6]))] * len(note.labels))
    found = preference_accuracy(scored_steps("x", corpus, judged, settings_of()), aggregation="mean", by="twin")
    assert found.ties > 100
    assert found.estimate.interval.contains(CHANCE)
    assert found.above_chance.p > 0.01


def test_a_note_that_nobody_rated_has_no_rate() -> None:
    assert total_rate({}) is None
    assert total_rate({"rates": {}}) is None
    assert total_rate({"rates": {"a": 0.25, "b": 0.5}}) == 0.75


def test_rates_with_one_sum_are_level_in_whichever_order_they_were_added() -> None:
    assert total_rate({"rates": {"a": 0.1, "b": 0.2, "c": 0.3}}) == total_rate(
        {"rates": {"a": 0.3, "b": 0.2, "c": 0.1}}
    )
    assert total_rate({"rates": {"a": 0.1, "b": 0.2}}) == total_rate({"rates": {"a": 0.3, "b": 0.0}})
