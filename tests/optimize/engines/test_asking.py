from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from dspy import lm15

from lineage.errors import PlanError
from lineage.records import Usage
from optimize.engines.asking import ReflectorEngine, model_reflector, reflector_lm
from optimize.engines.relay import Relay
from reflectors import LlmReflector, OperatorReflector
from students import ReasoningBudget
from students.transport import CallFailure, CallRequest, CallResult


class Recorder:
    """A reflector's model that answers in turn, and what it was sent."""

    def __init__(self, *answers: CallResult | CallFailure) -> None:
        self.answers, self.sent = list(answers), list[CallRequest]()

    def __call__(self, requests: Sequence[CallRequest]) -> list[CallResult | CallFailure]:
        self.sent += requests
        return [self.answers.pop(0) for _ in requests]


def answered(text: str, finish: str = "stop") -> CallResult:
    return CallResult(text, finish, Usage(1, 10, 5))


def asked(recorder: Recorder, *prompts: str) -> list[str]:
    """The texts that dspy gets for prompts, through a model with the engine."""
    reflector = LlmReflector(recorder, model={"name": "writer"}, budget=ReasoningBudget(answer_tokens=99))
    told = list[Any]()
    space = SimpleNamespace(
        reflector=reflector,
        settings=SimpleNamespace(seed=4),
        contamination=SimpleNamespace(request=told.append),
    )
    desk: Any = SimpleNamespace(space=space, operator="mipro", iteration=2)
    relay, found = Relay("test"), list[str]()
    engine = ReflectorEngine(desk, relay)

    def foreign() -> None:
        lm = reflector_lm(engine)
        for number, prompt in enumerate(prompts):
            request = lm15.request_from_openai_chat(
                {"model": lm.model, "messages": [{"role": "user", "content": prompt}], "temperature": 1.0}
            )
            copied = lm.copy(rollout_id=number, temperature=1.0)
            found.extend("".join(part.text for part in copied(request).message.parts) for _ in range(1))

    relay.run(foreign)
    assert [request.traces[0].text for request in told] == list(prompts), "every prompt is looked through before"
    return found


def test_a_prompt_goes_to_the_plans_reflector_with_the_plans_settings() -> None:
    recorder = Recorder(answered("an instruction"))
    assert asked(recorder, "Write.") == ["an instruction"]
    (request,) = recorder.sent
    assert request.messages == ({"role": "user", "content": "Write."},)
    assert request.sent["max_tokens"] == 99
    assert request.seed is not None


def test_the_same_prompt_asked_again_is_another_sample_with_another_seed() -> None:
    recorder = Recorder(*[answered(f"{number}") for number in range(3)])
    assert asked(recorder, "Write.", "Other.", "Write.") == ["0", "1", "2"]
    assert [request.sample for request in recorder.sent] == [0, 0, 1]
    assert len({request.seed for request in recorder.sent}) == 3
    assert len({request.key({}) for request in recorder.sent}) == 3


@pytest.mark.parametrize(
    "answer",
    [answered("half an instr", "length"), answered("  "), CallFailure("transport", "no answer came")],
    ids=["cut off", "empty", "failed"],
)
def test_an_answer_that_is_not_whole_is_an_empty_one_to_dspy(answer: CallResult | CallFailure) -> None:
    assert asked(Recorder(answer), "Write.") == [""]


def test_a_reflector_that_is_no_model_is_refused() -> None:
    with pytest.raises(PlanError, match="mipro asks a model for its prompts"):
        model_reflector(OperatorReflector("per-fact"), "mipro")
