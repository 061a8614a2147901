"""Outcomes of the gate, with a scripted judge of what is affirmed."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.grounding import load_cases
from students.grounding import NOT_DOCUMENTED, Rating, gate
from students.parsing import Abstained, Unread

SOURCE = "He has a dry cough. Denies fever. His mother has asthma. Takes ramipril 5 mg daily."
NINE = [case for case in load_cases() if case.family == "nine"]


def always(rating: Rating) -> Callable[[str, str], Rating]:
    return lambda statement, source: rating


def never(statement: str, source: str) -> Rating:
    raise AssertionError(f"the judge was asked about {statement}")


@pytest.mark.parametrize("case", NINE, ids=lambda case: case.id)
def test_the_nine_come_out_as_they_must_with_a_judge_that_knows(case: object) -> None:
    asked: list[str] = []

    def judge(statement: str, source: str) -> Rating:
        asked.append(statement)
        return 0.9 if case.label == "right" else 0.1  # type: ignore[attr-defined]  # a case

    found = gate(case.answer, case.note, judge)  # type: ignore[attr-defined]  # a case
    expected = case.expected  # type: ignore[attr-defined]  # a case
    assert found.outcome == {"restated": "delivered restated"}.get(expected, expected)
    denies = any(each.polarity == "negative" for each in found.sentences)
    assert not (denies and asked), "a denial is decided without the judge"
    for each in found.sentences:
        for span in each.spans:
            assert 0 <= span.start < span.end <= len(case.note)  # type: ignore[attr-defined]  # a case


def test_the_nine_are_five_right_answers_and_four_wrong_on_one_note() -> None:
    assert len({case.group for case in NINE}) == 1
    assert [case.label == "wrong" for case in NINE].count(True) == 4
    assert [case.label for case in NINE].count("right") + [case.label for case in NINE].count("silent") == 5


def test_a_supported_denial_is_delivered_with_its_place_and_without_a_call() -> None:
    found = gate("He has no fever.", SOURCE, never)
    assert (found.outcome, found.text, found.score, found.reasons) == ("delivered", "He has no fever.", 1.0, ())
    assert [span.of(SOURCE) for span in found.sentences[0].spans] == ["Denies fever"]


def test_a_denial_that_the_source_does_not_state_is_restated_and_not_scored() -> None:
    found = gate("He has no rash.", SOURCE, never)
    assert (found.outcome, found.score) == ("delivered restated", None)
    assert found.text == f"{NOT_DOCUMENTED}: rash."
    again = gate(found.text or "", SOURCE, never)
    assert again.outcome == "delivered", "a restatement makes no claim"
    assert again.score is None


def test_a_list_is_restated_in_parts() -> None:
    found = gate("He has a dry cough but no fever or rash.", SOURCE, always(0.9))
    assert found.text == f"He has a dry cough. Stated as absent: fever. {NOT_DOCUMENTED}: rash."
    assert found.score == 0.9


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("He has no cough.", "the source affirms what it denies"),
        ("There is no family history of asthma.", "the source affirms what it denies"),
        ("He takes ramipril 10 mg daily.", "the source has 5mg for"),
        ("He has asthma.", "the source has mother for asthma"),
        ("He has a fever.", "the source denies what it affirms"),
        ("Fever is not documented.", "said to be undocumented"),
    ],
)
def test_what_the_source_contradicts_is_rejected_without_the_judge(answer: str, reason: str) -> None:
    found = gate(answer, SOURCE, never)
    assert (found.outcome, found.text, found.score) == ("rejected", None, 0.0)
    assert reason in found.reasons[0]
    assert found.sentences[0].spans


@pytest.mark.parametrize(
    ("rating", "outcome"), [(0.7, "delivered"), (0.699, "rejected"), (1, "delivered"), (0, "rejected")]
)
def test_the_pass_mark_decides_on_what_is_affirmed(rating: float, outcome: str) -> None:
    found = gate("He has a dry cough.", SOURCE, always(rating))
    assert (found.outcome, found.score) == (outcome, rating)


def test_a_pass_mark_of_ones_own_is_kept() -> None:
    assert gate("He has a dry cough.", SOURCE, always(0.6), pass_mark=0.5).outcome == "delivered"
    with pytest.raises(InputError, match=r"pass_mark must be in \(0, 1\], got 70; use 0.7"):
        gate("He has a dry cough.", SOURCE, always(0.6), pass_mark=70)


@pytest.mark.parametrize(
    "bad",
    [
        Unread("truncated", "cut"),
        Unread("transport", "gone"),
        Abstained("ABSTAIN"),
        math.nan,
        math.inf,
        -0.1,
        1.1,
        True,
    ],
)
def test_a_rating_that_is_none_is_no_number_and_leaves_the_answer_undecided(bad: Rating) -> None:
    found = gate("He has a dry cough. He has no fever.", SOURCE, always(bad))
    assert (found.outcome, found.text, found.score) == ("undecided", None, None)
    assert found.sentences[0].standing == "undecided"
    assert found.sentences[0].rating is None
    assert len(found.reasons) == 1


def test_what_is_rejected_anyway_is_rejected_whatever_the_judge_fails_to_say() -> None:
    found = gate("He sleeps well. He has no cough.", SOURCE, always(Unread("empty", "no text")))
    assert (found.outcome, found.score) == ("rejected", None)


def test_an_empty_answer_is_refused() -> None:
    with pytest.raises(InputError, match="answer holds no sentence"):
        gate(" \n", SOURCE, never)


def test_a_bare_no_takes_what_it_denies_from_the_question() -> None:
    assert gate("No.", SOURCE, never, question="Has he had a fever?").outcome == "delivered"
    assert gate("No.", SOURCE, never, question="Has he had a cough?").outcome == "rejected"
    found = gate("No.", SOURCE, never, question="Does he have gout?")
    assert found.text == f"{NOT_DOCUMENTED}: gout."


def test_the_rest_of_a_restated_answer_stays_as_it_is() -> None:
    found = gate("FINDINGS\n- He has a dry cough.\n- No rash.\n", SOURCE, always(1.0))
    assert found.text == f"FINDINGS\n- He has a dry cough.\n- {NOT_DOCUMENTED}: rash.\n"


ANSWERS = st.lists(
    st.sampled_from(
        ["He has no fever.", "He has no rash.", "No cough.", "He has a dry cough.", "His mother has no gout.", "PLAN"]
    ),
    min_size=1,
    max_size=4,
)


@given(ANSWERS, st.text(alphabet=" \n", max_size=3), st.sampled_from([0.0, 0.69, 0.7, 1.0]))
def test_white_space_changes_no_outcome_and_scores_stay_in_range(answers: list[str], room: str, rating: float) -> None:
    plain = gate("\n".join(answers), SOURCE, always(rating))
    padded = gate(room + f"\n{room}".join(answers) + room, room + SOURCE + room, always(rating))
    assert (padded.outcome, padded.score) == (plain.outcome, plain.score)
    assert plain.score is None or 0 <= plain.score <= 1
    assert (plain.text is None) == (plain.outcome in ("rejected", "undecided"))


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_has_an_outcome_or_is_refused(answer: str, source: str) -> None:
    try:
        found = gate(answer, source, always(0.9))
    except InputError:
        return
    for each in found.sentences:
        assert answer[each.sentence.start : each.sentence.end] == each.sentence.text
        for span in each.spans:
            assert 0 <= span.start < span.end <= len(source)
