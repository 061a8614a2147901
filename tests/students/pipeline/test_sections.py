"""Sections of a document."""

from __future__ import annotations

from splits.corpus import Corpus
from students.pipeline import sections_of


def test_capitals_colons_and_markdown_make_sections() -> None:
    document = "Seen today.\nHISTORY\nCough.\nPlan:\n- Rest.\n## Advice\nCall back.\n**Follow-up**\nOne week."
    assert sections_of(document) == (
        "Seen today.",
        "HISTORY\nCough.",
        "Plan:\n- Rest.",
        "## Advice\nCall back.",
        "**Follow-up**\nOne week.",
    )


def test_a_document_without_headings_is_one_section() -> None:
    assert sections_of("Cough for a week.\nNo fever.") == ("Cough for a week.\nNo fever.",)


def test_a_heading_with_nothing_below_it_is_no_section() -> None:
    assert sections_of("HISTORY\nPLAN\nRest.") == ("PLAN\nRest.",)
    assert sections_of("HISTORY") == ("HISTORY",)


def test_what_is_beyond_the_most_sections_stays_in_the_last() -> None:
    document = "\n".join(f"HEADING {letter}\ntext {letter}" for letter in "ABCD")
    assert len(sections_of(document, most=3)) == 2  # the empty one before the first heading is none
    assert sections_of(document, most=3)[-1].endswith("text D")


def test_no_word_of_a_bundled_note_is_lost(consults: Corpus) -> None:
    for example in consults.examples[:40]:
        joined = "\n".join(sections_of(example.document))
        assert joined.split() == example.document.split()
