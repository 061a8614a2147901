"""Accuracy by type of question."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from experiments.report.blocks import Paragraph
from experiments.report.charts import Dot
from experiments.report.questions import CHANGED, KEPT, STATED, _dot, questions, questions_blocks
from lineage.records import FactVerdict, Judgement
from optimize.evaluation import Evaluation
from splits.corpus import Example


def example(name: str, label: Any, **fields: Any) -> Example:
    return Example(id=name, group="g", stratum=None, source="", document="", label=label, **{"kind": label, **fields})


def verdict(fact: str, present: bool, **fields: Any) -> FactVerdict:
    return FactVerdict(fact, float(present), None, present, **fields)


def evaluation(example: Example, *verdicts: FactVerdict) -> Evaluation:
    judgement = Judgement(example.id, "c", "s", "scored", 0.5, facts=verdicts)
    return Evaluation("c", (example,), (judgement,))


CLEAN = example("g.clean", "clean")
OMITTED = example("g.omit", "omission", fact="f1", trace="partial-weak", severity="critical", twin="g.clean")
ALTERED = example("g.change", "commission", fact="f1", twin="g.clean")


@pytest.mark.parametrize(
    ("of", "said", "kind", "right"),
    [
        (CLEAN, verdict("f1", True), STATED, 1),
        (CLEAN, verdict("f1", False), STATED, 0),
        (OMITTED, verdict("f1", False), "left-out fact, trace partial-weak", 1),
        (OMITTED, verdict("f1", True), "left-out fact, trace partial-weak", 0),
        (OMITTED, verdict("f1", True, grade="partial"), "left-out fact, trace partial-weak", 1),
        (OMITTED, verdict("f2", True), KEPT, 1),
        (ALTERED, verdict("f1", False), CHANGED, 1),
        (ALTERED, verdict("f2", False), KEPT, 0),
    ],
)
def test_the_corpus_says_what_is_right(of: Example, said: FactVerdict, kind: str, right: int) -> None:
    found = questions(evaluation(of, said)).accuracy
    assert found is not None
    (entry,) = found.types
    assert (entry.name, entry.correct, entry.n) == (kind, right, 1)


def test_left_out_facts_stand_by_severity_too() -> None:
    found = questions(evaluation(OMITTED, verdict("f1", False), verdict("f2", True))).by_severity
    assert found is not None
    assert [(entry.name, entry.n) for entry in found.types] == [("left-out fact, critical", 1)]


def test_of_facts_that_a_judge_listed_itself_nothing_is_said_to_be_right() -> None:
    found = questions(evaluation(CLEAN, verdict("1", True, text="He smokes.")))
    assert found.accuracy is None
    (only,) = questions_blocks({"mine": found}, "held-out")
    assert isinstance(only, Paragraph)
    assert "lists its own facts (1 answers)" in only.text
    assert "smokes" not in only.text


def test_a_judge_that_is_not_asked_about_facts_says_so_in_one_line() -> None:
    (only,) = questions_blocks({"mine": questions(evaluation(CLEAN))}, "accept")
    assert isinstance(only, Paragraph)
    assert only.text.startswith("Not asked")


def test_the_picture_draws_the_intervals_by_group() -> None:
    examples = [replace(CLEAN, id=f"g{n}.clean", group=f"g{n}") for n in range(3)]
    answers = [(True, True, True), (True, False, True), (False, True, True)]
    judged = tuple(
        Judgement(one.id, "c", "s", "scored", 0.5, facts=tuple(verdict(f"f{k}", yes) for k, yes in enumerate(said)))
        for one, said in zip(examples, answers, strict=True)
    )
    found = questions(Evaluation("c", tuple(examples), judged))
    assert found.accuracy is not None
    (entry,) = found.accuracy.types
    assert _dot(entry) == Dot(entry.value, entry.interval.low, entry.interval.high)
    assert (entry.interval.low, entry.interval.high) != (entry.wilson.low, entry.wilson.high)
    same = questions(evaluation(CLEAN, verdict("f1", True), verdict("f2", True))).accuracy
    assert same is not None
    assert _dot(same.types[0]) == Dot(1.0), "of one group there is no interval"
