"""The simulated reflector: it finds in the words of the feedback what the traces know."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.records import FactVerdict, Judgement
from reflectors import Feedback, ReflectionRequest, SimulatedDiagnosisReflector, Trace, build_traces, count_failures
from reflectors.diagnosis import diagnose
from reflectors.showing import show_feedback
from splits.corpus import Corpus, Example, Fact

FRAME = "Decide whether the note states the fact."
FLAWS = {
    "complete": ("omission", "omit", "complete"),
    "partial-weak": ("omission", "omit", "partial-weak"),
    "partial-strong": ("omission", "omit", "partial-strong"),
    "unknown": ("omission", "omit", None),
    "add": ("commission", "add", None),
    "change": ("commission", "change", None),
}


def judged(
    flaws: list[str], scores: list[float], clean: tuple[float, float], told: Feedback | None = None
) -> tuple[Trace, ...]:
    """Traces of one group: its clean note with a score and a probability, and a flawed note for each flaw."""
    facts = {"g": (Fact("f1", "g", "A fact.", ("said",), "critical", True),)}
    examples = [Example("g.clean", "g", "s", "src", "DOC\nA fact.", "clean", "clean")]
    judgements = [
        Judgement("g.clean", "c", "s", "scored", clean[0], facts=(FactVerdict("f1", clean[1], 0.0, True),)),
    ]
    for number, (flaw, score) in enumerate(zip(flaws, scores, strict=False)):
        label, kind, trace = FLAWS[flaw]
        name = f"g.{number}"
        examples.append(Example(name, "g", "s", "src", "DOC\nA.", label, kind, "critical", trace, "g.clean", "f1"))
        judgements.append(Judgement(name, "c", "s", "scored", score, facts=(FactVerdict("f1", 0.9, 0.0, True),)))
    return build_traces(Corpus(tuple(examples), facts), judgements, scale=1.0, feedback=told)


def request(parent: str, traces: tuple[Trace, ...], **more: Any) -> ReflectionRequest:
    return ReflectionRequest(parent, traces, more.pop("earlier", frozenset()), **{"seed": 0, "iteration": 1, **more})


@given(
    st.lists(st.sampled_from(sorted(FLAWS)), max_size=8),
    st.lists(st.floats(0, 1), min_size=8, max_size=8),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_what_it_reads_in_the_words_is_what_the_traces_know(
    flaws: list[str], scores: list[float], clean: tuple[float, float]
) -> None:
    traces = judged(flaws, scores, clean)
    found = diagnose(show_feedback(traces, Feedback(tokens=20_000)).text)
    assert found == Counter(count_failures(traces))


def test_it_answers_the_two_most_frequent_failures_with_clauses_that_are_for_them() -> None:
    traces = judged(["partial-weak"] * 3 + ["partial-strong"] * 2 + ["add"], [0.9] * 6, (0.8, 0.9))
    reflector = SimulatedDiagnosisReflector("per-fact")
    clauses = reflector._bank.clauses
    found = [reflector.reflect(request(FRAME, traces, iteration=n)) for n in range(60)]
    texts = {each.text for each in found}
    pairs = {f"{FRAME} {one} {two}" for one in clauses["missed_fragment"] for two in clauses["missed_restated"]}
    assert texts == pairs
    assert {each.operator for each in found} == {"simulated diagnosis"}
    assert found[0].why == "read in the feedback: 3 missed fragment, 2 missed restated"


def test_a_clause_whose_failure_goes_on_gives_way_to_another() -> None:
    traces = judged(["partial-weak"], [0.9], (0.8, 0.9))
    reflector = SimulatedDiagnosisReflector("per-fact")
    section = reflector._bank.clauses["missed_fragment"]
    found = {reflector.reflect(request(f"{FRAME} {section[0]}", traces, iteration=n)).text for n in range(30)}
    assert found == {f"{FRAME} {clause}" for clause in section[1:]}


def test_it_tries_nothing_twice_and_says_when_nothing_is_left() -> None:
    traces = judged(["partial-weak"], [0.9], (0.8, 0.9))
    reflector = SimulatedDiagnosisReflector("per-fact")
    tried: set[str] = set()
    for iteration in range(3):
        tried.add(reflector.reflect(request(FRAME, traces, iteration=iteration, earlier=frozenset(tried))).text)
    assert len(tried) == 3
    found = reflector.reflect(request(FRAME, traces, earlier=frozenset(tried)))
    assert (found.text, found.problem) == ("", "no clause that was not tried before")


@pytest.mark.parametrize("off", [{"rank": False}, {"truth": False}])
def test_without_the_words_it_needs_it_finds_nothing(off: dict[str, bool]) -> None:
    told = Feedback(**off)
    traces = judged(["partial-weak"], [0.9], (0.8, 0.9), told)
    assert count_failures(traces)
    found = SimulatedDiagnosisReflector("per-fact", feedback=told).reflect(request(FRAME, traces))
    assert found.problem == "no failure is told of in the feedback"


def test_it_is_marked_simulated_in_its_name_and_settings() -> None:
    row = SimulatedDiagnosisReflector("per-fact").settings()
    assert (row["reflector"], row["simulated"]) == ("simulated-diagnosis", True)
    assert row["feedback"] == Feedback().row()
