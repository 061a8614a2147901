"""What clauses deny, of whom, and what only looks as if it were denied."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from students.grounding.clauses import read_clauses
from students.grounding.negation import WINDOW, negations_of

WORDS = "no not denies without pain fever rash but and or , . ; he she mother left right knee has is 5 mg never except"
TEXTS = st.lists(st.sampled_from(WORDS.split()), max_size=24).map(" ".join)


def denied(text: str) -> list[set[str]]:
    """Stems of everything that a text denies."""
    return [
        set(item.words | item.sides | item.doses)
        for clause in read_clauses(text)
        for negation in negations_of(clause)
        if negation.denies and negation.cue.kind != "ceased"
        for item in negation.items
    ]


def undocumented(text: str) -> list[set[str]]:
    return [
        set(item.words)
        for clause in read_clauses(text)
        for negation in negations_of(clause)
        if not negation.denies
        for item in negation.items
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She denies fever.", [{"fever"}]),
        ("No evidence of pneumonia.", [{"pneumonia"}]),
        ("Admitted without fever.", [{"fever"}]),
        ("He does not smoke.", [{"smoke"}]),
        ("He doesn't smoke.", [{"smoke"}]),
        ("Rash: nil.", [{"rash"}]),
        ("Negative for pneumonia.", [{"pneumonia"}]),
        ("Pneumonia was ruled out.", [{"pneumonia"}]),
        ("Fever absent.", [{"fever"}]),
        ("Chest pain was denied.", [{"chest", "pain"}]),
        ("Troponin negative.", [{"troponin"}]),
        ("She is afebrile.", [{"fever"}]),
        ("The abdomen is non-tender.", [{"tender"}]),
        ("NKDA.", [{"allergi"}]),
        ("ALLERGIES\nNone known.", [{"allergi"}]),
        ("Doctor: Any rash?\nPatient: No.", [{"rash"}]),
        ("The left knee is not swollen.", [{"left", "knee", "swell"}]),
        ("He has chest pain that does not radiate.", [{"chest", "pain", "radiat"}]),
        ("Not taking metformin 500 mg.", [{"metformin", "500mg"}]),
        ("He never smoked and has no rash.", [{"smoke"}, {"rash"}]),
        ("Neither fever nor rash.", [{"fever"}, {"rash"}]),
    ],
)
def test_a_cue_denies_what_is_in_its_scope(text: str, expected: list[set[str]]) -> None:
    assert denied(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Denies fever, rash or chest pain.", [{"fever"}, {"rash"}, {"chest", "pain"}]),
        ("No pain in the chest or back.", [{"chest", "pain"}, {"back", "pain"}]),
        ("No chest or back pain.", [{"chest", "pain"}, {"back", "pain"}]),
        ("No fever and no rash.", [{"fever"}, {"rash"}]),
    ],
)
def test_each_item_of_a_list_is_denied_by_itself(text: str, expected: list[set[str]]) -> None:
    assert denied(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "No fever but a rash.",
        "No fever, however a rash was seen.",
        "No fever, he has a rash.",
        "No fever; rash on the arm.",
        "No fever and there is a rash.",
        "No fever, took a photograph of the rash.",
        "No fever although the rash is worse.",
    ],
)
def test_a_clause_ends_the_scope(text: str) -> None:
    assert denied(text) == [{"fever"}]


@pytest.mark.parametrize(
    "text",
    [
        "Not only a fever.",
        "No change in the cough.",
        "No increase in pain.",
        "Pneumonia cannot be excluded.",
        "Pneumonia can't be ruled out.",
        "No doubt he has gout.",
        "Gram negative rods.",
        "The fever has not settled.",
        "Not sure whether there is a rash.",
        "Not all of the rash is gone.",
    ],
)
def test_a_pseudo_negation_denies_nothing(text: str) -> None:
    assert denied(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Smoking is not documented.", [{"smoke"}]),
        ("There is no mention of asthma.", [{"asthma"}]),
        ("The note does not mention gout.", [{"gout"}]),
        ("Alcohol intake unknown.", [{"alcohol", "intak"}]),
    ],
)
def test_what_is_said_to_be_undocumented_is_not_denied(text: str, expected: list[set[str]]) -> None:
    assert denied(text) == []
    assert undocumented(text) == expected


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("His mother has no asthma.", "mother"),
        ("No asthma in his mother.", "mother"),
        ("No family history of asthma.", "family"),
        ("FAMILY HISTORY\nNo asthma.", "family"),
        ("Neither of his brothers had a stroke.", "brother"),
        ("Her husband does not smoke.", "husband"),
        ("Mother says he has no fever.", "patient"),
        ("Lives with his mother and has no fever.", "patient"),
        ("Her mother had a stroke but he has no fever.", "patient"),
        ("His mother had a stroke, and she has no asthma.", "unclear"),
        ("Patient: My dad never had gout.", "father"),
        ("Doctor: I don't see a rash.", "clinician"),
    ],
)
def test_the_family_and_others_are_told_from_the_patient(text: str, subject: str) -> None:
    found = [negation for clause in read_clauses(text) for negation in negations_of(clause)]
    assert str(found[-1].clause.subject) == subject


def test_the_window_bounds_a_scope() -> None:
    filler = " ".join(f"word{chr(97 + number)}" for number in range(WINDOW))
    (items,) = denied(f"No {filler} rash.")
    assert "rash" not in items
    assert len(items) == WINDOW


def test_a_condition_and_a_question_are_marked() -> None:
    (first, second) = read_clauses("Return if the pain is not better.")
    assert (first.conditional, second.conditional) == (False, True)
    assert read_clauses("No fever?")[0].sentence.question


@given(TEXTS)
def test_spans_and_items_lie_within_the_text(text: str) -> None:
    for clause in read_clauses(text):
        assert 0 <= clause.start < clause.end <= len(text)
        for negation in negations_of(clause):
            assert 0 <= negation.start < negation.end <= len(text)
            for item in negation.items:
                assert item.words | item.sides | item.doses
                assert 0 <= item.start < item.end <= len(text)


@given(TEXTS)
def test_a_text_is_read_the_same_way_in_capitals(text: str) -> None:
    assert denied(f"{text} now.") == denied(f"{text.upper()} now.")
