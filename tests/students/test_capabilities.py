"""What models accept: litellm's data, our overrides, and the rules for temperature, seed and log-probabilities."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.errors import PlanError
from students import Capabilities, PerFactChecker, ReasoningBudget, WholeNoteScorer, capabilities, known_capabilities
from students.local import MODELS
from students.student import Draw

HOSTED = (
    "openai/gpt-4.1-mini",
    "openai/o3",
    "openai/gpt-5",
    "openai/gpt-5.2",
    "openai/gpt-5-chat-latest",
    "anthropic/claude-sonnet-4-5",
    "anthropic/claude-opus-4-7",
    "gemini/gemini-2.5-flash",
    "gemini/gemini-2.5-pro",
    "deepseek/deepseek-reasoner",
    "openrouter/openai/gpt-5",
)


def hosted(name: str) -> Capabilities:
    return known_capabilities(name, place="hosted")


@pytest.mark.parametrize("name", ["openai/o3", "openai/o4-mini", "openai/gpt-5", "openai/gpt-5-mini", "azure/gpt-5"])
def test_openai_s_reasoning_models_have_their_cap_their_temperature_and_no_log_probabilities(name: str) -> None:
    found = hosted(name)
    assert (found.cap, found.temperature, found.top_logprobs) == ("max_completion_tokens", 1.0, 0)
    assert found.reasons_unasked
    assert "none" not in found.efforts
    assert ("minimal" in found.efforts) == ("gpt-5" in name)


def test_the_context_length_comes_from_the_bundled_data() -> None:
    assert hosted("openai/o3").context_tokens == 200_000
    assert hosted("openai/gpt-4.1-mini").context_tokens > 1_000_000
    assert hosted("nobody/knows-this").context_tokens is None


def test_a_plain_chat_model_takes_everything_but_reasoning() -> None:
    found = hosted("openai/gpt-4.1-mini")
    assert (found.cap, found.temperature, found.seed, found.top_logprobs) == ("max_tokens", "any", True, 20)
    assert found.efforts == ()
    assert ReasoningBudget(thinking_tokens=100).scratchpad(found) == 100


def test_anthropic_s_models_take_thinking_tokens_and_no_seed() -> None:
    found = hosted("anthropic/claude-sonnet-4-5")
    assert found.thinking is not None
    assert found.thinking[0] == 1024
    assert not found.seed
    assert ReasoningBudget(thinking_tokens=2048).parameters(found)["thinking"]["budget_tokens"] == 2048


def test_gemini_s_models_take_thinking_budgets_and_one_can_be_told_not_to_think() -> None:
    flash, pro = hosted("gemini/gemini-2.5-flash"), hosted("gemini/gemini-2.5-pro")
    assert ReasoningBudget().parameters(flash)["reasoning_effort"] == "none"
    with pytest.raises(PlanError, match="always reasons"):
        ReasoningBudget().parameters(pro)
    with pytest.raises(PlanError, match=r"thinking_tokens = 100, accepted: 128 to 32768"):
        ReasoningBudget(thinking_tokens=100).parameters(pro)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_the_embedded_models_state_log_probabilities_and_think_on_a_scratchpad(model: object) -> None:
    found = known_capabilities(model.name, place="local")  # type: ignore[attr-defined]
    assert (found.efforts, found.thinking, found.top_logprobs, found.context_tokens) == ((), None, 20, 4096)
    assert ReasoningBudget(thinking_tokens=64).scratchpad(found) == 64


def test_an_endpoint_s_model_is_known_by_its_name_and_else_takes_what_an_endpoint_takes() -> None:
    assert known_capabilities("gpt-5-mini", place="endpoint").cap == "max_completion_tokens"
    assert known_capabilities("judge", place="endpoint") == Capabilities(model="judge")


def test_the_simulated_judge_does_not_reason() -> None:
    found = known_capabilities("the simulated judge", place="simulated")
    for budget in (ReasoningBudget(effort="low"), ReasoningBudget(thinking_tokens=9)):
        with pytest.raises(PlanError, match=r"the simulated judge does not accept budget\.\w+ = \w+, accepted: none"):
            budget.parameters(found)


@pytest.mark.parametrize("name", HOSTED)
def test_each_known_model_takes_some_budget_and_some_temperature(name: str) -> None:
    found = hosted(name)
    effort = "none" if "none" in found.efforts or not found.reasons_unasked else found.efforts[0]
    student = WholeNoteScorer(
        model={"name": name},
        budget=ReasoningBudget(effort=effort, answer_tokens=1000),  # type: ignore[arg-type]
        temperature=None,
        capabilities=found,
    )
    assert student.sending.answer[found.cap] == 1000


def test_a_fixed_temperature_must_be_given_as_it_is_or_as_null() -> None:
    fixed = Capabilities(model="m", temperature=1.0)
    assert fixed.sampling(None, reasoning=False) == {}
    assert fixed.sampling(1, reasoning=False) == {"temperature": 1}
    with pytest.raises(
        PlanError, match=r"m does not accept temperature = 0, it is fixed at 1; give temperature: null or 1"
    ):
        WholeNoteScorer(model={}, temperature=0.0, capabilities=fixed)


def test_a_model_that_takes_no_temperature_says_so() -> None:
    with pytest.raises(PlanError, match=r"temperature = 0.5, it takes none; give temperature: null$"):
        Capabilities(model="m", temperature="refused").sampling(0.5, reasoning=False)


def test_a_temperature_may_be_fixed_only_while_the_model_reasons() -> None:
    found = Capabilities(model="m", reasoning_temperature=1.0)
    assert found.sampling(0.3, reasoning=False) == {"temperature": 0.3}
    with pytest.raises(PlanError, match="it is fixed at 1 while it reasons"):
        found.sampling(0.3, reasoning=True)


def test_a_student_that_reads_log_probabilities_needs_them() -> None:
    for found, budget in (
        (Capabilities(model="m", top_logprobs=0), ReasoningBudget(answer_tokens=1)),
        (Capabilities(model="m", reasoning_logprobs=False), ReasoningBudget(effort="low", answer_tokens=100)),
    ):
        with pytest.raises(PlanError, match=r"m does not accept top_logprobs = 20, accepted: none.*per-fact-keyed"):
            PerFactChecker(model={}, budget=budget, capabilities=found)


def test_as_many_alternatives_are_asked_for_as_the_model_gives() -> None:
    student = PerFactChecker(model={}, capabilities=Capabilities(top_logprobs=5))
    assert student.sending.answer["top_logprobs"] == 5


def test_the_seed_is_left_out_where_a_model_takes_none_and_that_is_in_the_settings() -> None:
    student = WholeNoteScorer(model={}, capabilities=Capabilities(seed=False))
    assert not student.sending.seeded
    assert student.settings()["sent"]["seeded"] is False
    assert Draw(None).request((), {}, {}).sent == {}


def test_an_overrides_file_that_breaks_its_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "capabilities.yaml"
    path.write_text("- match: ['a*']\n  tempreature: 1\n", encoding="utf-8")
    monkeypatch.setattr(capabilities, "OVERRIDES", path)
    capabilities._overrides.cache_clear()
    try:
        with pytest.raises(PlanError, match="entry 1: tempreature is unknown or missing"):
            known_capabilities("a model nobody asked for yet", place="endpoint")
    finally:
        capabilities._overrides.cache_clear()
