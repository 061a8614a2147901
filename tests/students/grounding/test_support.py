"""Where a source denies what an answer denies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from students.grounding.claims import claims_of
from students.grounding.support import Finding, documented, findings_of, refuted


def found(answer: str, source: str) -> Finding:
    (claims,) = claims_of(answer)
    (denial,) = claims.denials
    (finding,) = findings_of(denial, source)
    return finding


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("He has no fever.", "Afebrile."),
        ("No chest pain.", "Denies rash, chest pain or fever."),
        ("He does not smoke.", "A non-smoker."),
        ("She is not short of breath.", "No dyspnoea."),
        ("No penicillin allergy.", "No known allergies."),
        ("No swelling of the left knee.", "The left knee is not swollen."),
        ("No swelling of the left knee.", "Left knee: no swelling."),
        ("No swelling of the left knee.", "No swelling of either knee."),
        ("His mother has no asthma.", "No family history of asthma."),
        ("She no longer takes warfarin.", "Warfarin stopped in May."),
        ("No trouble swallowing.", "Doctor: Any trouble swallowing?\nPatient: No, none."),
        ("Her face is not droopy.", "Face not droopy."),
        ("There is possibly no fracture.", "Probably no fracture."),
    ],
)
def test_a_denial_of_the_same_thing_supports(answer: str, source: str) -> None:
    finding = found(answer, source)
    assert finding.standing == "denied"
    assert finding.span is not None
    assert finding.span.of(source).strip() in source


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("No chest pain.", "No back pain."),
        ("No pain.", "No severe pain."),
        ("No chest pain.", "No pain in the chest clinic's letter."),
        ("No penicillin allergy.", "No penicillin was given."),
        ("No swelling of the left knee.", "No swelling of the right knee."),
        ("No swelling of the left knee.", "No swelling of the knee."),
        ("He does not take metformin 500 mg.", "Not taking metformin 850 mg."),
        ("He has no asthma.", "His mother has no asthma."),
        ("His father has no asthma.", "His mother has no asthma."),
        ("No family history of asthma.", "His mother has no asthma."),
        ("He has never smoked.", "He does not smoke."),
        ("No rash.", "Return if no rash."),
        ("No rash.", "Rash not assessed."),
        ("No redness of the ear.", "Ankle swollen, no redness."),
        ("No stroke.", "Not taking aspirin for the stroke."),
        ("No wheeze.", "Doctor: No wheeze?"),
    ],
)
def test_a_denial_of_something_else_does_not(answer: str, source: str) -> None:
    assert found(answer, source).standing != "denied"


@pytest.mark.parametrize(
    ("answer", "source", "standing"),
    [
        ("No cough.", "Dry cough for a week.", "affirmed"),
        ("No cough.", "No change in the cough.", "affirmed"),
        ("No left knee pain.", "Pain in the left knee.", "affirmed"),
        ("No left knee pain.", "Pain in the right knee.", "silent"),
        ("No asthma.", "His mother has asthma.", "silent"),
        ("No family history of asthma.", "His mother has asthma.", "affirmed"),
        ("No pneumonia.", "Pneumonia cannot be excluded.", "open"),
        ("No pneumonia.", "Possible pneumonia.", "open"),
        ("No pneumonia.", "Probably no pneumonia.", "open"),
        ("No allergies.", "No allergies except penicillin.", "affirmed"),
        ("No fracture.", "Fracture in 2015.", "affirmed of the past"),
        ("He never smoked.", "He stopped smoking.", "affirmed of the past"),
        ("No cough.", "No cough. Cough again now.", "both"),
        ("No cough.", "Cough syrup was bought.", "silent"),
        ("No stroke.", "At risk of stroke.", "silent"),
    ],
)
def test_what_is_not_denied_is_affirmed_open_or_silent(answer: str, source: str, standing: str) -> None:
    assert found(answer, source).standing == standing


@pytest.mark.parametrize(
    ("text", "source", "is_refuted"),
    [
        ("He has a fever.", "No fever.", True),
        ("He takes aspirin.", "He stopped aspirin.", True),
        ("The right ankle is swollen.", "The right ankle is not swollen.", True),
        ("The left ankle is swollen.", "The right ankle is not swollen.", False),
        ("He has a fever.", "No fever on Monday. Fever today.", False),
        ("He may have a fever.", "No fever.", False),
        ("His mother has asthma.", "No asthma.", False),
    ],
)
def test_what_the_source_denies_in_so_many_words_is_refuted(text: str, source: str, is_refuted: bool) -> None:
    assert (refuted(text, source) is not None) == is_refuted


def test_what_is_said_to_be_undocumented_is_looked_for_in_affirmations_and_denials() -> None:
    (claims,) = claims_of("Smoking is not documented.")
    (silence,) = claims.silences
    assert documented(silence, "He does not smoke.") is not None
    assert documented(silence, "He smokes.") is not None
    assert documented(silence, "Smoking not recorded.") is None
    assert documented(silence, "His wife smokes.") is None


UNRELATED = st.sampled_from(
    [
        "He walks the dog every day.",
        "Takes ramipril 5 mg.",
        "Lives in a flat.",
        "His sister plays the violin.",
        "Blood pressure 130 over 80.",
        "Seen with his wife.",
        "He has a sore thumb.",
    ]
)
SOURCES = st.sampled_from(["", "No rash.", "Denies fever or rash.", "Slept well.", "No back pain, took paracetamol."])


@given(SOURCES, st.lists(UNRELATED, max_size=3), st.sampled_from(["No chest pain.", "No rash.", "He has no gout."]))
def test_an_unrelated_affirmation_never_makes_a_denial_supported(source: str, more: list[str], answer: str) -> None:
    plain = found(answer, source).standing
    for extended in (" ".join([source, *more]), " ".join([*more, source])):
        assert found(answer, extended).standing == plain


@given(SOURCES, st.text(alphabet=" \n\t", max_size=4), st.text(alphabet=" \n\t", max_size=4))
def test_white_space_around_answer_and_source_changes_nothing(source: str, before: str, after: str) -> None:
    plain = found("He has no rash.", source).standing
    assert found(f"{before}He has no rash.{after}", f"{after}{source}{before}").standing == plain
