"""The LLM reflector: only a whole, marked instruction becomes one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import PlanError
from lineage.records import Usage
from reflectors import LlmReflector, Reflection, ReflectionRequest, Trace
from reflectors.llm import TRACE_CHARACTERS, fit_traces
from students import Capabilities, ReasoningBudget
from students.transport import CallFailure, CallRequest, CallResult

BUDGET = ReasoningBudget(effort="high", answer_tokens=2000)


class Asked:
    """A model that always says the same."""

    def __init__(self, answer: CallResult | CallFailure) -> None:
        self.answer, self.requests = answer, list[CallRequest]()

    def __call__(self, request: CallRequest) -> CallResult | CallFailure:
        self.requests.append(request)
        return self.answer


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
        (Asked(CallFailure("transport", "gone")), "transport: gone"),
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
    assert "ON 2 EXAMPLES:\n1. wrong\n2. right $z" in user
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


def test_settings_hold_model_budget_temperature_and_prompt_hash() -> None:
    row = LlmReflector(said(""), model={"name": "m"}, budget=BUDGET, temperature=None).settings()
    assert {**row, "prompt": len(row["prompt"])} == {
        "reflector": "llm",
        "model": {"name": "m"},
        "budget": BUDGET.row(),
        "temperature": None,
        "sent": {"answer": {"max_tokens": 2000, "reasoning_effort": "high"}, "scratchpad": None, "seeded": True},
        "prompt": 64,
    }


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 60)), max_size=20), st.integers(0, 200))
def test_the_traces_shown_are_whole_failures_first_and_within_the_bound(sizes: list[Any], bound: int) -> None:
    traces = tuple(
        Trace(f"{n:02}", "false_absence" if failing else None, "x" * size) for n, (failing, size) in enumerate(sizes)
    )
    shown = fit_traces(traces, characters=bound)
    assert set(shown) <= set(traces)
    assert sum(len(trace.text) for trace in shown) <= bound
    assert [trace.failing is None for trace in shown] == sorted(trace.failing is None for trace in shown)
    if sum(len(trace.text) for trace in traces) <= bound:
        assert len(shown) == len(traces)


def test_one_trace_beyond_the_bound_does_not_keep_the_others_out() -> None:
    huge, small = Trace("a", "missed_change", "x" * (TRACE_CHARACTERS + 1)), Trace("b", None, "y")
    assert fit_traces((huge, small)) == [small]


def test_order_of_traces_never_changes_the_request() -> None:
    traces = request().traces
    assert fit_traces(traces) == fit_traces(tuple(reversed(traces)))


def test_a_reflector_sends_what_its_model_takes_and_else_is_refused() -> None:
    model = Capabilities(model="m", efforts=("high",), temperature=1.0, seed=False, cap="max_completion_tokens")
    asked = said("<instruction>A.</instruction>")
    LlmReflector(asked, model={}, budget=BUDGET, capabilities=model).reflect(request())
    assert asked.requests[0].sent == {"temperature": 1.0, "max_completion_tokens": 2000, "reasoning_effort": "high"}
    with pytest.raises(PlanError, match=r"does not accept temperature = 0.5, it is fixed at 1"):
        LlmReflector(asked, model={}, budget=BUDGET, temperature=0.5, capabilities=model)
    with pytest.raises(PlanError, match="a reflector writes no scratchpad"):
        LlmReflector(asked, model={}, budget=ReasoningBudget(thinking_tokens=9))
