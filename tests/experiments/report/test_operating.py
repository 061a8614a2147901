"""Operating points."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from experiments.report.operating import deciding_scores, operating
from optimize.objectives import ScoredExamples

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=4)


def scored(clean: list[list[float]], flawed: list[list[float]]) -> ScoredExamples:
    labels = ["clean"] * len(clean) + ["omission"] * len(flawed)
    ids = [f"e{place}" for place in range(len(labels))]
    return ScoredExamples.of_columns(ids=ids, groups=ids, labels=labels, scores=np.array(clean + flawed))


@given(scores=SCORES, threshold=st.sampled_from([0.1, 0.3, 0.6, 1.0, 2.0]))
def test_a_document_is_flagged_by_a_strict_majority_of_any_number_of_replicates(
    scores: list[float], threshold: float
) -> None:
    flawed, _ = deciding_scores(scored([scores], [scores]))
    by_vote = 2 * sum(score < threshold for score in scores) > len(scores)
    assert (flawed[0] < threshold) == by_vote


def test_a_document_without_a_score_in_one_replicate_is_left_out() -> None:
    flawed, clean = deciding_scores(scored([[0.5, 0.5], [0.5, np.nan]], [[0.25, np.nan]]))
    assert (len(flawed), len(clean)) == (0, 1)


def test_the_curve_goes_from_no_flag_to_all_flags_and_the_point_lies_on_it() -> None:
    found = operating("mine", scored([[0.75], [1.0]], [[0.25], [0.5], [1.0]]), threshold=0.75)
    assert found.curve[0] == (0.0, 0.0)
    assert found.curve[-1] == (1.0, 1.0)
    assert found.point == (0.0, 2 / 3)
    assert found.point in found.curve


def test_a_judge_without_clean_documents_has_neither_curve_nor_point() -> None:
    found = operating("mine", scored([], [[0.25]]), threshold=0.5)
    assert found.curve == ()
    assert found.point is None
