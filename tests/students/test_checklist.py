"""The checklist: made once for a group from the source alone, and answered on each document."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lineage.errors import CallError, PlanError
from lineage.records import Candidate, Judgement, Usage, stable
from splits.corpus import Corpus, Example
from students import ReasoningBudget, student_hash
from students.checklist import ChecklistJudge
from students.student import CallsAtMost, group_draw_seed
from students.transport import CallRequest, CallResult

STUDENT = ChecklistJudge(model={"name": "m"})
ITEMS = "1. Does the note say how long?\n2. Does the note name the allergy?\n3. Does the note give the plan?"


def answering(listed: str = ITEMS, *answers: str, finish: str = "stop") -> Callable[[CallRequest], CallResult]:
    """The checklist, and the answers on documents in turn."""
    left = list(answers)

    def answer(request: CallRequest) -> CallResult:
        if request.prompt == "checklist-items":
            return CallResult(listed, finish, Usage(1, 100, 30))
        return CallResult(left.pop(0) if left else "q1: yes\nq2: no\nq3: yes", "stop", Usage(1, 20, 9))

    return answer


@pytest.fixture
def one(groups: Any) -> Any:
    """One document."""
    group = groups(1)
    return group.part(group.examples[:1])


def documents(count: int) -> Corpus:
    """One group with so many documents."""
    clean = Example("g-00", "g", "s", "WHAT WAS SAID", "the note, number 0", "clean", "clean")
    flawed = [
        Example(f"g-{n:02}", "g", "s", "WHAT WAS SAID", f"the note, number {n}", "omission", "omit", twin="g-00")
        for n in range(1, count)
    ]
    return Corpus((clean, *flawed), {})


def lists(found: Any) -> list[CallRequest]:
    return [request for request in found.asked if request.shared]


def test_sixteen_documents_that_ask_at_once_pay_for_one_checklist(sit: Any) -> None:
    found = sit(STUDENT, documents(16), answering())
    assert len(lists(found)) == 1
    assert len(found.asked) == 17
    assert sum(judgement.paid for judgement in found.judgements) == 17
    assert {judgement.usage for judgement in found.judgements} == {Usage(2, 120, 39)}
    assert {judgement.shared for judgement in found.judgements} == {Usage(1, 100, 30)}
    assert {judgement.score for judgement in found.judgements} == {2 / 3}
    assert found.judgements[0].parts == {"items": 3.0, "met": 2.0}


@pytest.mark.parametrize("cache", ["unset", "exact"])
def test_on_a_serial_transport_a_group_has_one_checklist_whatever_the_prompt_cache(cache: Any, sit: Any) -> None:
    student = replace(STUDENT, prompt_cache=cache)
    first = sit(student, documents(4), answering(), serial=True)
    assert len(lists(first)) == 1
    assert len(first.asked) == 5
    again = sit(student, documents(4), answering(), serial=True)
    assert again.asked == []
    rows = [[stable(judgement.row()) for judgement in sitting.judgements] for sitting in (first, again)]
    assert rows[0] == rows[1]


def test_other_replicates_candidates_and_groups_have_checklists_of_their_own_where_their_calls_differ(
    sit: Any, groups: Any
) -> None:
    other = Candidate({"instruction": "Answer strictly."}, "mutation")
    found = sit(STUDENT, groups(3), answering(), candidates=(Candidate(dict(STUDENT.seed_texts), "seed"), other))
    assert len(lists(found)) == 3  # the instruction of the answers evolves, which the checklist does not depend on
    student = replace(STUDENT, block="items")
    found = sit(student, groups(3), answering(), candidates=(Candidate(dict(student.seed_texts), "seed"), other))
    assert len(lists(found)) == 6 - 3  # the seed's checklist is the one that was paid for above
    assert {request.inputs["instruction"] for request in lists(found)} == {"Answer strictly."}


def test_a_checklist_is_asked_for_with_the_source_and_a_seed_of_the_group(sit: Any) -> None:
    (request,) = lists(sit(STUDENT, documents(3), answering()))
    assert set(request.inputs) == {"instruction", "source", "count"}
    assert (request.seed, request.sample) == (group_draw_seed(0, "g"), 0)
    assert request.sent["max_tokens"] == STUDENT.list_tokens
    said = "".join(message["content"] for message in request.messages)
    assert "WHAT WAS SAID" in said
    assert "the note, number" not in said
    assert "Items wanted: 25" in said


def test_items_without_an_answer_are_asked_for_once_more_and_alone(sit: Any, one: Any) -> None:
    found = sit(STUDENT, one, answering(ITEMS, "q2: no", "q1: yes\nq3: yes"))
    assert found.asked[-1].inputs["items"] == "q1: Does the note say how long?\nq3: Does the note give the plan?"
    assert found.judgements[0].score == 2 / 3


@pytest.mark.parametrize(
    ("listed", "finish", "answers", "reason"),
    [
        ("NONE", "stop", (), "empty: checklist: no item, so that there is nothing to answer"),
        ("I cannot.", "stop", (), "unparseable: checklist: no item in 'I cannot.'"),
        ("1. Does the note", "length", (), "truncated: checklist: after 0 reasoning tokens"),
        (ITEMS, "stop", ("q1: yes", "q2: no"), "unparseable: no verdict for q3, asked twice"),
        (ITEMS, "stop", ("q1: yes\nq1: no",), "unparseable: two verdicts for q1"),
        (ITEMS, "stop", ("q1: yes\nq9: no",), "unparseable: unknown key 'q9'"),
    ],
)
def test_without_all_items_and_answers_there_is_no_score(
    listed: str, finish: str, answers: tuple[str, ...], reason: str, sit: Any, one: Any
) -> None:
    (judgement,) = sit(STUDENT, one, answering(listed, *answers, finish=finish)).judgements
    assert (judgement.status, judgement.score) == ("failed", None)
    assert judgement.reason.startswith(reason)


def test_a_longer_list_than_asked_for_is_cut_at_twice_as_many(sit: Any, one: Any) -> None:
    student = replace(STUDENT, items=2)
    listed = "\n".join(f"{number}. Item {number}?" for number in range(1, 10))
    (judgement,) = sit(student, one, answering(listed, "q1: yes\nq2: yes\nq3: yes\nq4: no")).judgements
    assert (judgement.score, judgement.parts["items"]) == (0.75, 4.0)


def test_a_checklist_that_was_not_answered_fails_its_group_and_no_other(sit: Any, groups: Any) -> None:
    def lost(request: CallRequest) -> CallResult:
        if request.shared and "source g1" in request.inputs["source"]:
            raise CallError("gone", reason="refused by length", transient=True)
        return answering()(request)

    found: tuple[Judgement, ...] = sit(STUDENT, groups(2).part(groups(2).examples[2:4]), lost).judgements
    assert [(judgement.example, judgement.status) for judgement in found] == [("g0-c", "scored"), ("g1-a", "failed")]
    assert re.match("transport: checklist: ", found[1].reason or "")


def test_calls_at_most_count_the_checklist_for_the_group() -> None:
    assert STUDENT.calls_at_most(9) == CallsAtMost(2, 1)
    thinking = replace(STUDENT, budget=ReasoningBudget(thinking_tokens=50, answer_tokens=99))
    assert thinking.calls_at_most(9) == CallsAtMost(3, 2)


@pytest.mark.parametrize(
    "change",
    [
        {"block": "items"},
        {"items": 20},
        {"list_tokens": 512},
        {"temperature": 0.5},
        {"budget": ReasoningBudget(answer_tokens=200)},
    ],
)
def test_every_setting_changes_the_hash(change: dict[str, Any]) -> None:
    assert student_hash(replace(STUDENT, **change)) != student_hash(STUDENT)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"block": "item"}, "checklist has no block 'item'; did you mean 'items'"),
        ({"block": "zzz"}, "checklist has no block 'zzz'; it has answers, items"),
        ({"items": 0}, "items must be at least 1, got 0"),
    ],
)
def test_settings_out_of_range_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        replace(STUDENT, **change)
