"""The paired comparison of two arms as one result."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lineage.errors import InputError
from optimize.stats.bootstrap import bootstrap_interval
from optimize.stats.comparison import compare_replicated, compare_values
from optimize.stats.grouped import linearised_interval, one_sided_p
from optimize.stats.results import NO_PAIRS, NO_VARIATION

CANDIDATE, BASELINE, GROUPS = [1.0, 1.0, 0.5, 0.0], [0.5, 0.0, 0.5, 1.0], ["a", "a", "b", "c"]


def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def test_a_comparison_holds_what_its_parts_compute_alone() -> None:
    result = compare_values(CANDIDATE, BASELINE, GROUPS, level=0.9, bootstrap_resamples=500, rng=rng())
    values = np.array(CANDIDATE) - np.array(BASELINE)
    assert (result.wins, result.ties, result.losses, result.n, result.n_groups) == (2, 1, 1, 4, 3)
    assert (result.difference.value, result.candidate, result.baseline) == (0.125, 0.625, 0.5)
    assert result.difference.interval == linearised_interval(values, GROUPS, level=0.9)
    assert result.t_test == one_sided_p(values, GROUPS)
    # Two groups differ, +1.5 and -1: of the four patterns only +2.5 and the observed +0.5 are as large.
    assert result.sign_flip.p == 0.5
    assert result.bootstrap == bootstrap_interval(values, GROUPS, level=0.9, resamples=500, rng=rng())
    assert result.bca == bootstrap_interval(values, GROUPS, level=0.9, resamples=500, rng=rng(), method="bca")


def test_a_comparison_prints_itself_in_words() -> None:
    words = str(compare_values(CANDIDATE, BASELINE, GROUPS, rng=rng()))
    assert words.startswith("difference +0.1250 (candidate 0.6250, baseline 0.5000), interval ")
    assert "2 wins, 1 ties, 1 losses over 4 pairs in 3 groups" in words
    assert words.endswith("0 failed, left out")


def test_all_ties_have_a_difference_of_zero_without_an_interval() -> None:
    result = compare_values(BASELINE, BASELINE, GROUPS, bootstrap_resamples=100, rng=rng())
    assert result.difference.value == 0.0
    assert result.difference.interval.reason == NO_VARIATION
    assert result.sign_flip.p == 1.0
    assert result.t_test.reason == NO_VARIATION
    assert result.bootstrap is not None
    assert result.bootstrap.reason == NO_VARIATION


def test_no_pair_is_undefined_and_says_so() -> None:
    result = compare_values([], [], [], rng=rng())
    assert math.isnan(result.difference.value)
    assert str(result).startswith(f"difference undefined: {NO_PAIRS}")


def test_arms_of_different_pairs_are_refused() -> None:
    with pytest.raises(InputError, match="same pairs, got shapes"):
        compare_values([1.0], [1.0, 0.0], ["a", "b"], rng=rng())
    with pytest.raises(InputError, match="2 are in one only"):
        compare_replicated({("x", 0): 1.0}, {("x", 1): 1.0}, {"x": "a"}, rng=rng())


def test_a_pair_counts_once_however_many_replicates_it_has() -> None:
    ours = {("x", 0): 1.0, ("x", 1): 0.5, ("x", 2): 0.0, ("y", 0): 1.0}
    theirs = {("x", 0): 0.0, ("x", 1): 1.0, ("x", 2): 0.5, ("y", 0): 0.0}
    result = compare_replicated(ours, theirs, {"x": "a", "y": "b"}, rng=rng())
    assert (result.n, result.wins, result.ties, result.losses) == (2, 1, 1, 0)
    assert result.difference.value == 0.5


def test_the_order_of_pairs_does_not_matter() -> None:
    source = rng()
    units = [(f"e{i}", r) for i in range(200) for r in range(2)]
    ours, theirs = ({unit: float(source.random()) for unit in units} for _ in range(2))
    group_of = {f"e{i}": f"g{i % 18}" for i in range(200)}
    forward = compare_replicated(ours, theirs, group_of, rng=rng())
    backward = compare_replicated(dict(reversed(ours.items())), theirs, group_of, rng=rng())
    assert forward == backward
    assert forward.sign_flip.method.startswith("Monte-Carlo")
