"""What is known of the examples of corpora that nobody built for steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from splits import Corpus, Example, import_corpus
from splits.steps import Granularity, cut, flaw_by_difference, flaw_of, label_notes
from splits.steps.known import spans_of

CORPORA = Path("/work/shared/corpora")
FINE = Granularity.of("fine")


def test_the_twins_of_the_bundled_corpus_say_where_their_flaws_are(consults: Corpus) -> None:
    for labelled in label_notes(consults.examples, consults, FINE):
        example = labelled.example
        wrong = [s.kind for s, label in zip(labelled.note.steps, labelled.labels, strict=True) if label == "-"]
        if example.label == "clean":
            assert wrong == []
        elif example.label == "commission":
            assert wrong == ["sentence", "end"], example.id
        elif example.trace == "partial-strong":
            assert wrong == [], "the fact is still in the note"
        else:
            assert set(wrong) == {"problem-complete", "note-complete", "end"}, example.id


def test_a_shortened_sentence_is_right_and_its_problem_lacks_something() -> None:
    clean, note = "PLAN\nRest, and fluids.\nReview.", "PLAN\nRest.\nReview."
    flaw = flaw_by_difference(note, clean, error="incompleteness")
    assert (flaw.wrong, flaw.lacking, flaw.complete) == ((), (5,), False)


def test_two_different_texts_are_known_to_differ_and_no_more() -> None:
    flaw = flaw_by_difference("All of it is new. Every word.", "Cough. Fever. Rest.", error="hallucination")
    assert (flaw.located, flaw.problems, flaw.complete, flaw.wrong) == (False, False, None, ())


def test_a_marked_sentence_and_judged_statements_are_found_white_space_aside() -> None:
    marked = Example("e", "g", "", "", "It is well.\nThe cause is  E. coli. Rest.", "commission", "change")
    corpus = Corpus((replace(marked, meta={"error": "The cause is E. coli."}),), {})
    flaw = flaw_of(corpus.examples[0], corpus)
    assert flaw is not None
    assert [marked.document[start:end] for start, end in flaw.wrong] == ["The cause is  E. coli."]
    judged = replace(marked, kind="add", meta={"incorrect": ["Rest.", "nowhere"]})
    found = flaw_of(judged, Corpus((judged,), {}))
    assert found is not None
    assert (found.error, found.complete, found.problems, len(found.wrong)) == ("hallucination", None, False, 1)
    assert spans_of("", "text") == spans_of("absent", "text") == ()


def test_a_flawed_note_without_twin_or_mark_is_known_to_be_flawed_alone() -> None:
    example = Example("e", "g", "", "", "Rest. Fluids.", "omission", "omit")
    (labelled,) = label_notes([example], Corpus((example,), {}), FINE)
    places = dict(zip((step.place for step in labelled.note.steps), labelled.labels, strict=True))
    assert places["end of the note"] == places["completeness of the note"] == "-"
    assert places["sentence 1 of problem 1"] is None


@pytest.mark.parametrize(
    ("name", "located", "at_least"), [("medec", 630, 630), ("primock57", 18, 18), ("mts-dialog", 2, 246)]
)
def test_flaws_of_public_corpora_are_read(name: str, located: int, at_least: int) -> None:
    if not (CORPORA / name).is_dir():
        pytest.skip(f"the public corpus is not beside the project ({CORPORA / name})")
    corpus = import_corpus(name, CORPORA / name).corpus
    flawed = [example for example in corpus.examples if example.label != "clean"]
    assert len(flawed) >= at_least
    found = [(example, flaw_of(example, corpus)) for example in flawed]
    known = [(example, flaw) for example, flaw in found if flaw is not None and flaw.located]
    assert len(known) == located
    for example, flaw in known:
        assert flaw.wrong or flaw.lacking, example.id
        note = cut(example.document)
        assert all(any(s.start < end and start < s.end for s in note.texts) for start, end in flaw.wrong)
