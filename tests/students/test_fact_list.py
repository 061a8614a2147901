"""The control of the per-fact designs: one score for the document, with the facts in the prompt."""

from __future__ import annotations

import pytest

from lineage.errors import PlanError
from lineage.records import Usage
from splits.corpus import Example, Fact
from students.criterion import CriterionJudge
from students.fact_list import FactListScorer
from students.student import Draw
from students.transport.base import CallResult

MODEL = {"name": "m"}
STUDENT = FactListScorer(model=MODEL)
EXAMPLE = Example("e", "g", "s", "<<S>>", "<<D>>", "omission", "omit", twin="c")
FACTS = (
    Fact("f1", "g", "The knee hurts.", ("knee",), "supporting", False),
    Fact("f2", "g", "Penicillin gave a rash.", ("rash",), "critical", True),
)
TEXTS = {"instruction": "Judge."}


def test_the_facts_are_listed_between_source_and_document_core_ones_first_and_without_severity() -> None:
    (request,) = STUDENT.chain(EXAMPLE, FACTS, TEXTS, Draw(0))
    said = "".join(message["content"] for message in request.messages)
    assert said.index("<<S>>") < said.index("- Penicillin gave a rash.\n- The knee hurts.") < said.index("<<D>>")
    assert "critical" not in said


def test_it_is_the_whole_note_design_but_for_the_list() -> None:
    plain = CriterionJudge(model=MODEL, criterion="complete-and-faithful", answer="score", samples=1)
    assert STUDENT.seed_texts == plain.seed_texts
    assert STUDENT.flag_rule == plain.flag_rule
    assert STUDENT.sending == plain.sending
    ours, theirs = (
        [message["content"] for message in student.chain(EXAMPLE, FACTS, TEXTS, Draw(0))[0].messages]
        for student in (STUDENT, plain)
    )
    listed = "FACTS OF THE CONSULTATION:\n- Penicillin gave a rash.\n- The knee hurts.\n\n"
    assert [text.replace(listed, "") for text in ours] == theirs


def test_a_score_is_read_and_flagged_by_the_rule_of_a_single_score() -> None:
    reading = STUDENT.combined([STUDENT.read(EXAMPLE, FACTS, [CallResult("Score: 7", "stop", Usage(calls=1))])])
    assert (reading.score, reading.flags) == (7.0, ("score <= 7",))


def test_only_so_many_facts_are_listed() -> None:
    (request,) = FactListScorer(model=MODEL, max_facts=1).chain(EXAMPLE, FACTS, TEXTS, Draw(0))
    assert request.inputs["facts"] == "- Penicillin gave a rash."
    with pytest.raises(PlanError, match="max_facts must be at least 1, got 0"):
        FactListScorer(model=MODEL, max_facts=0)


def test_a_group_without_facts_is_refused() -> None:
    with pytest.raises(PlanError, match="needs facts for every group"):
        STUDENT.chain(EXAMPLE, (), TEXTS, Draw(0))
