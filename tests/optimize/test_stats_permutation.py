"""The sign-flip test against scipy's permutation test, counting by hand, and itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lineage.errors import InputError
from optimize.stats import permutation
from optimize.stats.permutation import sign_flip_test
from optimize.stats.results import NO_PAIRS, Alternative

quarters = st.integers(-8, 8).map(lambda k: k / 4)
alternatives = st.sampled_from(["greater", "less", "two-sided"])


def rng() -> np.random.Generator:
    return np.random.default_rng(20_261_101)


@settings(max_examples=40, deadline=None)
@given(sums=st.lists(quarters, min_size=2, max_size=9), alternative=alternatives)
def test_the_exact_p_equals_scipys_paired_permutation_test(sums: list[float], alternative: Alternative) -> None:
    result = sign_flip_test(sums, list(range(len(sums))), alternative=alternative, rng=rng())
    theirs = stats.permutation_test(
        (np.array(sums), np.zeros(len(sums))),
        lambda x, y: float(np.sum(x - y)),
        permutation_type="samples",
        alternative=alternative,
        n_resamples=np.inf,
    ).pvalue
    assert result.p == pytest.approx(theirs)
    assert result.method.startswith("exact")


@settings(max_examples=15, deadline=None)
@given(sums=st.lists(quarters.filter(bool), min_size=4, max_size=10), alternative=alternatives)
def test_monte_carlo_agrees_with_the_full_enumeration(sums: list[float], alternative: Alternative) -> None:
    groups = list(range(len(sums)))
    exact = sign_flip_test(sums, groups, alternative=alternative, rng=rng())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(permutation, "EXACT_GROUPS", 0)
        sampled = sign_flip_test(sums, groups, alternative=alternative, resamples=20_000, rng=rng())
    assert sampled.method.startswith("Monte-Carlo")
    assert sampled.p == pytest.approx(exact.p, abs=0.02)


@pytest.mark.parametrize(("k", "method"), [(16, "exact"), (17, "Monte-Carlo")])
def test_enumeration_ends_at_sixteen_groups_that_differ(k: int, method: str) -> None:
    values = [1.0] * k + [0.0] * 30
    result = sign_flip_test(values, list(range(k + 30)), rng=rng())
    assert result.method.startswith(method)
    assert result.n_groups == k + 30
    assert result.statistic == k


def test_a_monte_carlo_p_is_never_zero() -> None:
    result = sign_flip_test([1.0] * 60, list(range(60)), resamples=999, rng=rng())
    assert result.p == 1 / 1000


def test_all_groups_in_favour_give_two_to_the_minus_k() -> None:
    assert sign_flip_test([0.5] * 5, list("abcde"), rng=rng()).p == 2**-5


def test_pairs_of_one_group_flip_together() -> None:
    assert sign_flip_test([0.5] * 5, list("aaabb"), rng=rng()).p == 2**-2
    assert sign_flip_test([0.5] * 5, list("aaaaa"), rng=rng()).p == 0.5


def test_float_noise_does_not_break_ties() -> None:
    # 0.1 + 0.2 and 0.3 differ in the last bit; flipping a and b against c gives sums that should be level with 0.
    noisy = sign_flip_test([0.1, 0.2, -0.3, 0.1, 0.2, -0.3], list("abcdef"), rng=rng())
    whole = sign_flip_test([1, 2, -3, 1, 2, -3], list("abcdef"), rng=rng())
    assert noisy.p == whole.p


def test_a_group_that_cancels_within_rounding_does_not_differ() -> None:
    assert sign_flip_test([0.1, 0.2, -0.3], ["a", "a", "a"], rng=rng()).p == 1.0


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_all_ties_speak_for_neither_arm(alternative: Alternative) -> None:
    assert sign_flip_test([0.0] * 4, list("abcd"), alternative=alternative, rng=rng()).p == 1.0


def test_zero_pairs_are_undefined_with_a_reason() -> None:
    assert sign_flip_test([], [], rng=rng()).reason == NO_PAIRS


def test_the_p_of_exchangeable_arms_is_below_alpha_at_most_alpha_of_the_time() -> None:
    source = rng()
    rejected = sum(
        sign_flip_test(source.choice([-0.5, 0.0, 0.5], size=24), np.repeat(np.arange(8), 3), rng=source).p <= 0.05
        for _ in range(1000)
    )
    assert rejected <= 50 + 3 * np.sqrt(1000 * 0.05 * 0.95)


def test_the_same_seed_gives_the_same_p_whatever_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    values, groups = rng().choice([-0.5, 0.5], size=40), list(range(40))
    whole = sign_flip_test(values, groups, rng=rng())
    assert sign_flip_test(values, groups, rng=rng()) == whole
    monkeypatch.setattr(permutation, "_CHUNK_ELEMENTS", 1600)
    assert sign_flip_test(values, groups, rng=rng()) == whole


def test_an_unknown_alternative_is_refused() -> None:
    with pytest.raises(InputError, match="alternative must be 'greater', 'less' or 'two-sided', got 'larger'"):
        sign_flip_test([1.0], ["a"], alternative="larger", rng=rng())  # type: ignore[arg-type]  # is tested
