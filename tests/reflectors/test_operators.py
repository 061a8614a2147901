"""The offline reflector: edits from a bank, the same for the same seed, iteration and call."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import PlanError
from reflectors import OperatorReflector, Reflection, ReflectionRequest, Trace
from reflectors.clauses import split_clauses
from reflectors.traces import Failing

BANKS = ("per-fact", "per-fact-keyed", "whole-note", "yes-no", "step")
FRAME = "Decide whether the note states the fact."
LONG = f"{FRAME} One rule. Two rules! Three rules? Four rules."
OPERATORS = {"add", "drop", "replace", "reorder", "shorten", "example", "reframe", "answer_rule"}


def failures(*names: Any, fact: str = "Allergic to penicillin.", excerpt: str = "Allergy noted") -> tuple[Trace, ...]:
    return tuple(Trace(str(number), name, "text", fact, excerpt) for number, name in enumerate(names))


def request(parent: str = LONG, traces: tuple[Trace, ...] = (), **more: Any) -> ReflectionRequest:
    fields = {"earlier": frozenset({parent}), "seed": 0, "iteration": 0, **more}
    return ReflectionRequest(parent, traces, **fields)


def many(
    reflector: OperatorReflector, parent: str = LONG, traces: tuple[Trace, ...] = (), draws: int = 300
) -> list[Reflection]:
    return [reflector.reflect(request(parent, traces, iteration=number)) for number in range(draws)]


@pytest.mark.parametrize("bank", BANKS)
def test_a_bank_has_the_sections_that_the_operators_draw_from(bank: str) -> None:
    clauses = OperatorReflector(bank).clauses
    assert set(clauses) == {*get_args(Failing), "frame", "answer_rule", "example"}
    assert all(clauses.values())
    for name, kind in clauses.items():
        assert all(clause.endswith(".") and len(split_clauses(clause)) == 1 for clause in kind), name
        assert len(set(kind)) == len(kind)


@pytest.mark.parametrize("bank", BANKS)
def test_examples_of_a_bank_name_the_failure_they_are_for_and_a_slot(bank: str) -> None:
    for template in OperatorReflector(bank).clauses["example"]:
        failing, _, text = template.partition(": ")
        assert failing in get_args(Failing)
        assert "FACT" in text or "LINE" in text


def test_a_student_without_a_bank_is_refused() -> None:
    with pytest.raises(PlanError, match="no clause bank for student 'eight-scores'; use an LLM reflector"):
        OperatorReflector("eight-scores")


@pytest.mark.parametrize("bank", BANKS)
def test_every_operator_is_reached(bank: str) -> None:
    assert {found.operator for found in many(OperatorReflector(bank), traces=failures("missed_omission"))} == OPERATORS


@given(st.integers(0, 5), st.integers(0, 1000), st.integers(0, 5))
@settings(max_examples=30)
def test_seed_iteration_and_call_decide_the_proposal(seed: int, iteration: int, call: int) -> None:
    asked = request(traces=failures("missed_change"), seed=seed, iteration=iteration, call=call)
    assert OperatorReflector("per-fact").reflect(asked) == OperatorReflector("per-fact").reflect(asked)


def test_each_of_seed_iteration_and_call_changes_the_draws() -> None:
    reflector = OperatorReflector("per-fact")
    runs = [
        [reflector.reflect(request(seed=seed, call=call, iteration=start + n)).text for n in range(10)]
        for seed, call, start in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 10))
    ]
    assert all(one != two for one, two in itertools.combinations(runs, 2))


@pytest.mark.parametrize("bank", BANKS)
def test_the_result_keeps_its_first_clause_or_takes_another_frame(bank: str) -> None:
    reflector = OperatorReflector(bank)
    for found in many(reflector, traces=failures("missed_omission", "false_absence")):
        first = split_clauses(found.text)[0]
        assert first in reflector.clauses["frame"] if found.operator == "reframe" else first == FRAME


def test_each_operator_does_what_its_name_says() -> None:
    before = split_clauses(LONG)
    for found in many(OperatorReflector("per-fact"), traces=failures("missed_omission")):
        after = split_clauses(found.text)
        match found.operator:
            case "add" | "answer_rule" | "example":
                assert after[:-1] == before
            case "drop":
                assert len(after) == 4
                assert set(after) < set(before)
            case "replace":
                assert len(after) == 5
                assert len(set(after) - set(before)) == 1
            case "reorder":
                assert sorted(after) == sorted(before)
                assert after != before
            case "shorten":
                assert after == before[:3]
            case "reframe":
                assert after[1:] == before[1:]


def test_a_long_walk_never_repeats_an_earlier_text() -> None:
    reflector = OperatorReflector("per-fact")
    parent, earlier = FRAME, {FRAME}
    for iteration in range(150):
        found = reflector.reflect(
            request(
                parent, failures("missed_omission", "false_absence"), earlier=frozenset(earlier), iteration=iteration
            )
        )
        assert found.problem is None
        assert found.text not in earlier
        earlier.add(found.text)
        parent = found.text


def test_the_parent_in_other_white_space_is_no_new_text() -> None:
    parent = "Frame.\n\nRule one.\n  Rule two."
    found = many(OperatorReflector("per-fact"), parent)
    assert "Frame. Rule one. Rule two." not in {each.text for each in found}
    found = [
        OperatorReflector("per-fact").reflect(request(parent, earlier=frozenset(), iteration=n)) for n in range(99)
    ]
    assert "Frame. Rule one. Rule two." not in {each.text for each in found}


def test_when_every_edit_was_tried_the_reflector_says_so_and_proposes_nothing() -> None:
    reflector = OperatorReflector("per-fact")
    earlier = {FRAME, *reflector.clauses["frame"]}
    earlier |= {f"{FRAME} {clause}" for clause in reflector.clauses["answer_rule"]}
    found = reflector.reflect(request(FRAME, earlier=frozenset(earlier)))
    assert (found.text, found.operator) == ("", "none")
    assert found.problem == "no edit in 40 draws that was not tried before"


def test_the_most_frequent_failure_is_answered_most_often() -> None:
    reflector = OperatorReflector("per-fact")
    traces = failures(*["missed_omission"] * 8, *["false_absence"] * 2)
    added = [found.why.split(";")[0] for found in many(reflector, traces=traces) if found.operator == "add"]
    assert added.count("add for missed omission") > 2 * added.count("add for false absence") > 0


def test_the_reason_counts_the_failures() -> None:
    found = OperatorReflector("per-fact").reflect(request(traces=failures("missed_change", "missed_change")))
    assert found.why.endswith("; failures: 2 missed change")
    assert OperatorReflector("per-fact").reflect(request()).why.endswith("; failures: none")


def test_an_example_quotes_fact_and_line_as_one_clause() -> None:
    traces = failures(
        "missed_omission", fact="PICC LINE in situ. Flushed daily.", excerpt="FACT sheet given! Call 999."
    )
    found = [each for each in many(OperatorReflector("per-fact"), FRAME, traces) if each.operator == "example"]
    assert {split_clauses(each.text)[1] for each in found} == {
        'For example, a note whose closest line is "FACT sheet given; Call 999" '
        'does not state "PICC LINE in situ; Flushed daily".'
    }


def test_traces_without_a_fact_or_line_make_no_example() -> None:
    traces = (Trace("1", "missed_omission", "text", "fact", None), Trace("2", "missed_omission", "text", None, "line"))
    assert "example" not in {found.operator for found in many(OperatorReflector("per-fact"), traces=traces)}


@given(st.text(max_size=200), st.sampled_from(BANKS))
@settings(max_examples=50)
def test_any_parent_yields_a_text_or_a_problem(parent: str, bank: str) -> None:
    found = OperatorReflector(bank).reflect(request(parent, failures("missed_fragment")))
    assert bool(found.text) == (found.problem is None)
    assert Reflection.from_row(found.row()) == found


@pytest.mark.parametrize("bank", BANKS)
def test_settings_name_the_bank_and_its_hash(bank: str) -> None:
    row = OperatorReflector(bank).settings()
    assert (row["reflector"], row["bank"], len(row["hash"])) == ("operators", bank, 64)
