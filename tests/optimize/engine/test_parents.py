from __future__ import annotations

import random
from collections import Counter

import pytest
from gepa.core.state import GEPAState, ValsetEvaluation
from gepa.gepa_utils import remove_dominated_programs
from gepa.strategies.candidate_selector import ParetoCandidateSelector
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.canonical import digest
from optimize.engine import Front, FrontierSampling, Parents
from optimize.search_plan import MergePlan

scores = st.integers(1, 7).flatmap(
    lambda candidates: st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=5, max_size=5),
        min_size=candidates,
        max_size=candidates,
    )
)


def state_of(rows: list[list[float]]) -> GEPAState[None, int]:
    """gepa's own state after these candidates, each with its scores on the accept examples."""
    evaluations = [ValsetEvaluation({}, dict(enumerate(row))) for row in rows]
    state = GEPAState({"instruction": "0"}, evaluations[0])
    state.total_num_evals = 0
    for number, evaluation in enumerate(evaluations[1:], start=1):
        state.update_state_with_new_program([0], {"instruction": f"{number}"}, evaluation, None, 0)
    return state


def front_of(rows: list[list[float]]) -> Front:
    state = state_of(rows)
    return Front(state.get_pareto_front_mapping(), state.per_program_tracked_scores)


def drawn(front: Front, *, merge: MergePlan | None = None, draws: int = 1500) -> Counter[Parents]:
    return Counter(FrontierSampling(seed, merge).draw(front, iteration=1, call=0) for seed in range(draws))


@settings(max_examples=40, deadline=None)
@given(rows=scores)
def test_what_is_superfluous_goes_as_gepa_has_it_go(rows: list[list[float]]) -> None:
    front = front_of(rows)
    assert dict(front.undominated().leaders) == remove_dominated_programs(front.leaders, front.means)


@settings(max_examples=40, deadline=None)
@given(rows=scores, seed=st.integers(0, 9), iteration=st.integers(1, 9))
def test_the_parent_is_the_one_that_gepa_s_own_selector_draws(
    rows: list[list[float]], seed: int, iteration: int
) -> None:
    rng = random.Random(int(digest([seed, iteration, 0, "parent"])[:16], 16))
    expected = ParetoCandidateSelector(rng).select_candidate_idx(state_of(rows))
    assert FrontierSampling(seed).draw(front_of(rows), iteration=iteration, call=0) == Parents(expected)


def test_parents_are_drawn_in_proportion_to_the_examples_that_they_lead_once_superfluous_ones_are_gone() -> None:
    rows = [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0],  # leads, but never where candidate 2 does not lead too
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],  # the best on average but for candidate 2, and leads nothing
    ]
    front = front_of(rows)
    assert front.undominated().leads() == {0: 1, 1: 2, 2: 5}
    shares = drawn(front)
    assert set(shares) == {Parents(0), Parents(1), Parents(2)}
    for place, leads in ((0, 1), (1, 2), (2, 5)):
        assert shares[Parents(place)] / 1500 == pytest.approx(leads / 8, abs=0.04)


def test_candidates_that_lead_together_share_their_examples() -> None:
    front = front_of([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    assert front.undominated().leads() == {0: 2, 1: 2}


MERGE = MergePlan(from_candidates=3, at_most=4, chance=1.0)
THREE = [[1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 1.0]]


def test_there_is_no_merge_before_the_pool_is_large_enough() -> None:
    front = front_of(THREE)
    assert None not in {parents.second for parents in drawn(front, merge=MERGE, draws=50)}
    later = MERGE.model_copy(update={"from_candidates": 4})
    assert {parents.second for parents in drawn(front, merge=later, draws=50)} == {None}
    assert {parents.second for parents in drawn(front, draws=50)} == {None}


def test_a_merge_s_second_parent_is_drawn_in_proportion_to_the_examples_that_the_first_does_not_lead() -> None:
    shares = drawn(front_of(THREE), merge=MERGE)
    of_first = {second: shares[Parents(0, second)] for second in (1, 2)}
    assert of_first[1] / sum(of_first.values()) == pytest.approx(1 / 3, abs=0.07)
    assert all(parents.second not in (None, parents.first) for parents in shares)


def test_the_draw_of_the_first_parent_is_the_same_with_merges_as_without() -> None:
    front = front_of(THREE)
    for seed in range(40):
        with_merges = FrontierSampling(seed, MERGE).draw(front, iteration=2, call=1)
        assert with_merges.first == FrontierSampling(seed).draw(front, iteration=2, call=1).first


def test_no_pair_is_merged_twice_and_no_more_are_merged_than_the_plan_allows() -> None:
    front = front_of(THREE)
    sampling = FrontierSampling(1, MERGE)
    found = [sampling.draw(front, iteration=iteration, call=0) for iteration in range(1, 40)]
    pairs = [frozenset((one.first, one.second)) for one in found if one.second is not None]
    assert len(pairs) == len(set(pairs)) == 3, "three candidates make three pairs"
    few = FrontierSampling(1, MERGE.model_copy(update={"at_most": 2}))
    assert sum(few.draw(front, iteration=n, call=0).second is not None for n in range(1, 40)) == 2


def test_a_candidate_that_leads_everywhere_has_nobody_to_be_merged_with() -> None:
    front = front_of([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    assert set(drawn(front, merge=MERGE, draws=30)) == {Parents(0)}


def test_merges_come_with_their_chance() -> None:
    sampled = drawn(front_of(THREE), merge=MERGE.model_copy(update={"chance": 0.4}), draws=800)
    assert sum(n for parents, n in sampled.items() if parents.second is not None) / 800 == pytest.approx(0.4, abs=0.06)
