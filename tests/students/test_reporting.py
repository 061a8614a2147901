"""The deployed check in its three wordings, and the judge engineered for omissions."""

from __future__ import annotations

from typing import Any

import pytest

from lineage.errors import PlanError
from lineage.records import Usage
from students import student_hash
from students.reporting import WORDINGS, DeployedJudge, EngineeredJudge
from students.shape import load_instruction
from students.transport import CallResult

MODEL = {"name": "m"}
DEPLOYED = [DeployedJudge(model=MODEL, wording=wording) for wording in WORDINGS]
ENGINEERED = EngineeredJudge(model=MODEL)


@pytest.fixture
def one(groups: Any) -> Any:
    """One document."""
    group = groups(1)
    return group.part(group.examples[:1])


def said(text: str, finish: str = "stop") -> Any:
    return lambda request: CallResult(text, finish, Usage(1, 10, 5))


def test_the_wordings_differ_in_what_they_say_of_omissions_alone() -> None:
    excluded, deleted, counted = (load_instruction(f"deployed-{wording}") for wording in WORDINGS)
    assert excluded.startswith(deleted)
    assert counted.startswith(deleted)
    assert "leaves out" not in deleted
    assert "not your concern" in excluded
    assert "lower the score for it" in counted
    assert len({student.prompt.shape.hash for student in DEPLOYED}) == 1
    assert [dict(student.seed_texts)["instruction"] for student in DEPLOYED] == [excluded, deleted, counted]
    assert len({student_hash(student) for student in (*DEPLOYED, ENGINEERED)}) == 4


@pytest.mark.parametrize("student", [*DEPLOYED, ENGINEERED], ids=lambda student: student.name)
@pytest.mark.parametrize(
    ("text", "score", "flags"),
    [("Score: 8\nAll 3 doses agree.", 8.0, ()), ("It lacks 2 of 9 facts.\nScore: 7", 7.0, ("score <= 7",))],
)
def test_a_score_with_its_reasons_is_read_and_flagged(
    student: Any, text: str, score: float, flags: tuple[str, ...], sit: Any, one: Any
) -> None:
    (judgement,) = sit(student, one, said(text)).judgements
    assert (judgement.status, judgement.score, judgement.flags) == ("scored", score, flags)


@pytest.mark.parametrize(
    ("text", "finish", "reason"),
    [
        ("It lacks 2 of 9 facts.", "stop", "unparseable: no line with a score: It lacks 2 of 9 facts."),
        ("Score: 8\nScore: 3", "stop", "unparseable: 2 scores: Score: 3"),
        ("Score: 8\nIt lacks", "length", "truncated: after 0 reasoning tokens"),
    ],
)
def test_reasons_without_one_score_are_no_judgement(text: str, finish: str, reason: str, sit: Any, one: Any) -> None:
    for student in (DEPLOYED[0], ENGINEERED):
        (judgement,) = sit(student, one, said(text, finish), cache=student.name).judgements
        assert (judgement.status, judgement.score, judgement.reason) == ("failed", None, reason)


def test_the_omissions_that_the_engineered_judge_lists_stand_beside_its_score(sit: Any, one: Any) -> None:
    text = "OMISSIONS:\n- [critical] allergy\n- [critical] dose\n- [peripheral] dog\nScore: 1"
    (judgement,) = sit(ENGINEERED, one, said(text)).judgements
    assert judgement.parts == {"listed critical": 2.0, "listed supporting": 0.0, "listed peripheral": 1.0}
    (judgement,) = sit(ENGINEERED, one, said("OMISSIONS:\n- none\nScore: 10"), cache="none").judgements
    assert set(judgement.parts.values()) == {0.0}


def test_another_wording_is_refused() -> None:
    with pytest.raises(PlanError, match=r"wording must be one of omissions-excluded, .*, got 'none'"):
        DeployedJudge(model=MODEL, wording="none")  # type: ignore[arg-type]  # the point of the test
