"""Dependence on size: rank correlations with intervals by group, and accuracy by thirds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from optimize.steps import ScoredSteps, rank_correlation, scored_steps, size_dependence
from splits.corpus import Corpus
from tests.optimize.steps.conftest import blind, documents, judgements_of, perfect, settings_of

MakeScored = Callable[..., ScoredSteps]


def growing(groups: int) -> Corpus:
    """Groups whose notes become longer by a sentence each."""
    corpus = documents(groups)
    made = []
    for example in corpus.examples:
        more = " Slept well." * int(example.group[1:])
        made.append(replace(example, document=example.document.replace("No fever.", f"No fever.{more}")))
    return Corpus(tuple(made), {})


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=30))
def test_the_correlation_is_spearman_s(pairs: list[tuple[int, int]]) -> None:
    x, y = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    found = rank_correlation(x, y, [f"g{place % 5}" for place in range(len(x))])
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert math.isnan(found.value)
        assert found.reason == "size or score is the same for every note"
    else:
        assert found.value == pytest.approx(stats.spearmanr(x, y).statistic)


def test_the_interval_covers_no_correlation_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    groups = [f"g{place // 2:02d}" for place in range(80)]
    inside = 0
    for _ in range(200):
        found = rank_correlation(rng.normal(size=80).tolist(), rng.normal(size=80).tolist(), groups)
        inside += found.interval.contains(0.0)
    assert 0.88 <= inside / 200 <= 0.99


def test_a_sum_falls_with_length_and_a_mean_does_not() -> None:
    corpus = growing(6)
    made = scored_steps("x", corpus, judgements_of(corpus, blind), settings_of())
    falls = size_dependence(made, aggregation="sum", size="steps")
    assert falls.clean.value == pytest.approx(-1.0)
    level = size_dependence(made, aggregation="mean", size="words")
    assert math.isnan(level.clean.value)
    assert level.clean.interval.reason


def test_accuracy_is_read_in_thirds_from_the_smallest_on(scored: MakeScored) -> None:
    corpus = growing(6)
    made = scored_steps("x", corpus, judgements_of(corpus, perfect), settings_of())
    found = size_dependence(made, aggregation="minimum", size="words")
    assert [part.n for part in found.accuracy] == [6, 6, 6]
    assert list(found.edges) == sorted(found.edges)
    assert [part.value for part in found.accuracy] == [1.0, 1.0, 1.0]
    empty = size_dependence(scored(perfect).part("none", lambda _: False), aggregation="sum", size="words")
    assert empty.accuracy == ()


def test_notes_of_one_size_are_never_parted(scored: MakeScored) -> None:
    found = size_dependence(scored(perfect), aggregation="sum", size="words")
    assert [part.n for part in found.accuracy] == [12], "all clean notes are of one size"


@pytest.mark.parametrize(
    ("x", "groups", "reason"), [([], [], "there is no observation"), ([1.0, 2.0, 3.0], ["g"] * 3, "of one group")]
)
def test_what_cannot_be_told_says_why(x: list[float], groups: list[str], reason: str) -> None:
    found = rank_correlation(x, x, groups)
    assert reason in (found.reason or found.interval.reason)
