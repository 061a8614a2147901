"""What replicates may and may not do to a measure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lineage.errors import InputError
from optimize.objectives import (
    Measure,
    ScoredExamples,
    ScoredPair,
    Threshold,
    auc,
    compare,
    detection,
    discrimination_measure,
    measure_difference,
    sweep,
    worst_case,
)

PAIRS, PER_GROUP = 3000, 3


def judge(replicates: int, *, seed: int = 3) -> ScoredExamples:
    """One judge on a scale of three scores; only documents near the middle between two scores move at all."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(8.0, 0.7, size=PAIRS)
    clean, flawed = (
        np.clip(np.rint((quality - gap)[:, None] + rng.normal(0.0, 0.08, size=(PAIRS, replicates))), 7, 9)
        for gap in (0.0, 0.29)
    )
    return arm(flawed, clean)


def arm(flawed: np.ndarray, clean: np.ndarray, *, samples: int = 1) -> ScoredExamples:
    n = len(flawed)
    return ScoredExamples.of_columns(
        ids=[*(f"o{i}" for i in range(n)), *(f"c{i}" for i in range(n))],
        groups=[f"g{i // PER_GROUP}" for i in range(n)] * 2,
        labels=["omission"] * n + ["clean"] * n,
        scores=np.concatenate([flawed, clean]),
        twins=[*(f"c{i}" for i in range(n)), *[None] * n],
        samples=samples,
    )


def pairs(replicates: int, *, samples: int = 1) -> list[ScoredPair]:
    return [
        ScoredPair(f"e{i}", f"g{i}", 0.2, 0.8, "omission", "omit", replicate=replicate, samples=samples)
        for i in range(4)
        for replicate in range(replicates)
    ]


def test_averaged_scores_break_ties_and_read_the_same_judge_higher() -> None:
    once, thrice = judge(1), judge(3)
    averaged = arm(*(thrice.scores[rows].mean(axis=1, keepdims=True) for rows in (thrice.flawed, thrice.clean)))
    within = [discrimination_measure(each) for each in (once, thrice)]
    assert within[0].value == pytest.approx(0.62, abs=0.01)
    assert within[1].value == pytest.approx(within[0].value, abs=0.01)
    broken = discrimination_measure(averaged)
    assert broken.value == pytest.approx(0.68, abs=0.01)
    assert broken.value - within[1].value > 0.04
    ties = [dict(measure.counted)["ties"] for measure in (within[0], broken)]
    assert ties[1] < 0.9 * ties[0]


def test_auc_is_computed_within_each_replicate_too() -> None:
    thrice = judge(3)
    each = (
        [auc(arm(thrice.scores[thrice.flawed, [r]], thrice.scores[thrice.clean, [r]])) for r in range(3)]
        if False
        else [
            auc(arm(thrice.scores[thrice.flawed][:, [r]], thrice.scores[thrice.clean][:, [r]])).value for r in range(3)
        ]
    )
    assert auc(thrice).value == pytest.approx(np.mean(each))


@pytest.mark.parametrize("measure", [discrimination_measure, auc])
def test_three_replicates_against_one_are_refused(measure: Callable[[ScoredExamples], Measure]) -> None:
    with pytest.raises(InputError, match=r"same replicates, got \[0, 1, 2\] for the candidate and \[0\] for"):
        measure_difference(judge(3), judge(1), measure)
    with pytest.raises(InputError, match=r"same replicates, got \[0, 1, 2\] for the candidate and \[0\]"):
        compare(pairs(3), pairs(1), rng=np.random.default_rng(0))


def test_unequal_samples_are_refused_unless_that_inequality_is_what_is_compared() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=r"same number of samples, got \[8\] for the candidate and \[1\]"):
        compare(pairs(1, samples=8), pairs(1), rng=rng)
    with pytest.raises(InputError, match="same number of samples"):
        worst_case(pairs(1, samples=8), pairs(1), planned={f"e{i}": f"g{i}" for i in range(4)}, rng=rng)
    assert compare(pairs(1, samples=8), pairs(1), samples_may_differ=True, rng=rng).n == 4
    one, eight = (arm(np.full((6, 1), 0.1), np.full((6, 1), 0.5), samples=samples) for samples in (1, 8))
    with pytest.raises(InputError, match="same number of samples, got 8 for the candidate and 1 for the baseline"):
        measure_difference(eight, one, discrimination_measure)


@pytest.mark.parametrize("replicates", [2, 4])
def test_flags_of_an_even_number_of_replicates_are_refused_with_the_remedy(replicates: int) -> None:
    even = judge(replicates)
    remedy = rf"must be odd for flags by strict majority, got {replicates}: .* run {replicates + 1}, or read the first"
    with pytest.raises(InputError, match=remedy):
        detection(even, threshold=Threshold(8.0))
    with pytest.raises(InputError, match=remedy):
        sweep(even)


def test_a_document_whose_missing_replicate_cannot_matter_keeps_its_majority_flag() -> None:
    nan = np.nan
    scored = arm(np.array([[0.1, 0.2, nan], [0.1, 0.9, nan], [0.9, 0.9, 0.1]]), np.full((3, 3), 0.9))
    fixed = detection(scored, threshold=Threshold(0.5))
    assert (fixed.counted, fixed.n, fixed.n_failed) == ((("flagged", 1),), 2, 1)
    # A sweep cannot place a document that lacks a replicate.
    swept = detection(scored, threshold=Threshold(0.5, cap=0.1))
    assert (swept.n, swept.n_failed) == (1, 2)
