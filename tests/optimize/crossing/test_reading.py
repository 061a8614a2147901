from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.records import Judgement
from optimize.crossing.reading import Family, read_experiment, read_target
from optimize.crossing.targets import SEED, Cell, targets
from optimize.evaluation import Evaluation
from optimize.stats import grouped_mean
from splits.corpus import Example

INTERACTION, NONE, LOW = targets(["none", "low"], ["interaction", "own"])
FAMILY = Family(3, 0.05 / 3, 0.98)
WINNERS = {SEED: "s", "none": "a", "low": "b"}
CELLS = [Cell(prompt, setting) for prompt in WINNERS for setting in ("none", "low")]


def evaluation(candidate: str, scores: Sequence[float | None], replicates: int = 1) -> Evaluation:
    """One flawed example a group, whose twin has 0.5; a score of None failed."""
    examples, judgements = list[Example](), list[Judgement]()
    for number in range(len(scores) // replicates):
        group = f"g{number:02d}"
        for name, label in ((f"{group}.clean", "clean"), (f"{group}.flaw", "omission")):
            kind = "clean" if label == "clean" else "omit"
            twin = f"{group}.clean" if label == "omission" else None
            examples.append(Example(name, group, "", "", "", label, kind, twin=twin))  # type: ignore[arg-type]
            for replicate in range(replicates):
                score = 0.5 if label == "clean" else scores[number * replicates + replicate]
                judgements.append(
                    Judgement(
                        name,
                        candidate,
                        "student",
                        "scored" if score is not None else "failed",
                        score,
                        replicate=replicate,
                        reason=None if score is not None else "truncated: cut off",
                    )
                )
    return Evaluation(candidate, tuple(examples), tuple(judgements))


def cells(
    scores: Mapping[Cell, Sequence[float | None]], *, groups: int = 6, replicates: int = 1
) -> dict[Cell, Evaluation]:
    """Cells with these scores; the others are wrong everywhere."""
    return {
        cell: evaluation(WINNERS[cell.prompt], scores.get(cell, [0.9] * groups * replicates), replicates)
        for cell in CELLS
    }


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_an_interaction_is_the_difference_of_differences() -> None:
    found = read_target(
        INTERACTION,
        cells({Cell("low", "low"): [0.1] * 6, Cell("none", "none"): [0.1, 0.1, 0.1, 0.9, 0.9, 0.9]}),
        FAMILY,
        rng=rng(),
    )
    assert found.comparison.difference.value == pytest.approx(1.5)
    assert found.p == pytest.approx(1 / 2**6)
    assert found.comparison.difference.interval.level == pytest.approx(1 - 0.05 / 3)


@given(st.lists(st.lists(st.sampled_from([0.1, 0.5, 0.9]), min_size=6, max_size=6), min_size=4, max_size=4))
def test_the_interaction_of_any_scores_is_that_of_the_four_cell_means(drawn: list[list[float]]) -> None:
    wanted = dict(zip((*INTERACTION.plus, *INTERACTION.minus), drawn, strict=True))
    found = read_target(INTERACTION, cells(wanted), FAMILY, rng=rng())
    credit = {0.1: 1.0, 0.5: 0.5, 0.9: 0.0}
    a, b, c, d = (np.array([credit[value] for value in column]) for column in drawn)
    by_hand = grouped_mean(a + b - c - d, [f"g{n}" for n in range(6)], level=FAMILY.level)
    assert found.comparison.difference.value == pytest.approx(by_hand.value)
    assert found.comparison.difference.interval.reason == by_hand.interval.reason
    if by_hand.interval.defined:
        assert found.comparison.difference.interval.low == pytest.approx(by_hand.interval.low)


def test_replicates_are_compared_within_each_and_averaged() -> None:
    found = read_target(LOW, cells({Cell("low", "low"): [0.1, 0.9] * 4}, groups=4, replicates=2), FAMILY, rng=rng())
    assert found.comparison.difference.value == pytest.approx(0.5)
    assert found.comparison.n == 4


def test_a_failed_judgement_in_any_cell_leaves_the_pair_out_and_is_counted_against_the_claim() -> None:
    scores: dict[Cell, Sequence[float | None]] = {
        Cell("low", "low"): [0.1, 0.1, 0.1, 0.9, 0.1, 0.1],
        Cell("none", "none"): [0.1] * 5 + [None],
    }
    found = read_target(INTERACTION, cells(scores), FAMILY, rng=rng())
    assert found.comparison.n == 5
    assert found.share == pytest.approx(5 / 6)
    assert found.worst is not None
    assert found.worst.difference.value == pytest.approx((4 * 2 + 1 + 1) / 6)
    assert found.lowest <= found.worst.difference.interval.low
    row = next(row for row in read_experiment([INTERACTION], cells(scores), WINNERS, FAMILY, seed="x"))
    assert row["decision"] == "undecided"
    assert row["comparison"]["failed"] == 1
    assert found.worst.worst_case


def test_a_bound_of_the_minus_side_counts_a_failure_as_right() -> None:
    failed = cells({Cell("low", "low"): [0.1] * 6, Cell(SEED, "low"): [None] + [0.9] * 5})
    found = read_target(LOW, failed, FAMILY, rng=rng())
    assert found.worst is not None
    assert found.worst.difference.value == pytest.approx(5 / 6)


def test_holm_counts_every_registered_comparison_and_a_void_one_as_one() -> None:
    scores = {Cell("low", "low"): [0.1] * 12, Cell("none", "none"): [0.9] * 12}
    judged = cells(scores, groups=12)
    rows = read_experiment([INTERACTION, NONE, LOW], judged, {**WINNERS, "none": "s"}, FAMILY, seed="x")
    assert [row["decision"] for row in rows] == ["shown", "void", "shown"]
    p = 1 / 2**12
    assert rows[0]["adjusted_p"] == pytest.approx(3 * p)
    assert rows[2]["adjusted_p"] == pytest.approx(3 * p)
    assert rows[1]["comparison"] is None


def test_what_does_not_reach_the_family_error_is_not_shown() -> None:
    judged = cells({Cell("low", "low"): [0.1] * 4 + [0.9] * 2, Cell(SEED, "low"): [0.9] * 6})
    row = read_experiment([LOW], judged, WINNERS, replace(FAMILY, size=1, alpha=0.05), seed="x")[0]
    assert row["comparison"]["sign_flip_p"] == pytest.approx(1 / 16)
    assert row["decision"] == "not-shown"


def test_nothing_scored_is_undecided_and_no_number() -> None:
    row = read_experiment([LOW], cells({Cell("low", "low"): [None] * 6}), WINNERS, FAMILY, seed="x")[0]
    assert row["decision"] == "undecided"
    assert row["comparison"]["difference"] is None
    assert row["adjusted_p"] == 1.0


def test_the_family_of_all_comparisons_of_a_lock_has_its_whole_alpha() -> None:
    assert Family(3, 0.05 / 3, 1.0).shared == pytest.approx(0.05)
    assert Family(3, 0.05 / 3, 1.0).level == pytest.approx(1 - 0.05 / 3)
    assert not math.isnan(Family(1, 0.05, 1.0).level)
