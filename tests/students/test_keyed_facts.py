"""The keyed fact checker: all facts at once, one retry for those without a verdict, then a failure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lineage.errors import PlanError
from lineage.records import FactVerdict, Usage
from splits.corpus import Example, Fact
from students import Capabilities, KeyedFactChecker, ReasoningBudget, student_hash
from students.student import Draw
from students.transport import CallRequest, CallResult

STUDENT = KeyedFactChecker(model={"name": "m"})
FACTS = tuple(
    Fact(f"ID-MARK-{number}", "GROUP-MARK", f"fact number {number}.", ("EVIDENCE-MARK",), "SEVERITY-MARK", number > 1)
    for number in range(4)
)
FLAWED = Example(
    "EXAMPLE-MARK", "GROUP-MARK", "STRATUM-MARK", "SOURCE-MARK", "the note", "omission", "KIND-MARK", twin="TWIN-MARK"
)
TEXTS = {"instruction": "Decide."}


@pytest.fixture
def one(groups: Any) -> Any:
    """One document with three facts."""
    group = groups(1)
    return group.part(group.examples[:1])


def saying(*texts: str, finish: str = "stop") -> Callable[[CallRequest], CallResult]:
    """Answers in turn."""
    left = list(texts)
    return lambda request: CallResult(left.pop(0), finish, Usage(1, 10, 5))


def test_all_facts_are_asked_for_at_once_with_keys_and_core_facts_first() -> None:
    (request,) = STUDENT.chain(FLAWED, FACTS, TEXTS, Draw(7, 0, 2))
    said = request.messages[1]["content"]
    assert "f1: fact number 2.\nf2: fact number 3.\nf3: fact number 0.\nf4: fact number 1.\n" in said
    assert request.sent == {"temperature": 0.0, "max_tokens": 256, "seed": 7}
    assert said.index("the note") < said.index("f1:")


def test_nothing_of_twin_label_trace_or_id_is_in_the_call() -> None:
    (request,) = STUDENT.chain(FLAWED, FACTS, TEXTS, Draw(0))
    said = json.dumps([list(request.messages), dict(request.parameters), dict(request.inputs)])
    assert "MARK" not in said
    assert "omission" not in said


def test_the_score_is_the_exact_share_of_facts_present(sit: Any, one: Any) -> None:
    found = sit(STUDENT, one, saying("f1: yes\nf2: no\nf3: yes"))
    (judgement,) = found.judgements
    assert (judgement.status, judgement.score) == ("scored", 2 / 3)
    assert judgement.facts == (
        FactVerdict("g0-a", 1.0, None, True),
        FactVerdict("g0-b", 0.0, None, False),
        FactVerdict("g0-c", 1.0, None, True),
    )
    assert len(found.asked) == 1


def test_facts_without_a_verdict_are_asked_for_once_more_and_alone(sit: Any, one: Any) -> None:
    found = sit(STUDENT, one, saying("f2: no", "f1: yes\nf3: yes"))
    first, second = found.asked
    assert second.inputs["facts"] == "f1: g0 fact a\nf3: g0 fact c"
    assert second.messages[0] == first.messages[0]
    assert (second.seed, second.sent) == (first.seed, first.sent)
    (judgement,) = found.judgements
    assert (judgement.score, judgement.raw) == (2 / 3, ("f2: no", "f1: yes\nf3: yes"))
    assert judgement.usage == Usage(2, 20, 10)
    assert judgement.paid == 2


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (("f2: no", "f1: yes"), "unparseable: no verdict for f3, asked twice"),
        (("f2: no", "f1: yes\nf2: no\nf3: no"), "unparseable: retry: unknown key 'f2'"),
        (("f2: no", "no idea"), "unparseable: retry: no verdict"),
        (("f2: no", ""), "empty: retry: no text"),
        (("f2: no\nf9: yes",), "unparseable: unknown key 'f9'"),
        (("f1: no\nf1: yes\nf2: no\nf3: no",), "unparseable: two verdicts for f1"),
        (("I like the note.",), "unparseable: no verdict"),
        (("",), "empty: no text"),
    ],
)
def test_after_the_retry_the_judgement_fails(answers: tuple[str, ...], reason: str, sit: Any, one: Any) -> None:
    found = sit(STUDENT, one, saying(*answers))
    (judgement,) = found.judgements
    assert (judgement.status, judgement.score, judgement.facts) == ("failed", None, ())
    assert judgement.reason.startswith(reason)
    assert len(found.asked) == len(answers)


def test_an_answer_that_was_cut_off_is_truncated_and_not_asked_for_again(sit: Any, one: Any) -> None:
    found = sit(STUDENT, one, saying("f1: yes\nf2", finish="length"))
    assert found.judgements[0].reason == "truncated: after 0 reasoning tokens"
    assert len(found.asked) == 1


@pytest.mark.parametrize("answers", [("ABSTAIN",), ("f1: yes", "ABSTAIN"), ('{"f1": true, "f2": null, "f3": true}',)])
def test_a_judge_may_abstain_and_that_is_no_failure_and_no_number(answers: Any, sit: Any, one: Any) -> None:
    (judgement,) = sit(STUDENT, one, saying(*answers)).judgements
    assert (judgement.status, judgement.score) == ("abstained", None)
    assert judgement.reason.startswith("abstained: ")


def test_a_replay_with_a_retry_pays_for_nothing(sit: Any, one: Any) -> None:
    first = sit(STUDENT, one, saying("f2: no", "f1: yes\nf3: yes"))
    second = sit(STUDENT, one, saying())
    assert second.judgements[0].score == first.judgements[0].score
    assert second.judgements[0].paid == 0


def test_a_retry_after_a_scratchpad_has_the_same_scratchpad(sit: Any, one: Any) -> None:
    student = replace(STUDENT, budget=ReasoningBudget(thinking_tokens=50, answer_tokens=99))
    found = sit(student, one, saying("I see.", "f1: yes\nf2: yes", "f3: no"))
    assert [len(request.messages) for request in found.asked] == [2, 4, 4]
    assert found.asked[2].messages[2:] == found.asked[1].messages[2:]
    assert found.judgements[0].score == 2 / 3


@pytest.mark.parametrize(
    "change",
    [
        {"model": {"name": "other"}},
        {"temperature": None},
        {"max_facts": 3},
        {"budget": ReasoningBudget(answer_tokens=200)},
        {"budget": ReasoningBudget(answer_tokens=256, thinking_tokens=20)},
        {"capabilities": Capabilities(seed=False)},
        {"prompt_cache": "on"},
    ],
)
def test_every_setting_changes_the_hash(change: dict[str, Any]) -> None:
    assert student_hash(replace(STUDENT, **change)) != student_hash(STUDENT)


def test_a_group_without_facts_and_no_facts_at_all_are_refused() -> None:
    with pytest.raises(PlanError, match="needs facts for every group"):
        STUDENT.chain(FLAWED, (), TEXTS, Draw(0))
    with pytest.raises(PlanError, match="max_facts must be at least 1, got 0"):
        replace(STUDENT, max_facts=0)
