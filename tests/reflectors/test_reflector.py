"""The request: what it holds, and its only source of randomness."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lineage.canonical import digest
from reflectors import FailedEdit, OperatorReflector, Reflection, ReflectionRequest, Trace

NUMBERS = st.integers(0, 10**6)


def request(**more: Any) -> ReflectionRequest:
    return ReflectionRequest(
        **{"parent": "P.", "traces": (), "earlier": frozenset(), "seed": 0, "iteration": 1, **more}
    )


def test_every_text_that_a_reflector_could_see_is_told_to_whoever_looks_for_leaks() -> None:
    asked = request(
        traces=(Trace("a", None, "T1", "fact 1", "line 1", "document 1"),),
        others=("Q.",),
        others_traces=((Trace("a", "missed_change", "T2", "fact 2", None, "document 2"),),),
        failed=(FailedEdit("F.", "rejected", "minibatch reward -1", "P."), FailedEdit("COPIED", "invalid", "repeats")),
    )
    texts = ["P.", "Q.", "T1", "fact 1", "line 1", "document 1", "T2", "fact 2", "document 2", "F."]
    assert list(asked.told) == [*texts, "minibatch reward -1", "repeats"]


@given(NUMBERS, NUMBERS, NUMBERS)
def test_seed_iteration_call_and_another_block_decide_the_draws(seed: int, iteration: int, call: int) -> None:
    asked = request(seed=seed, iteration=iteration, call=call)
    first = asked.rng().random(3).tolist()
    assert first == asked.rng().random(3).tolist()
    for more in ({"seed": seed + 1}, {"iteration": iteration + 1}, {"call": call + 1}, {"component": "audit"}):
        other = request(**{"seed": seed, "iteration": iteration, "call": call, **more})
        assert first != other.rng().random(3).tolist()


def test_the_draws_of_the_instruction_are_those_of_seed_iteration_and_call_alone() -> None:
    asked = request(seed=3, iteration=5, call=2, parent="Other.", others=("Q.",))
    assert asked.rng().integers(2**60) == request(seed=3, iteration=5, call=2).rng().integers(2**60)
    assert int(digest([3, 5, 2])[:16], 16) == asked.rng().bit_generator.seed_seq.entropy  # type: ignore[union-attr]


def test_reflections_asked_for_together_are_those_asked_for_one_by_one() -> None:
    reflector = OperatorReflector("per-fact")
    requests = [request(call=number) for number in range(4)]
    assert reflector.reflect_all(requests) == tuple(reflector.reflect(each) for each in requests)


def test_a_reflection_is_read_back_from_its_row() -> None:
    made = Reflection("A.", "llm", "why", "asked", "said", None)
    assert Reflection.from_row(made.row()) == made
