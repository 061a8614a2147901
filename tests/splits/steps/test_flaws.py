"""Flaws and the labels that follow from them, at any granularity."""

from __future__ import annotations

import pytest

from lineage.errors import CorpusError
from splits.steps import RIGHT, WRONG, Flaw, Granularity, cut, first_wrong, labels_of

NOTE = "HISTORY\nCough for a week. No fever.\nPLAN\nRest. Come back if worse."
SENTENCE = (NOTE.index("No fever"), NOTE.index("PLAN"))


def labels(flaw: Flaw | None, granularity: str = "fine") -> dict[str, str | None]:
    note = cut(NOTE, Granularity.of(granularity))
    return {step.place: label for step, label in zip(note.steps, labels_of(note, flaw), strict=True)}


def test_every_step_of_a_clean_note_is_right() -> None:
    assert set(labels(None).values()) == {RIGHT}


def test_a_changed_sentence_is_wrong_and_completeness_beside_it_is_not_labelled() -> None:
    found = labels(Flaw("factual-inaccuracy", wrong=(SENTENCE,)))
    assert [place for place, label in found.items() if label == WRONG] == [
        "sentence 2 of problem 1",
        "end of the note",
    ]
    assert [place for place, label in found.items() if label is None] == [
        "completeness of problem 1",
        "completeness of the note",
    ]


def test_a_foreign_sentence_leaves_the_note_complete() -> None:
    found = labels(Flaw("hallucination", wrong=(SENTENCE,)))
    assert found["completeness of problem 1"] == found["completeness of the note"] == RIGHT


def test_what_is_missing_is_missed_in_its_problem_in_the_note_and_at_the_end() -> None:
    found = labels(Flaw("incompleteness", lacking=(NOTE.index("PLAN"),), complete=False))
    assert [place for place, label in found.items() if label == WRONG] == [
        "completeness of problem 2",
        "completeness of the note",
        "end of the note",
    ]


def test_the_label_goes_with_the_text_to_a_coarser_step() -> None:
    flaw = Flaw("hallucination", wrong=(SENTENCE,))
    assert labels(flaw, "problem")["problem 1"] == WRONG
    assert labels(flaw, "problem")["problem 2"] == RIGHT
    assert labels(flaw, "note") == {"end of the note": WRONG}


def test_what_is_not_known_is_not_labelled() -> None:
    found = labels(Flaw("hallucination", complete=None, problems=False, located=False))
    assert found.pop("end of the note") == WRONG
    assert set(found.values()) == {None}
    survives = labels(Flaw("incompleteness", complete=None, problems=False))
    assert survives["end of the note"] is None
    assert survives["sentence 1 of problem 1"] == RIGHT


def test_white_space_of_a_wrong_span_makes_no_step_wrong() -> None:
    at = NOTE.index("PLAN")
    found = labels(Flaw("hallucination", wrong=((at - 1, at),)))
    assert found["sentence 2 of problem 1"] == RIGHT


def test_the_first_wrong_step_is_the_first_that_is_known_to_be() -> None:
    assert first_wrong((None, RIGHT, WRONG, WRONG)) == 2
    assert first_wrong((RIGHT, None)) is None


def test_a_flaw_is_read_back_and_a_damaged_one_is_refused_with_its_place() -> None:
    flaw = Flaw("incompleteness", wrong=((1, 2),), lacking=(3,), complete=None, problems=False, located=False)
    assert Flaw.from_row(flaw.row(), where="x") == flaw
    with pytest.raises(CorpusError, match=r"x: meta.steps must hold a flaw"):
        Flaw.from_row({"error": "hallucination"}, where="x")
    with pytest.raises(CorpusError, match="must be one of factual-inaccuracy"):
        Flaw.from_row(flaw.row() | {"error": "typo"}, where="x")
