"""Injected errors: a flawed note differs from its clean one at the labelled step and nowhere else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splits import Corpus, import_corpus, load_bundled
from splits.construct.pairs import is_subsequence
from splits.construct.quality import content_words
from splits.steps import ERRORS, WRONG, ErrorKind, SteppedNote, cut, inject, labels_of, step_difference
from splits.steps.alterations import alterations
from splits.steps.injecting import DONOR_OVERLAP, EMPTY, Injection

CORPUS = load_bundled("consults")
CLEAN = [examples for examples in CORPUS.examples if examples.label == "clean"]
NOTES = {example.id: cut(example.document) for example in CLEAN}
seeds = st.integers(0, 2**32)
places = st.integers(0, len(CLEAN) - 1)


def injected(place: int, error: ErrorKind, seed: int) -> tuple[SteppedNote, SteppedNote, Injection]:
    clean = CLEAN[place]
    other = NOTES[CLEAN[(place + 1) % len(CLEAN)].id]
    donors = [step.text for step in other.texts if step.kind == "sentence"]
    found = inject(NOTES[clean.id], error, source=clean.source, donors=donors, rng=np.random.default_rng(seed))
    assert found is not None, "every bundled note takes every kind"
    return NOTES[clean.id], cut(found.document), found


@settings(max_examples=40, deadline=None)
@given(places, st.sampled_from([error for error in ERRORS if error != "incompleteness"]), seeds)
def test_a_wrong_statement_is_the_one_step_in_which_the_notes_differ(place: int, error: ErrorKind, seed: int) -> None:
    clean, note, found = injected(place, error, seed)
    difference = step_difference(note, clean)
    assert difference.count == 1
    differs = {step.number for step in (*(mine for mine, _ in difference.altered), *difference.inserted)}
    wrong = {
        step.number
        for step, label in zip(note.steps, labels_of(note, found.flaw), strict=True)
        if label == WRONG and step.raw
    }
    assert wrong == differs
    assert bool(difference.altered) == (error == "factual-inaccuracy")


@settings(max_examples=25, deadline=None)
@given(places, seeds)
def test_what_is_missing_was_said_by_the_source_and_is_said_by_nothing_that_is_left(place: int, seed: int) -> None:
    clean, note, found = injected(place, "incompleteness", seed)
    assert is_subsequence(found.document, clean.document)
    difference = step_difference(note, clean)
    assert not difference.altered
    assert not difference.inserted
    said = content_words(CLEAN[place].source)
    for step in difference.removed:
        words = content_words(step.text)
        if step.kind == "sentence":
            assert len(words & said) >= 0.5 * len(words)
            assert all(len(words & content_words(left.text)) < 0.75 * len(words) for left in note.texts)
    wrong = [s.kind for s, label in zip(note.steps, labels_of(note, found.flaw), strict=True) if label == WRONG]
    whole = found.rule == "problem removed"
    assert wrong == (["note-complete", "end"] if whole else ["problem-complete", "note-complete", "end"])


@settings(max_examples=15, deadline=None)
@given(places, seeds)
def test_a_foreign_sentence_shares_few_words_with_source_and_note(place: int, seed: int) -> None:
    clean, note, _ = injected(place, "hallucination", seed)
    (step,) = step_difference(note, clean).inserted
    words = content_words(step.text)
    known = content_words(f"{CLEAN[place].source}\n{clean.document}")
    assert len(words & known) <= DONOR_OVERLAP * len(words)


def test_equal_seeds_give_equal_notes_and_others_give_others() -> None:
    texts = [injected(3, "factual-inaccuracy", seed)[2].document for seed in range(12)]
    assert texts == [injected(3, "factual-inaccuracy", seed)[2].document for seed in range(12)]
    assert len(set(texts)) > 6


def test_an_idle_sentence_is_empty_or_stands_there_already() -> None:
    for seed in range(10):
        clean, note, found = injected(5, "unhelpfulness", seed)
        (step,) = step_difference(note, clean).inserted
        text = step.text.removeprefix("- ")
        earlier = [other.text.removeprefix("- ") for other in note.texts if other.number < step.number]
        assert text in (EMPTY if found.rule == "empty sentence" else earlier)


def test_where_no_rule_applies_nothing_is_made() -> None:
    note = cut("Seen today.")
    rng = np.random.default_rng(0)
    assert inject(note, "incompleteness", source="", rng=rng) is None, "a problem keeps a sentence"
    assert inject(note, "hallucination", source="", donors=[], rng=rng) is None
    assert inject(note, "factual-inaccuracy", source="", rng=rng) is None


@pytest.mark.parametrize(
    ("sentence", "changed"),
    [
        ("Pain in the left knee.", "Pain in the right knee."),
        ("No fever.", "Marked fever."),
        ("Denies chest pain.", "Reports chest pain."),
        ("Chest is not clear.", "Chest is clear."),
        ("Temperature 38.7.", "Temperature 40.7."),
        ("Aspirin 75 mg.", "Aspirin 150 mg."),
        ("Cough for three weeks.", "Cough for six weeks."),
        ("Cough for three weeks.", "Cough for three months."),
    ],
)
def test_a_sentence_is_made_to_say_something_else(sentence: str, changed: str) -> None:
    assert changed in [alteration.of(sentence) for alteration in alterations(sentence)]


@pytest.mark.parametrize("sentence", ["He is well.", "One of them called.", "No longer ill.", "X-ray on 12/05/2024."])
def test_what_would_say_the_same_or_nothing_is_left_alone(sentence: str) -> None:
    assert alterations(sentence) == ()


@given(st.text(st.sampled_from("no left 3.5 daily,not is two weeks")))
def test_an_alteration_replaces_what_it_says_and_nothing_else(sentence: str) -> None:
    for found in alterations(sentence):
        made = found.of(sentence)
        assert made != sentence
        assert made.startswith(sentence[: found.start])
        assert made.endswith(sentence[found.end :])


def test_the_number_of_a_list_item_is_no_fact(consults: Corpus) -> None:
    del consults
    note = cut("PLAN\n1. Rest today.\n2. Fluids.")
    for seed in range(20):
        found = inject(note, "factual-inaccuracy", source="", rng=np.random.default_rng(seed))
        assert found is None or found.document.splitlines()[1].startswith("1. ")


@pytest.mark.parametrize("name", ["aci-bench", "primock57"])
def test_notes_that_nobody_wrote_for_this_take_errors_at_one_step_too(name: str) -> None:
    folder = Path("/work/shared/corpora") / name
    if not folder.is_dir():
        pytest.skip(f"the public corpus is not beside the project ({folder})")
    clean = [example for example in import_corpus(name, folder).corpus.examples if example.label == "clean"][:4]
    notes = [cut(example.document) for example in clean]
    for place, (example, note) in enumerate(zip(clean, notes, strict=True)):
        other = notes[place - 1]
        donors = [step.text for step in other.texts if step.kind == "sentence"][:20]
        for error in ERRORS:
            found = inject(note, error, source=example.source, donors=donors, rng=np.random.default_rng(place))
            assert found is not None, (example.id, error)
            difference = step_difference(cut(found.document), note)
            if error == "incompleteness":
                assert difference.removed
                assert difference.count == len(difference.removed)
            else:
                assert (difference.count, len(difference.removed)) == (1, 0)
