"""Withheld texts are known again wherever a run of them was copied to."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import SealError
from splits import Corpus, Example, Fact
from splits.withheld import WithheldTexts

NOTE = "The patient was seen on Tuesday. She reports a dry cough for three weeks, without fever or weight loss."
FACT = "No known drug allergies"
HELD = WithheldTexts([NOTE, FACT])


@pytest.mark.parametrize(
    "text",
    [
        NOTE,
        "They wrote: she REPORTS a dry cough, for three weeks -- and more",
        "allergies: no known drug allergies (asked)",
        json.dumps({"said": "She reports\na dry cough for\n\nthree weeks"}),
        json.dumps(json.dumps({"said": "She reports\na dry\tcough for \u201cthree\u201d weeks"})),
    ],
)
def test_a_run_of_it_is_known_again_whatever_case_punctuation_and_escapes(text: str) -> None:
    assert HELD.copied(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Check every line of the note, and say No where none of them has the fact that you were given.",
        "She reports a dry cough for three days",
        "known drug allergies",
    ],
)
def test_what_has_no_run_of_it_is_let_through(text: str) -> None:
    assert HELD.copied(text) is None


def test_how_much_was_copied_is_said_and_no_word_of_it() -> None:
    copied = HELD.copied("on Tuesday. She reports a dry cough for three weeks")
    assert copied is not None
    assert (copied.runs, copied.words) == (3, 8)
    assert "cough" not in repr(copied)


def test_a_text_too_short_to_tell_is_not_known_again() -> None:
    assert WithheldTexts(["dry cough today"]).copied("a dry cough today") is None


def test_every_text_of_a_corpus_is_withheld() -> None:
    words = "one two three four five six seven eight nine"
    texts = {name: f"{name} {words}" for name in ("source", "document", "remark", "fact", "evidence", "stated")}
    example = Example(
        "a",
        "g",
        "s",
        texts["source"],
        texts["document"],
        "clean",
        "clean",
        fact=texts["stated"],
        meta={"why": texts["remark"]},
    )
    fact = Fact("f", "g", texts["fact"], (texts["evidence"],), "critical", True)
    held = WithheldTexts.of(Corpus((example,), {"g": (fact,)}))
    for text in texts.values():
        assert held.copied(" ".join(text.split()[:8])) is not None, text


@given(st.lists(st.sampled_from("abcdefghij"), min_size=8, max_size=30), st.data())
def test_every_run_of_eight_words_of_a_text_is_known_again(words: list[str], data: st.DataObject) -> None:
    held = WithheldTexts([" ".join(words)])
    start = data.draw(st.integers(0, len(words) - 8))
    assert held.copied("zz " + " ".join(words[start : start + 8]) + " zz") is not None


def test_the_index_holds_no_text_and_is_not_handed_on() -> None:
    with pytest.raises(SealError, match="cannot be pickled"):
        pickle.dumps(HELD)
    with pytest.raises(SealError, match="cannot be pickled"):
        copy.deepcopy(HELD)
