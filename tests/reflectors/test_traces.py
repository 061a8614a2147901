"""Feedback traces: what went wrong, in the words of the reflect examples and of nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import PlanError
from lineage.records import FactVerdict, Judgement
from reflectors import Feedback, build_traces, count_failures
from reflectors.traces import Trace, nearest_line
from reflectors.wording import DIFFERENT_BY, MOST_DIFFERENT, SAID_WORDS
from splits.corpus import Corpus, Example, Fact, Residual

FACTS = {
    "g": (
        Fact("f1", "g", "Allergic to penicillin.", ("It made me swell up.",), "critical", True),
        Fact("f2", "g", "Chest pain since Monday.", ("ev",), "supporting", True),
    )
}
CLEAN = Example(
    "g-a", "g", "s", "source", "PLAN\n- Allergic to penicillin\n- Chest pain since Monday", "clean", "clean"
)


def flawed(label: str = "omission", kind: str = "omit", trace: str | None = None, **more: Any) -> Example:
    fields = {"severity": "critical", "twin": "g-a", "fact": "f1", **more}
    return Example("g-b", "g", "s", "source", "PLAN\n- Allergy noted\n- Chest pain", label, kind, trace=trace, **fields)


def judgement(example: str, score: float | None, p_yes: tuple[float, ...] | None = None, **more: Any) -> Judgement:
    facts = tuple(FactVerdict(f"f{n}", value, 0.0, value >= 0.5) for n, value in enumerate(p_yes or (), start=1))
    if score is None:
        return Judgement(example, "c", "s", "failed", None, reason="transport: gone")
    return Judgement(example, "c", "s", "scored", score, facts=facts, **more)


def traces(
    example: Example, mine: Judgement, twins: Judgement, scale: float = 1.0, clean: Example = CLEAN, **told: Any
) -> dict[str, Trace]:
    found = build_traces(Corpus((example, clean), FACTS), [mine, twins], scale=scale, feedback=Feedback(**told))
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
    order = {0.7: "0.1 below", 0.8: "level with", 0.9: "0.1 above"}[score]
    wanted = "It belongs below." if missed else "That is right."
    assert f"The judge gave it {score:g}, {order} its correct twin at 0.8 (of 1). {wanted}" in trace.text


def test_a_failure_states_fact_severity_and_why_what_is_left_both_probabilities_and_the_document() -> None:
    example = flawed(trace="partial-weak", residual=(Residual(7, "PLAN", "partial"), Residual(24, "", "paraphrase")))
    trace = traces(example, judgement("g-b", 0.9, (0.75, 1.0)), judgement("g-a", 0.8, (0.5, 1.0)))["g-b"]
    assert trace.text == (
        "An omission (partial-weak): the document leaves out: Allergic to penicillin. "
        "Severity critical: missing or wrong, it could change what is done next or do harm. "
        'The source says: "It made me swell up." '
        'What is left of it stands under PLAN, at character 7 (partial): "Allergy noted". '
        'What is left of it stands under no heading, at character 24 (paraphrase): "Chest pain". '
        "The judge gave it 0.9, 0.1 above its correct twin at 0.8 (of 1). It belongs below. "
        "On that fact P(yes) was 0.75 here and 0.50 in the twin (+0.25)."
    )
    assert (trace.fact, trace.excerpt) == ("Allergic to penicillin.", None)
    assert trace.document == example.document
    assert set(trace.places) == {7, 24, len("PLAN\n- Allerg")}, "where it first differs from its twin, and what is left"


def test_what_is_judged_right_is_told_in_short() -> None:
    example = flawed(trace="partial-weak", residual=(Residual(7, "PLAN", "partial"),))
    trace = traces(example, judgement("g-b", 0.5, (0.1, 1.0)), judgement("g-a", 0.8, (0.5, 0.2)))["g-b"]
    assert trace.text == (
        "An omission (partial-weak): the document leaves out: Allergic to penicillin. "
        "The judge gave it 0.5, 0.3 below its correct twin at 0.8 (of 1). That is right."
    )
    assert (trace.failing, trace.document) == (None, "")


def test_a_trace_is_one_line_whatever_its_quotations_are() -> None:
    facts = {"g": (Fact("f1", "g", "Allergic\nto penicillin.", ("It made\n1. me swell.",), "critical", True),)}
    judged = [judgement("g-b", 0.9, (0.9,)), judgement("g-a", 0.8, (0.2,))]
    for trace in build_traces(Corpus((flawed(), CLEAN), facts), judged, scale=1.0):
        assert "\n" not in trace.text


def test_what_is_not_known_of_a_flaw_is_not_printed_as_none() -> None:
    for example in (flawed(fact=None, severity=None), flawed("commission", "change", fact=None), flawed(fact="f9")):
        trace = traces(example, judgement("g-b", 0.9), judgement("g-a", 0.8))["g-b"]
        assert "None" not in trace.text
        assert trace.fact is trace.excerpt is None


def test_other_facts_judged_otherwise_than_in_the_twin_are_told_the_largest_change_first() -> None:
    mine, twins = (0.9, 0.90, 0.3, 0.5, 0.5, 0.2, 0.6, 0.50), (0.9, 0.93, 0.9, 0.4, 0.7, 0.5, 0.1, 0.56)
    trace = traces(flawed(), judgement("g-b", 0.9, mine), judgement("g-a", 0.8, twins))["g-b"]
    told = "f3 (0.30, twin 0.90); f7 (0.60, twin 0.10); f6 (0.20, twin 0.50); f5 (0.50, twin 0.70); and 2 more."
    assert trace.text.endswith(f"Judged otherwise than in the twin, though the flaw is not about them: {told}")
    assert (DIFFERENT_BY, MOST_DIFFERENT) == (0.05, 4)
    assert "Chest pain" not in trace.text, "a change of 0.03 is no change of mind"


def test_a_clean_note_with_a_fact_called_absent_is_a_false_absence() -> None:
    trace = traces(flawed(), judgement("g-b", 0.1, (0.9, 0.9)), judgement("g-a", 0.6, (0.3, 0.2)))["g-a"]
    assert trace.failing == "false_absence"
    assert "called absent, though they are there: Allergic to penicillin (P(yes) 0.30); Chest pain since" in trace.text
    assert (trace.fact, trace.excerpt) == ("Chest pain since Monday.", "Chest pain since Monday")
    assert [CLEAN.document[place:].partition("\n")[0] for place in trace.places] == [
        "Allergic to penicillin",
        "Chest pain since Monday",
    ]


def test_a_fact_absent_on_every_document_of_its_group_is_told_as_one_that_tells_nothing_apart() -> None:
    trace = traces(flawed(), judgement("g-b", 0.1, (0.9, 0.4)), judgement("g-a", 0.6, (0.3, 0.2)))["g-a"]
    assert "though they are there: Allergic to penicillin (P(yes) 0.30)." in trace.text
    assert trace.text.endswith("that they tell nothing apart: Chest pain since Monday (P(yes) 0.20).")
    alone = build_traces(Corpus((CLEAN,), FACTS), [judgement("g-a", 0.6, (0.3, 0.9))], scale=1.0)
    assert "every document of this group" not in alone[0].text, "one document is no constant"


def test_a_clean_candidate_is_not_called_correct() -> None:
    clean = replace(CLEAN, meta={"clean": "candidate"})
    trace = traces(flawed(), judgement("g-b", 0.1), judgement("g-a", 0.6), clean=clean)["g-a"]
    assert trace.text.startswith("A document taken as correct.")


def test_a_clean_note_judged_right_is_no_failure() -> None:
    trace = traces(flawed(), judgement("g-b", 0.1), judgement("g-a", 0.9, (0.5, 0.9)))["g-a"]
    assert (trace.failing, trace.fact, trace.excerpt) == (None, None, None)
    assert trace.text.endswith("No fact was called absent.")


def test_a_judge_without_verdicts_is_not_said_to_have_given_any() -> None:
    trace = traces(flawed(), judgement("g-b", 3.0), judgement("g-a", 9.0), 10.0)["g-a"]
    assert trace.text == "A correct document. The judge gave 9 of 10."


def test_a_judge_s_own_words_are_quoted_where_they_say_more_than_a_score() -> None:
    long = " ".join(f"w{n}" for n in range(SAID_WORDS + 5))
    for raw, told in (
        ("The plan says nothing of the allergy.", 'It said: "The plan says nothing of the allergy."'),
        (long, f'w{SAID_WORDS - 1} [...]"'),
        ("Score: 8", None),
    ):
        trace = traces(flawed(), judgement("g-b", 9.0, raw=("first", raw)), judgement("g-a", 8.0), 10.0)["g-b"]
        assert (told in trace.text) if told else ("It said" not in trace.text)
        assert "first" not in trace.text
    verdicts = judgement("g-b", 0.9, (0.9, 0.9), raw=("one two three four five six seven",))
    assert "It said" not in traces(flawed(), verdicts, judgement("g-a", 0.8))["g-b"].text


def test_a_judge_with_facts_of_its_own_is_told_in_its_own_words() -> None:
    own = FactVerdict("x1", 0.0, None, False, text="Swelling after penicillin")
    judged = Judgement("g-a", "c", "s", "scored", 0.5, facts=(own,))
    trace = traces(flawed(), judgement("g-b", 0.1), judged)["g-a"]
    assert "Swelling after penicillin (P(yes) 0.00)" in trace.text


PARTS = {
    "truth": "An omission",
    "fact": "Allergic to penicillin",
    "mention": "What is left of it",
    "severity": "Severity critical",
    "said": "On that fact P(yes)",
    "rank": "its correct twin",
    "differences": "Judged otherwise than in the twin",
    "constant_absences": "every document of this group",
}


@pytest.mark.parametrize("part", PARTS)
def test_each_part_of_the_feedback_can_be_left_out_and_the_others_stay(part: str) -> None:
    example = flawed(trace="partial-weak", residual=(Residual(7, "PLAN", "partial"),))
    mine, twins = judgement("g-b", 0.9, (0.75, 0.4)), judgement("g-a", 0.8, (0.5, 0.2))

    def told(**parts: bool) -> str:
        return "\n".join(trace.text for trace in traces(example, mine, twins, **parts).values())

    assert all(words in told() for words in PARTS.values())
    kept = told(**{part: False})
    assert [name for name, words in PARTS.items() if words not in kept] == [part]
    assert traces(example, mine, twins, document=False)["g-b"].document == ""


def test_the_failure_does_not_depend_on_what_is_told_of_it() -> None:
    mine, twins = judgement("g-b", 0.9, (0.75, 0.4)), judgement("g-a", 0.8, (0.5, 0.2))
    nothing = dict.fromkeys([*PARTS, "document", "right", "rule"], False)
    one, two = (traces(flawed(), mine, twins, **told) for told in ({}, nothing))
    for name in one:
        assert (one[name].failing, one[name].fact, one[name].excerpt) == (
            two[name].failing,
            two[name].fact,
            two[name].excerpt,
        )
    assert [trace.text for trace in two.values()] == ["", ""]


def test_a_bound_too_small_for_one_failure_is_refused() -> None:
    with pytest.raises(PlanError, match=r"feedback\.tokens must be at least 400, got 50"):
        Feedback(tokens=50)


@pytest.mark.parametrize(("mine", "twins", "left"), [(None, 0.8, ["g-a"]), (0.8, None, []), (None, None, [])])
def test_failed_judgements_and_pairs_with_one_are_left_out(
    mine: float | None, twins: float | None, left: list[str]
) -> None:
    assert list(traces(flawed(), judgement("g-b", mine), judgement("g-a", twins))) == left


def test_a_flawed_example_without_a_twin_is_never_called_correct() -> None:
    assert "g-b" not in traces(flawed(twin=None), judgement("g-b", 0.9, (0.1, 0.1)), judgement("g-a", 0.8))


@settings(max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=6, max_size=6), st.sets(st.sampled_from(sorted(PARTS))))
def test_judgements_outside_the_given_part_leave_no_word_whatever_is_told(values: list[float], off: set[str]) -> None:
    hidden = Example("h-a", "h", "s", "SECRET source", "SECRET note", "clean", "clean")
    missed = Example("h-b", "h", "s", "SECRET source", "SECRET", "omission", "omit", twin="h-a", fact="f1")
    facts = {**FACTS, "h": (Fact("f1", "h", "SECRET fact", ("SECRET words",), "critical", True),)}
    whole = Corpus((CLEAN, flawed(), hidden, missed), facts)
    judged = [
        judgement(name, value, (value, 1 - value), raw=("SECRET " * 9 if name[0] == "h" else "an answer",))
        for name, value in zip(("g-a", "g-b", "h-a", "h-b"), values, strict=False)
    ]
    told = Feedback(**dict.fromkeys(off, False))
    found = build_traces(whole.part([CLEAN, flawed()]), judged, scale=1.0, feedback=told)
    assert [trace.example for trace in found] == ["g-a", "g-b"]
    assert "SECRET" not in repr(found)
    assert not any("SECRET" in trace.document for trace in found)


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
