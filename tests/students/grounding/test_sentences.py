"""The splitting of texts into sentences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from students.grounding.sentences import split_sentences

TEXTS = st.text(alphabet=st.sampled_from("abcABC no. not! ?:;-*\n\t()'5é\u2019\u2028"), max_size=120)


@given(TEXTS)
def test_every_sentence_is_what_stands_at_its_place_and_places_follow_each_other(text: str) -> None:
    at = 0
    for sentence in split_sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text == sentence.text.strip() != ""
        assert at <= sentence.start < sentence.end
        at = sentence.end


@given(TEXTS, st.text(alphabet=" \n\t", max_size=5), st.text(alphabet=" \n\t", max_size=5))
def test_white_space_around_a_text_changes_no_sentence(text: str, before: str, after: str) -> None:
    plain = [sentence.text for sentence in split_sentences(text.strip())]
    assert [sentence.text for sentence in split_sentences(before + text.strip() + after)] == plain


def test_an_abbreviation_and_a_decimal_end_no_sentence() -> None:
    found = [sentence.text for sentence in split_sentences("Dr. Hale gave 2.5 mg at 3 p.m. No fever. Slept well.")]
    assert found == ["Dr. Hale gave 2.5 mg at 3 p.m.", "No fever.", "Slept well."]


def test_bullets_and_speakers_belong_to_no_sentence_and_are_known() -> None:
    text = "Doctor: Any cough?\nPatient: No.\nMum: He slept.\n- No rash\n2) No fever"
    found = split_sentences(text)
    assert [sentence.text for sentence in found] == ["Any cough?", "No.", "He slept.", "No rash", "No fever"]
    assert [sentence.speaker for sentence in found] == ["clinician", "patient", "informant", None, None]
    assert [sentence.question for sentence in found] == [True, False, False, False, False]


def test_a_heading_states_nothing_and_a_denial_in_capitals_is_no_heading() -> None:
    found = split_sentences("ALLERGIES\nNone known.\nNO FEVER\nPlan:\nRest.")
    assert [(sentence.text, sentence.is_heading) for sentence in found] == [
        ("ALLERGIES", True),
        ("None known.", False),
        ("NO FEVER", False),
        ("Plan:", True),
        ("Rest.", False),
    ]
    assert [sentence.heading for sentence in found if not sentence.is_heading] == ["ALLERGIES", "ALLERGIES", "Plan"]
