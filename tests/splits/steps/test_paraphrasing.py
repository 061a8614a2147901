"""Paraphrases: other words at the stated steps, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splits import load_bundled
from splits.steps import cut, paraphrase, step_difference
from splits.steps.paraphrasing import wordings

NOTES = [cut(example.document) for example in load_bundled("consults").examples if example.label == "clean"]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, len(NOTES) - 1), st.integers(0, 2**32), st.sampled_from([0.2, 0.5, 1.0]))
def test_only_the_stated_steps_are_in_other_words(place: int, seed: int, share: float) -> None:
    note = NOTES[place]
    found = paraphrase(note, share=share, rng=np.random.default_rng(seed))
    if found is None:
        assert share == 1.0 or not any(wordings(step.raw) for step in note.texts if step.kind == "sentence")
        return
    made = cut(found.document)
    difference = step_difference(made, note)
    assert not difference.inserted
    assert not difference.removed
    assert [mine.number for mine, _ in difference.altered] == [note.texts[each].number for each in found.places]
    for each in found.places:
        assert made.texts[each].raw in wordings(note.texts[each].raw)


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("Aspirin 75 mg twice daily.", "Aspirin 75 mg twice a day."),
        ("Aspirin 75 mg twice daily.", "Aspirin 75 milligrams twice daily."),
        ("Cough for three weeks.", "Cough for 3 weeks."),
        ("Cough for 3 weeks.", "Cough for three weeks."),
        ("Denies chest pain.", "Does not report chest pain."),
        ("A&E if worse.", "the emergency department if worse."),
    ],
)
def test_a_sentence_has_other_words(sentence: str, said: str) -> None:
    assert said in wordings(sentence)


@pytest.mark.parametrize("sentence", ["Worried about cancer.", "Ratio 3/6.", "The 3rd of May.", "Room 3."])
def test_words_that_may_mean_something_else_are_kept(sentence: str) -> None:
    assert wordings(sentence) == ()


def test_a_note_without_other_words_has_no_paraphrase() -> None:
    assert paraphrase(cut("Seen today."), rng=np.random.default_rng(0)) is None
