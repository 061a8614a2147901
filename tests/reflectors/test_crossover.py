"""The offline crossover: every clause of every parent, in order and once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflectors import OperatorReflector, RandomEditReflector, ReflectionRequest, SimulatedDiagnosisReflector
from reflectors.clauses import split_clauses
from reflectors.crossover import united

ONE, TWO = "Frame one. Shared rule. Rule of one.", "Frame two. Rule of two. Shared rule."
UNION = "Frame one. Shared rule. Rule of one. Rule of two."
CLAUSES = st.lists(st.sampled_from([f"Rule {n}." for n in range(8)]), min_size=1, max_size=6, unique=True)


def request(parent: str = ONE, *others: str, earlier: Any = (), **more: Any) -> ReflectionRequest:
    return ReflectionRequest(parent, (), frozenset(earlier), 0, more.pop("iteration", 1), others=others or (TWO,))


@pytest.mark.parametrize(
    "reflector",
    [OperatorReflector("per-fact"), RandomEditReflector("per-fact"), SimulatedDiagnosisReflector("per-fact")],
)
def test_offline_reflectors_unite_the_clauses_of_several_parents(reflector: Any) -> None:
    found = reflector.reflect(request())
    assert (found.text, found.operator, found.problem) == (UNION, "crossover", None)
    assert found.why == "union of 2 parents: 4 clauses, 1 of them in each"


def test_where_the_union_was_tried_a_part_of_it_is_drawn_that_keeps_what_all_share() -> None:
    found = [OperatorReflector("per-fact").reflect(request(earlier=[UNION], iteration=n)) for n in range(20)]
    assert len({each.text for each in found}) > 1
    for each in found:
        clauses = split_clauses(each.text)
        assert {"Frame one.", "Shared rule."} <= set(clauses) < set(split_clauses(UNION))
        assert each.text != ONE
        assert clauses == [clause for clause in split_clauses(UNION) if clause in clauses]


def test_parents_that_add_nothing_to_each_other_have_no_crossover() -> None:
    found = OperatorReflector("per-fact").reflect(request("Frame. Rule.", "Other frame. Rule."))
    assert (found.text, found.problem) == ("", "no crossover of these parents that was not tried before")


@given(st.lists(CLAUSES, min_size=2, max_size=4))
def test_a_union_holds_each_clause_once_behind_the_first_parent_s(parents: list[list[str]]) -> None:
    union = united(parents)
    assert union[: len(parents[0])] == parents[0]
    assert len(set(union)) == len(union)
    assert set(union) == {*parents[0], *(clause for parent in parents[1:] for clause in parent[1:])}


@given(CLAUSES, CLAUSES, st.integers(0, 9))
def test_a_crossover_is_the_same_for_the_same_request(one: list[str], two: list[str], iteration: int) -> None:
    asked = request(" ".join(one), " ".join(two), iteration=iteration)
    first, again = (OperatorReflector("whole-note").reflect(asked) for _ in range(2))
    assert first == again
    assert bool(first.text) == (first.problem is None)
