"""The gate as a student."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lineage.errors import PlanError
from splits.corpus import Corpus, Example
from students.grounding.student import MOST_SENTENCES, NAMES, GroundingGate, ratings_of
from students.student import CallsAtMost, student_hash
from students.testing import said, yes_no
from students.transport import CallRequest, CallResult

MODEL = {"name": "m"}
GATE = GroundingGate(model=MODEL)
SOURCE = "He has a dry cough. Denies fever."


def corpus(*answers: str) -> Corpus:
    made = (Example(f"a{number}", "g", "s", SOURCE, text, "clean", "clean") for number, text in enumerate(answers))
    return Corpus(tuple(made), {})


def rated(p: float) -> Callable[[CallRequest], CallResult]:
    return lambda request: yes_no(p)


def test_only_what_is_affirmed_is_put_to_the_model(sit: Any) -> None:
    found = sit(GATE, corpus("He has a dry cough but no fever. He has no rash."), rated(0.9))
    assert [request.inputs["statement"] for request in found.asked] == ["He has a dry cough."]
    (judgement,) = found.judgements
    assert (judgement.score, judgement.flags) == (0.9, ())
    assert [(verdict.fact, verdict.p_yes, verdict.quote) for verdict in judgement.facts] == [
        ("statement 1", 0.9, "He has a dry cough."),
        ("denial 1.1", 1.0, "Denies fever"),
    ]
    assert ratings_of(judgement.facts) == {"He has a dry cough.": 0.9}
    assert judgement.parts["restated"] == 1


def test_a_contradicted_denial_scores_nothing_and_is_flagged_without_a_call(sit: Any) -> None:
    found = sit(GATE, corpus("He has no cough."), rated(0.9))
    assert found.asked == []
    (judgement,) = found.judgements
    assert (judgement.status, judgement.score, judgement.flags) == ("scored", 0.0, ("least support < 0.7",))


def test_what_is_restated_altogether_abstains(sit: Any) -> None:
    (judgement,) = sit(GATE, corpus("He has no rash."), rated(0.9)).judgements
    assert (judgement.status, judgement.score) == ("abstained", None)
    assert "no claim is left to score" in str(judgement.reason)


def test_a_document_without_a_sentence_or_with_too_many_fails(sit: Any) -> None:
    many = " ".join("He has a dry cough." for _ in range(MOST_SENTENCES + 1))
    found = sit(GATE, corpus("...", many), rated(0.9))
    assert [judgement.status for judgement in found.judgements] == ["failed", "failed"]
    assert found.asked == []


def test_the_whole_answer_is_one_call(sit: Any) -> None:
    whole = replace(GATE, per="answer")
    found = sit(whole, corpus("He has a dry cough. He has no fever."), rated(0.4))
    assert [request.inputs["statement"] for request in found.asked] == ["He has a dry cough. He has no fever."]
    (judgement,) = found.judgements
    assert (judgement.score, judgement.flags) == (0.4, ("least support < 0.7",))


def test_a_score_in_words_is_a_share_of_ten(sit: Any) -> None:
    scored = replace(GATE, answer="score")
    (judgement,) = sit(scored, corpus("He has a dry cough."), lambda request: said("Score: 8")).judgements
    assert judgement.score == 0.8


def test_names_and_hashes_are_of_each_design_and_its_pass_mark() -> None:
    made = [
        GroundingGate(model=MODEL, answer=answer, per=per)
        for per in ("sentence", "answer")
        for answer in ("probability", "score")
    ]
    assert tuple(student.name for student in made) == NAMES
    assert len({student_hash(student) for student in [*made, replace(GATE, pass_mark=0.5)]}) == 5
    assert made[2].calls_at_most(0) == CallsAtMost(1)
    assert GATE.calls_at_most(0) == CallsAtMost(MOST_SENTENCES)


@pytest.mark.parametrize("change", [{"pass_mark": 0.0}, {"pass_mark": 7.0}, {"answer": "grade"}, {"per": "word"}])
def test_a_setting_out_of_range_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(PlanError, match="must be"):
        replace(GATE, **change)
