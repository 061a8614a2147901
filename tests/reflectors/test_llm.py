"""The LLM reflector: only a whole, marked instruction becomes one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import PlanError
from lineage.records import Usage
from reflectors import Feedback, LlmReflector, Reflection, ReflectionRequest, Trace
from students import Capabilities, ReasoningBudget
from students.transport import CallFailure, CallRequest, CallResult

BUDGET = ReasoningBudget(effort="high", answer_tokens=2000)


class Asked:
    """A model that always says the same."""

    def __init__(self, answer: CallResult | CallFailure) -> None:
        self.answer, self.requests = answer, list[CallRequest]()

    def __call__(self, requests: Sequence[CallRequest]) -> list[CallResult | CallFailure]:
        self.requests += requests
        return [self.answer for _ in requests]


def said(text: str | None, finish: str = "stop", reasoning: str | None = None) -> Asked:
    return Asked(CallResult(text, finish, Usage(calls=1), reasoning=reasoning))


def request(**more: Any) -> ReflectionRequest:
    fields: dict[str, Any] = {
        "parent": "Judge $x {y}.",
        "traces": (Trace("a", None, "right $z"), Trace("b", "missed_omission", "wrong")),
        "earlier": frozenset(),
        "seed": 0,
        "iteration": 0,
        **more,
    }
    return ReflectionRequest(**fields)


def reflect(asked: Asked, temperature: float | None = 1.0, **more: Any) -> Reflection:
    reflector = LlmReflector(asked, model={"name": "m"}, budget=BUDGET, temperature=temperature)
    return reflector.reflect(request(**more))


@pytest.mark.parametrize(
    "text",
    [
        "<instruction>Judge.\nTwice.</instruction>",
        "Thinking...\n<instruction>\nJudge.\nTwice.\n</instruction>\nDone.",
        "<instruction>\n```\nJudge.\nTwice.\n```\n</instruction>",
        "<instruction>```markdown\nJudge.\nTwice.\n```</instruction>",
        "```\n<instruction>Judge.\nTwice.</instruction>\n```",
    ],
)
def test_a_marked_instruction_is_read_without_a_fence_around_it(text: str) -> None:
    found = reflect(said(text))
    assert (found.text, found.problem, found.operator) == ("Judge.\nTwice.", None, "llm")
    assert found.answer == text


def test_fences_inside_an_instruction_stay() -> None:
    text = "```\na\n```\nthen\n```\nb\n```"
    assert reflect(said(f"<instruction>{text}</instruction>")).text == text


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (said("<instruction>Judge.</instruction>", "length"), "truncated: the answer reached its token cap"),
        (said("<instruction>Judge the no", "length"), "truncated"),
        (said("<instruction>Judge.</instruction>", "content_filter"), "withheld by a content filter"),
        (said("<instruction>Judge.</instruction>", "refusal"), "refused"),
        (said("Judge."), "no marked instruction"),
        (said("<instruction>Judge the no"), "no marked instruction"),
        (said("Judge.</instruction>"), "no marked instruction"),
        (said("</instruction>Judge.<instruction>"), "no marked instruction"),
        (said("<instruction>A.</instruction> or <instruction>B.</instruction>"), "2 marked instructions where one"),
        (said("I write <instruction> first.\n<instruction>A.</instruction>"), "2 marked instructions where one"),
        (said("<instruction>A.</instruction> and </instruction>"), "2 marked instructions where one"),
        (said(None, reasoning="hm"), "reasoning only, no answer"),
        (said(" ", reasoning="hm"), "reasoning only, no answer"),
        (said(None), "empty answer"),
        (said(""), "empty answer"),
        (said("<instruction>\n </instruction>"), "empty instruction"),
        (said("<instruction>```\n\n```</instruction>"), "empty instruction"),
        (Asked(CallFailure("transport", "gone")), "no answer: transport: gone"),
    ],
)
def test_any_other_answer_is_a_problem_and_never_a_prompt(asked: Asked, problem: str) -> None:
    found = reflect(asked)
    assert found.text == ""
    assert found.problem is not None
    assert found.problem.startswith(problem)


@given(st.text() | st.text(alphabet="</instruction>`\n a"), st.sampled_from(["stop", "length"]))
def test_any_answer_is_a_text_or_a_problem(text: str, finish: str) -> None:
    found = reflect(said(text, finish))
    assert bool(found.text) == (found.problem is None)


def test_the_request_holds_instruction_and_traces_as_they_are_failures_first() -> None:
    asked = said("<instruction>A.</instruction>")
    found = reflect(asked)
    (sent,) = asked.requests
    assert [message["role"] for message in sent.messages] == ["system", "user"]
    user = sent.messages[1]["content"]
    assert "Judge $x {y}." in user
    assert "\n1. wrong\n2. right $z\n" in user
    assert found.prompt == user
    assert sent.sent == {"temperature": 1.0, "max_tokens": 2000, "reasoning_effort": "high", "seed": 0}


def test_no_temperature_is_sent_where_there_is_none() -> None:
    asked = said("<instruction>A.</instruction>")
    reflect(asked, temperature=None)
    assert "temperature" not in asked.requests[0].sent


def test_every_seed_iteration_and_call_is_another_draw_also_for_the_model() -> None:
    asked = said("<instruction>A.</instruction>")
    for seed in range(3):
        for iteration in range(3):
            for call in range(12):
                reflect(asked, seed=seed, iteration=iteration, call=call)
    assert len({sent.seed for sent in asked.requests}) == 108
    assert len({sent.key({}) for sent in asked.requests}) == 108


def test_several_requests_are_asked_at_once_and_answered_in_order() -> None:
    asked = said("<instruction>A.</instruction>")
    batches = list[int]()

    def ask(requests: Sequence[CallRequest]) -> list[CallResult | CallFailure]:
        batches.append(len(requests))
        return asked(requests)

    reflector = LlmReflector(ask, model={"name": "m"}, budget=BUDGET)
    found = reflector.reflect_all([request(parent=f"P{n}.", call=n) for n in range(3)])
    assert batches == [3]
    assert [each.prompt is not None and f"P{n}." in each.prompt for n, each in enumerate(found)] == [True] * 3


def test_a_crossover_is_asked_for_in_its_own_words_and_says_so() -> None:
    asked = said("<instruction>A.</instruction>")
    found = reflect(asked, others=("Other.",))
    assert (found.operator, found.why) == ("llm crossover", "merged by the reflector model")
    assert asked.requests[0].messages[0]["content"].startswith("You merge instructions")
    assert "Other." in asked.requests[0].messages[1]["content"]


def test_settings_hold_model_budget_temperature_feedback_memory_and_prompt_hashes() -> None:
    reflector = LlmReflector(said(""), model={"name": "m"}, budget=BUDGET, temperature=None, memory=2)
    row = reflector.settings()
    assert {**row, "prompt": len(row["prompt"]), "crossover": len(row["crossover"])} == {
        "reflector": "llm",
        "model": {"name": "m"},
        "budget": BUDGET.row(),
        "temperature": None,
        "sent": {"answer": {"max_tokens": 2000, "reasoning_effort": "high"}, "scratchpad": None, "seeded": True},
        "feedback": Feedback().row(),
        "memory": 2,
        "prompt": 64,
        "crossover": 64,
    }


def test_a_reflector_sends_what_its_model_takes_and_else_is_refused() -> None:
    model = Capabilities(model="m", efforts=("high",), temperature=1.0, seed=False, cap="max_completion_tokens")
    asked = said("<instruction>A.</instruction>")
    LlmReflector(asked, model={}, budget=BUDGET, capabilities=model).reflect(request())
    assert asked.requests[0].sent == {"temperature": 1.0, "max_completion_tokens": 2000, "reasoning_effort": "high"}
    with pytest.raises(PlanError, match=r"does not accept temperature = 0.5, it is fixed at 1"):
        LlmReflector(asked, model={}, budget=BUDGET, temperature=0.5, capabilities=model)
    with pytest.raises(PlanError, match="a reflector writes no scratchpad"):
        LlmReflector(asked, model={}, budget=ReasoningBudget(thinking_tokens=9))
