"""The control of reflection: blind edits, the same whatever the student got wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import PlanError
from reflectors import FailedEdit, OperatorReflector, RandomEditReflector, ReflectionRequest, Trace
from reflectors.clauses import split_clauses
from reflectors.traces import Failing

FRAME = "Decide whether the note states the fact."
LONG = f"{FRAME} One rule. Two rules! Three rules?"
TRACES: tuple[Failing, ...] = ("missed_omission", "missed_change", "false_absence")


def request(parent: str = LONG, traces: tuple[Trace, ...] = (), **more: Any) -> ReflectionRequest:
    return ReflectionRequest(parent, traces, more.pop("earlier", frozenset()), **{"seed": 0, "iteration": 0, **more})


@settings(max_examples=40)
@given(st.lists(st.sampled_from(TRACES)), st.integers(0, 50), st.integers(0, 50))
def test_traces_and_failed_edits_change_no_edit(names: list[Failing], seed: int, iteration: int) -> None:
    traces = tuple(Trace(str(n), name, "text", "A fact.", "A line") for n, name in enumerate(names))
    blind = request(seed=seed, iteration=iteration)
    told = request(traces=traces, seed=seed, iteration=iteration, failed=(FailedEdit("A.", "rejected", "-1"),))
    assert RandomEditReflector("per-fact").reflect(blind) == RandomEditReflector("per-fact").reflect(told)


def test_every_clause_of_the_bank_is_reached_and_no_worked_example() -> None:
    reflector, clauses = RandomEditReflector("per-fact"), OperatorReflector("per-fact").clauses
    found = [reflector.reflect(request(iteration=n)) for n in range(600)]
    new = {clause for each in found for clause in split_clauses(each.text)} - set(split_clauses(LONG))
    assert new == {clause for kind, bank in clauses.items() if kind != "example" for clause in bank} - {FRAME}
    operators = [each.operator for each in found]
    assert set(operators) == {f"random {name}" for name in ("add", "reframe", "replace", "drop", "reorder")}
    assert 0.4 < operators.count("random add") / len(operators) < 0.6
    assert {each.problem for each in found} == {None}


def test_a_long_walk_never_repeats_an_earlier_text() -> None:
    reflector, parent, earlier = RandomEditReflector("per-fact"), FRAME, {FRAME}
    for iteration in range(100):
        found = reflector.reflect(request(parent, earlier=frozenset(earlier), iteration=iteration))
        assert found.problem is None
        assert found.text not in earlier
        earlier.add(found.text)
        parent = found.text


def test_when_nothing_is_left_to_try_it_says_so() -> None:
    clauses = OperatorReflector("whole-note").clauses
    alone = {f"{FRAME} {clause}" for kind, bank in clauses.items() if kind not in ("example",) for clause in bank}
    found = RandomEditReflector("whole-note").reflect(
        request(FRAME, earlier=frozenset({*alone, *clauses["frame"], FRAME}))
    )
    assert (found.text, found.operator) == ("", "none")
    assert found.problem == "no edit in 40 draws that was not tried before"


def test_its_settings_name_it_and_the_bank() -> None:
    row = RandomEditReflector("per-fact").settings()
    assert row == {**OperatorReflector("per-fact").settings(), "reflector": "random-edits"}
    with pytest.raises(PlanError, match="no clause bank for student 'eight-scores'"):
        RandomEditReflector("eight-scores")
