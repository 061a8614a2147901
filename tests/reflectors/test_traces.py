"""Feedback traces: what went wrong, in the words of the reflect examples and of nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from lineage.records import FactVerdict, Judgement
from reflectors import build_traces, count_failures
from reflectors.traces import Trace, nearest_line
from splits.corpus import Corpus, Example, Fact, Residual

FACTS = {
    "g": (
        Fact("f1", "g", "Allergic to penicillin.", ("ev",), "critical", True),
        Fact("f2", "g", "Chest pain since Monday.", ("ev",), "supporting", True),
    )
}
CLEAN = Example(
    "g-a", "g", "s", "source", "PLAN\n- Allergic to penicillin\n- Chest pain since Monday", "clean", "clean"
)


def flawed(label: str = "omission", kind: str = "omit", trace: str | None = None, **more: Any) -> Example:
    fields = {"severity": "critical", "twin": "g-a", "fact": "f1", **more}
    return Example("g-b", "g", "s", "source", "PLAN\n- Allergy noted\n- Chest pain", label, kind, trace=trace, **fields)


def judgement(example: str, score: float | None, p_yes: tuple[float, float] | None = None) -> Judgement:
    facts = tuple(
        FactVerdict(name, value, 0.0, value >= 0.5) for name, value in zip(("f1", "f2"), p_yes or (), strict=False)
    )
    if score is None:
        return Judgement(example, "c", "s", "failed", None, reason="transport: gone")
    return Judgement(example, "c", "s", "scored", score, facts=facts)


def traces(example: Example, mine: Judgement, twins: Judgement, scale: float = 1.0) -> dict[str, Trace]:
    found = build_traces(Corpus((example, CLEAN), FACTS), [mine, twins], scale=scale)
    assert [trace.example for trace in found] == sorted(trace.example for trace in found)
    return {trace.example: trace for trace in found}


@pytest.mark.parametrize(
    ("example", "failing"),
    [
        (flawed(trace="complete"), "missed_omission"),
        (flawed(trace=None), "missed_omission"),
        (flawed(trace="partial-weak"), "missed_fragment"),
        (flawed(trace="partial-strong"), "missed_restated"),
        (flawed("commission", "add"), "missed_addition"),
        (flawed("commission", "change"), "missed_change"),
    ],
)
@pytest.mark.parametrize(("score", "missed"), [(0.7, False), (0.8, True), (0.9, True)])
def test_each_flaw_that_is_not_scored_below_its_twin_has_its_own_failure(
    example: Example, failing: str, score: float, missed: bool
) -> None:
    trace = traces(example, judgement("g-b", score), judgement("g-a", 0.8))["g-b"]
    assert trace.failing == (failing if missed else None)
    order = {0.7: "below", 0.8: "level with", 0.9: "above"}[score]
    assert f"The judge gave it {score:g}, {order} its correct twin at 0.8 (of 1)." in trace.text


def test_a_trace_states_the_fact_what_is_left_of_it_and_both_probabilities() -> None:
    example = flawed(trace="partial-weak", residual=(Residual(5, "PLAN", "partial"), Residual(9, "", "paraphrase")))
    trace = traces(example, judgement("g-b", 0.9, (0.75, 1.0)), judgement("g-a", 0.8, (0.5, 1.0)))["g-b"]
    assert "An omission (partial-weak, critical): the note leaves out: Allergic to penicillin." in trace.text
    assert "stands under PLAN (partial). What is left of it stands under no heading (paraphrase)." in trace.text
    assert "P(yes) was 0.75 in this note and 0.50 in the twin." in trace.text
    assert ".." not in trace.text
    assert trace.fact == "Allergic to penicillin."


def test_what_is_not_known_of_a_flaw_is_not_printed_as_none() -> None:
    for example in (flawed(fact=None, severity=None), flawed("commission", "change", fact=None), flawed(fact="f9")):
        trace = traces(example, judgement("g-b", 0.9), judgement("g-a", 0.8))["g-b"]
        assert "None" not in trace.text
        assert trace.fact is trace.excerpt is None


def test_a_clean_note_with_a_fact_called_absent_is_a_false_absence() -> None:
    trace = traces(flawed(), judgement("g-b", 0.1), judgement("g-a", 0.6, (0.3, 0.2)))["g-a"]
    assert trace.failing == "false_absence"
    assert "Allergic to penicillin. (P(yes) 0.30); Chest pain since Monday. (P(yes) 0.20)" in trace.text
    assert (trace.fact, trace.excerpt) == ("Chest pain since Monday.", "Chest pain since Monday")


def test_a_clean_note_judged_right_is_no_failure() -> None:
    trace = traces(flawed(), judgement("g-b", 0.1), judgement("g-a", 0.9, (0.5, 0.9)))["g-a"]
    assert (trace.failing, trace.fact, trace.excerpt) == (None, None, None)
    assert trace.text.endswith("No fact was called absent.")


def test_a_judge_without_verdicts_is_not_said_to_have_given_any() -> None:
    trace = traces(flawed(), judgement("g-b", 3.0), judgement("g-a", 9.0), 10.0)["g-a"]
    assert trace.text == "A correct note. The judge gave 9 of 10."


@pytest.mark.parametrize(("mine", "twins", "left"), [(None, 0.8, ["g-a"]), (0.8, None, []), (None, None, [])])
def test_failed_judgements_and_pairs_with_one_are_left_out(
    mine: float | None, twins: float | None, left: list[str]
) -> None:
    assert list(traces(flawed(), judgement("g-b", mine), judgement("g-a", twins))) == left


def test_a_flawed_example_without_a_twin_is_never_called_correct() -> None:
    assert "g-b" not in traces(flawed(twin=None), judgement("g-b", 0.9, (0.1, 0.1)), judgement("g-a", 0.8))


def test_a_judgement_of_an_example_outside_the_given_part_leaves_no_word() -> None:
    secret = Example("h-a", "h", "s", "SECRET source", "SECRET note", "clean", "clean")
    facts = {**FACTS, "h": (Fact("f1", "h", "SECRET fact", (), "critical", True),)}
    whole = Corpus((CLEAN, flawed(), secret), facts)
    judgements = [judgement(name, 0.5, (0.1, 0.1)) for name in ("g-a", "g-b", "h-a")]
    found = build_traces(whole.part([CLEAN, flawed()]), judgements, scale=1.0)
    assert [trace.example for trace in found] == ["g-a", "g-b"]
    assert "SECRET" not in repr(found)


def test_order_of_rows_and_judgements_never_changes_the_traces() -> None:
    judgements = [judgement("g-a", 0.5, (0.1, 0.9)), judgement("g-b", 0.6)]
    one = build_traces(Corpus((CLEAN, flawed()), FACTS), judgements, scale=1.0)
    two = build_traces(Corpus((flawed(), CLEAN), FACTS), reversed(judgements), scale=1.0)
    assert one == two


def test_failures_are_counted_most_frequent_first_and_by_name_where_level() -> None:
    names: list[Any] = ["missed_change", None, "false_absence", "missed_omission", "missed_omission", None]
    found = count_failures(Trace(str(number), name, "") for number, name in enumerate(names))
    assert list(found.items()) == [("missed_omission", 2), ("false_absence", 1), ("missed_change", 1)]
    assert count_failures([]) == {}


def test_the_nearest_line_shares_most_words_and_is_no_heading() -> None:
    note = "ALLERGIC TO PENICILLIN\n- Takes penicillin\n- Is allergic to penicillin"
    assert nearest_line("Allergic to penicillin", note) == "Is allergic to penicillin"
    assert nearest_line("Lives alone", note) is None
    assert nearest_line("anything", "") is None
