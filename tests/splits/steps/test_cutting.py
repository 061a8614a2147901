"""Cutting a note: the steps put side by side are the note again, whatever it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splits import Corpus
from splits.steps import PRESETS, Granularity, cut, reassembled
from splits.steps.cutting import is_title

NOTE = "HISTORY\nCough for a week. No fever.\n\nPLAN\n- Rest.\n- Come back if worse.\n"

texts = st.text(st.sampled_from("AB ab.!?:-\n\t1#*\u2022\u00e9")) | st.text()
granularities = st.sampled_from([*PRESETS, "problem+sentence", "sentence+problem-complete", "problem-complete"])


@given(texts, granularities)
def test_steps_put_side_by_side_are_the_note(document: str, granularity: str) -> None:
    note = cut(document, Granularity.of(granularity))
    assert reassembled(note.steps) == document
    assert [step.number for step in note.steps] == list(range(1, len(note.steps) + 1))
    assert note.steps[-1].kind == "end"
    assert all(document[step.start : step.end] == step.raw for step in note.steps if step.raw)


@given(texts)
def test_problems_share_the_note_among_them_and_every_step_of_one_lies_in_it(document: str) -> None:
    note = cut(document)
    assert "".join(document[start:end] for start, end in note.spans) == (document if note.spans else "")
    for step in note.texts:
        if step.problem is not None:
            start, end = note.spans[step.problem - 1]
            assert start <= step.start < step.end <= end


def test_the_bundled_notes_are_cut_and_reassembled_at_every_granularity(consults: Corpus) -> None:
    for example in consults.examples[::7]:
        for granularity in PRESETS.values():
            assert reassembled(cut(example.document, granularity).steps) == example.document


def test_a_note_is_cut_into_problems_sentences_and_claims_of_completeness() -> None:
    steps = cut(NOTE).steps
    assert [(step.kind, step.text) for step in steps] == [
        ("problem", "HISTORY"),
        ("sentence", "Cough for a week."),
        ("sentence", "No fever."),
        ("problem-complete", ""),
        ("problem", "PLAN"),
        ("sentence", "- Rest."),
        ("sentence", "- Come back if worse."),
        ("problem-complete", ""),
        ("note-complete", ""),
        ("end", ""),
    ]
    assert steps[2].place == "sentence 2 of problem 1"
    assert steps[-1].id == "s10"


def test_a_coarser_granularity_gives_the_text_to_the_next_kind_that_there_is() -> None:
    assert [step.text for step in cut(NOTE, Granularity.of("sentence")).texts] == [
        "HISTORY\nCough for a week.",
        "No fever.",
        "PLAN\n- Rest.",
        "- Come back if worse.",
    ]
    assert [step.kind for step in cut(NOTE, Granularity.of("problem")).steps] == [
        *("problem", "problem-complete") * 2,
        "note-complete",
        "end",
    ]
    (whole,) = cut(NOTE, Granularity.of("note")).steps
    assert (whole.kind, whole.raw) == ("end", NOTE)


def test_paragraphs_are_problems_where_there_are_no_headings() -> None:
    note = cut("Cough for a week.\nNo fever.\n\nRest.")
    assert [step.problem for step in note.texts] == [1, 1, 2]


@pytest.mark.parametrize("document", ["", "  \n "])
def test_a_note_without_a_word_has_one_step_at_its_end(document: str) -> None:
    (step,) = cut(document).steps
    assert (step.kind, step.raw) == ("end", document)


@pytest.mark.parametrize(
    ("line", "after", "title"),
    [
        ("PLAN", "", True),
        ("Plan:", "", True),
        ("## Assessment", "", True),
        ("Problem 2: asthma", "", True),
        ("Hypertension.", "\u2022 Treatment: more lisinopril.", True),
        ("Hypertension.", "More lisinopril.", False),
        ("- Rest:", "", False),
        ("He says that all of it began a week or two ago:", "", False),
        ("", "", False),
    ],
)
def test_headings_are_told_from_sentences(line: str, after: str, title: bool) -> None:
    assert is_title(line, after) is title


def test_a_number_alone_begins_the_sentence_after_it() -> None:
    assert [step.text for step in cut("1. Aspirin 75 mg. Review in May.").texts] == [
        "1. Aspirin 75 mg.",
        "Review in May.",
    ]
