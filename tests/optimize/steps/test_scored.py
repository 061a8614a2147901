"""Judgements beside their labels: what is matched, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lineage.errors import InputError
from optimize.steps import ScoredSteps, scored_steps
from tests.optimize.steps.conftest import documents, judgements_of, perfect, settings_of

MakeScored = Callable[..., ScoredSteps]


def test_a_failed_judgement_is_a_reason_and_never_a_number(scored: MakeScored) -> None:
    found = scored(perfect, failed=["g00.added", "g01.clean"])
    assert len(found.notes) == 14
    assert found.reasons == {"truncated": 2}
    assert found.unscored["g00.added", 0] == ("g00", "truncated")
    assert found.by_key.get(("g01.clean", 0)) is None
    assert len(found.planned) == 16


def test_a_part_keeps_clean_notes_and_some_of_the_flawed(scored: MakeScored) -> None:
    part = scored(perfect, failed=["g00.added"]).part("added", lambda note: note.error == "hallucination")
    assert {note.labelled.error for note in part.notes} == {None, "hallucination"}
    assert set(part.unscored) == {("g00.added", 0)}
    assert repr(part) == "ScoredSteps('added', 7 notes)"


def test_the_scores_are_those_of_the_stored_steps(scored: MakeScored) -> None:
    judged = {judgement.example: judgement for judgement in judgements_of(documents(1), perfect)}
    for note in scored(perfect, groups=1).notes:
        assert note.scores["sum"] == judged[note.id].score
        assert note.scores["mean"] == judged[note.id].parts["mean"]


def test_what_was_judged_by_another_student_or_of_another_corpus_is_refused(tmp_path: Path) -> None:
    corpus = documents(1)
    judged = judgements_of(corpus, perfect)
    with pytest.raises(InputError, match="'per-fact' judges no steps"):
        scored_steps("x", corpus, judged, settings_of(student="per-fact"))
    with pytest.raises(InputError, match=r"'g00.added' was judged and is not in the corpus"):
        scored_steps("x", replace(corpus, examples=corpus.examples[:2]), judged, settings_of())
    with pytest.raises(InputError, match="are not those that were judged"):
        scored_steps("x", corpus, judged, settings_of(granularity="problem"))
