"""Scratchpads: reasoning before the answer for models that have none of their own."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from lineage.errors import CallError
from lineage.records import Usage, stable
from students import KeyedFactChecker, PerFactChecker, ReasoningBudget, Student, WholeNoteScorer
from students.transport import CallRequest, CallResult

BUDGET = ReasoningBudget(thinking_tokens=50, answer_tokens=8)
PER_FACT = PerFactChecker(model={"name": "m"}, budget=replace(BUDGET, answer_tokens=1))
KEYED = KeyedFactChecker(model={"name": "m"}, budget=BUDGET)
SCORER = WholeNoteScorer(model={"name": "m"}, budget=BUDGET)
STUDENTS = (PER_FACT, KEYED, SCORER)


@pytest.fixture
def one(groups: Any) -> Any:
    """One document."""
    group = groups(1)
    return group.part(group.examples[:1])


def thinks(request: CallRequest) -> bool:
    return request.sent["max_tokens"] == 50


def answer(request: CallRequest) -> CallResult:
    """A thought that fills its cap, and after it what each design reads."""
    if thinks(request):
        thought = f" thinking of {request.inputs.get('fact') or request.inputs['document']} "
        return CallResult(thought, "length", Usage(calls=1, prompt_tokens=9, completion_tokens=50))
    usage = Usage(calls=1, prompt_tokens=70, completion_tokens=1)
    if request.sent.get("logprobs"):
        return CallResult("Yes", "length", usage, top=(("Yes", -0.1), ("No", -2.4)))
    return CallResult("f1: yes\nf2: no\nf3: yes" if "facts" in request.inputs else "Score: 7", "stop", usage)


@pytest.mark.parametrize("student", STUDENTS, ids=lambda student: student.name)
def test_the_scratchpad_is_written_first_and_the_fixed_contract_follows_it(
    student: Student, sit: Any, one: Any
) -> None:
    found = sit(student, one, answer, serial=True)
    count = 3 if student is PER_FACT else 1
    assert [thinks(request) for request in found.asked] == [True] * count + [False] * count
    assert found.judgements[0].status == "scored"
    for first, second in zip(found.asked[:count], found.asked[count:], strict=True):
        assert [message["role"] for message in second.messages] == ["system", "user", "assistant", "user"]
        assert second.messages[2]["content"] == (answer(first).text or "").strip()
        contract = second.messages[3]["content"]
        assert contract.startswith("Reply with ")
        assert contract not in "".join(message["content"] for message in first.messages)
        assert "50 tokens" in first.messages[-1]["content"]


@pytest.mark.parametrize("student", STUDENTS, ids=lambda student: student.name)
def test_the_tokens_of_a_scratchpad_are_reasoning_tokens_and_all_of_it_is_on_the_judgement(
    student: Student, sit: Any, one: Any
) -> None:
    (found,) = sit(student, one, answer).judgements
    count = 3 if student is PER_FACT else 1
    assert found.usage == Usage(2 * count, 79 * count, 51 * count, 50 * count)
    assert found.sent["budget"] == student.budget.row()
    assert found.sent["scratchpad"]["max_tokens"] == 50
    assert found.sent["answer"]["max_tokens"] == student.budget.answer_tokens
    assert len(found.raw) == 2 * count
    assert "thinking of" in found.raw[0]


def test_log_probabilities_are_read_after_the_scratchpad_and_not_asked_for_in_it(sit: Any, one: Any) -> None:
    found = sit(PER_FACT, one, answer)
    assert [verdict.margin for verdict in found.judgements[0].facts] == [2.3] * 3
    assert ["logprobs" in request.sent for request in found.asked] == [False] * 3 + [True] * 3


@pytest.mark.parametrize("student", STUDENTS, ids=lambda student: student.name)
@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (CallResult("", "stop", Usage(calls=1)), "empty: scratchpad"),
        (CallResult(None, "content_filter", Usage(calls=1)), "refused: scratchpad"),
    ],
)
def test_a_judgement_without_its_scratchpad_fails_and_pays_for_no_answer(
    student: Student, bad: CallResult, reason: str, sit: Any, one: Any
) -> None:
    found = sit(student, one, lambda request: bad if thinks(request) else answer(request))
    assert found.judgements[0].status == "failed"
    assert found.judgements[0].reason.startswith(reason)
    assert all(thinks(request) for request in found.asked)


def test_a_scratchpad_that_was_not_answered_is_a_failure_of_transport(sit: Any, groups: Any) -> None:
    def lost(request: CallRequest) -> CallResult:
        if "clean g1" in request.inputs["document"]:
            raise CallError("gone", reason="malformed", transient=True)
        return answer(request)

    found = sit(SCORER, groups(3), lost).judgements
    assert [judgement.reason for judgement in found if judgement.status == "failed"] == [
        "transport: scratchpad: malformed: gone"
    ]


def test_an_answer_that_reaches_its_cap_is_truncated_though_a_scratchpad_may_fill_its_own(sit: Any, one: Any) -> None:
    def cut(request: CallRequest) -> CallResult:
        return answer(request) if thinks(request) else replace(answer(request), finish="length")

    assert sit(SCORER, one, cut).judgements[0].reason == "truncated: after 0 reasoning tokens"


@pytest.mark.parametrize("student", STUDENTS, ids=lambda student: student.name)
def test_a_replay_of_scratchpads_differs_in_nothing_but_what_is_volatile(
    student: Student, sit: Any, groups: Any
) -> None:
    first, second = sit(student, groups(3), answer), sit(student, groups(3), answer)
    assert first.asked
    assert not second.asked
    assert rows(first) == rows(second)


@pytest.mark.parametrize("student", STUDENTS, ids=lambda student: student.name)
@pytest.mark.parametrize("after", [0, 1, 2, 3, 5, 8, 11])
def test_a_cut_chain_of_scratchpads_goes_on_in_the_state_in_which_it_was_left(
    student: Any, after: int, sit: Any, groups: Any
) -> None:
    exact, of = replace(student, prompt_cache="exact"), groups(2)
    whole = sit(exact, of, answer, cache="whole", serial=True)
    answered = itertools.count()

    def until(request: CallRequest) -> CallResult:
        if next(answered) >= after:
            raise CallError("cut", reason="refused", transient=False)
        return answer(request)

    with pytest.raises(CallError, match="cut"):
        sit(exact, of, until, cache="cut", serial=True)
    resumed = sit(exact, of, answer, cache="cut", serial=True)
    assert rows(resumed) == rows(whole)
    expected = keys(whole.asked)
    begun = after // (len(expected) // 2) * (len(expected) // 2)
    assert keys(resumed.asked) == expected[after:]
    assert keys(resumed.primed) == expected[begun:after]


def rows(sitting: Any) -> list[Any]:
    return [stable(judgement.row()) for judgement in sitting.judgements]


def keys(requests: list[CallRequest]) -> list[str]:
    return [request.key({}) for request in requests]
