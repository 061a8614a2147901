"""The model lock: a role stands for what was pinned, at its price of that day, or does not run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments import load_plan
from lineage import read_events
from lineage.errors import PlanError
from lineage.records import Usage
from optimize import Campaign, CampaignResult
from optimize.model_lock import load_model_lock
from optimize.model_plan import ModelPlan, PricePlan
from optimize.models import open_model
from optimize.pinning import pin_model, write_pin
from students.transport import CallCache, CallRequest, CallResult, Tags
from tests.conftest import JudgeEndpoint

MakePlan = Callable[..., Path]
Holdgate = Callable[..., tuple[int, str, str]]
BY_ROLE: dict[str, Any] = {
    "models": "models.lock.json",
    "student": {"shape": "per-fact", "model": {"role": "student"}, "max_facts": 5},
}
HOSTED = ModelPlan(hosted="openai/gpt-4.1-mini")


@pytest.fixture
def holdgate(holdgate: Holdgate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Holdgate:
    """The command line in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return holdgate


def run(plan: Path, out: Path) -> CampaignResult:
    loaded = load_plan(str(plan))
    return Campaign(
        loaded.plan, loaded.corpus, loaded.lock, out, baseline=loaded.baseline, models_hash=loaded.models_hash
    ).run()


def test_a_pin_holds_price_capabilities_and_context_of_the_day(tmp_path: Path) -> None:
    pin = pin_model("student", HOSTED, settings={"temperature": 0.0})
    row = pin.row()
    assert row["price"]["prompt_usd_per_million"] > 0
    assert row["price"]["cached_usd_per_million"] < row["price"]["prompt_usd_per_million"]
    assert row["context_tokens"] > 100_000
    assert row["capabilities"]["seed"] is True
    assert row["settings"] == {"temperature": 0.0}
    write_pin(tmp_path / "lock.json", pin)
    assert load_model_lock(tmp_path / "lock.json").pins["student"] == pin


def test_the_version_that_a_provider_stated_is_taken_from_the_call_cache(tmp_path: Path) -> None:
    model = ModelPlan(endpoint="http://127.0.0.1:1/v1", name="judge")
    identity, request = open_model(model).identity, CallRequest((), {}, seed=0)
    with CallCache(tmp_path / "calls.sqlite") as cache:
        answer = CallResult("8", "stop", Usage(calls=1), version="judge-2026-10")
        cache.store(request.key(identity), identity, request, answer, Tags("c", "student", "search"))
    assert pin_model("student", model, seen=tmp_path / "calls.sqlite").version == "judge-2026-10"
    assert pin_model("student", model).version is None


def test_a_price_that_nobody_knows_cannot_be_pinned_but_a_stated_one_can() -> None:
    unknown = {"hosted": "openai/no-such-model"}
    with pytest.raises(PlanError, match=r"price of 'openai/no-such-model' is not known; state it"):
        pin_model("student", ModelPlan.model_validate(unknown))
    stated = {**unknown, "price": {"prompt_usd_per_million": 1, "completion_usd_per_million": 2}}
    price = pin_model("student", ModelPlan.model_validate(stated)).resolved.price
    assert price is not None
    assert (price.prompt_usd_per_million, price.cached_usd_per_million) == (1, 1)


def test_the_pinned_price_is_the_one_that_is_charged(tmp_path: Path) -> None:
    pin = pin_model("student", HOSTED)
    then = replace(pin, price=PricePlan(prompt_usd_per_million=7.0, completion_usd_per_million=9.0))
    write_pin(tmp_path / "lock.json", then)
    found = open_model(load_model_lock(tmp_path / "lock.json").pins["student"].resolved).price
    assert found is not None
    assert (found.prompt, found.completion) == (pytest.approx(7e-6), pytest.approx(9e-6))


def test_a_pin_is_not_overwritten_silently(tmp_path: Path) -> None:
    lock = tmp_path / "lock.json"
    write_pin(lock, pin_model("student", HOSTED))
    before = lock.read_bytes()
    assert write_pin(lock, pin_model("student", HOSTED)) == ()
    assert lock.read_bytes() == before, "an equal pin keeps its date"
    other = pin_model("student", ModelPlan(hosted="openai/gpt-4.1-nano"))
    with pytest.raises(PlanError, match=r'student is already pinned.*model\.hosted: "openai/gpt-4\.1-mini" → .*--upd'):
        write_pin(lock, other)
    assert lock.read_bytes() == before
    changed = write_pin(lock, other, update=True)
    assert any(line.startswith("student.price.prompt_usd_per_million: 0.4 → ") for line in changed)
    assert load_model_lock(lock).pins["student"] == other


def test_an_edited_lock_is_refused_by_role(tmp_path: Path) -> None:
    lock = tmp_path / "lock.json"
    write_pin(lock, pin_model("student", HOSTED))
    write_pin(lock, pin_model("reflector", HOSTED))
    data = json.loads(lock.read_text())
    data["roles"]["reflector"]["price"]["prompt_usd_per_million"] = 0.0
    lock.write_text(json.dumps(data))
    with pytest.raises(PlanError, match=r"lock\.json: was edited \(reflector\); restore it"):
        load_model_lock(lock)
    lock.write_text("{}")
    with pytest.raises(PlanError, match="is not a model lock"):
        load_model_lock(lock)


def test_replays_and_other_roles_are_not_pinned() -> None:
    for model in ({"role": "student"}, {"replay": "calls.sqlite", "of": {"hosted": "openai/gpt-4.1-mini"}}):
        with pytest.raises(PlanError, match="cannot be pinned"):
            pin_model("student", ModelPlan.model_validate(model))
    with pytest.raises(PlanError, match=r"role must be one of student, reflector, .*got 'judge'"):
        pin_model("judge", HOSTED)


def test_a_role_that_is_not_pinned_does_not_run(make_plan: MakePlan, tmp_path: Path) -> None:
    unnamed = make_plan("a", student=BY_ROLE["student"])
    with pytest.raises(PlanError, match=r"names no model lock.*holdgate models pin .*plan\.yaml --role student"):
        load_plan(str(unnamed))
    plan = make_plan("b", **BY_ROLE)
    with pytest.raises(PlanError, match=r"there is no model lock; write one with: holdgate models pin"):
        load_plan(str(plan))
    write_pin(plan.parent / "models.lock.json", pin_model("reflector", ModelPlan.model_validate({"simulated": {}})))
    with pytest.raises(PlanError, match=r"student.model is that of role 'student', but it is not pinned"):
        load_plan(str(plan))
    idle = make_plan("c", models="models.lock.json")
    write_pin(idle.parent / "models.lock.json", pin_model("student", HOSTED))
    with pytest.raises(PlanError, match="models has no effect"):
        load_plan(str(idle))


def test_a_plan_by_role_runs_as_its_inline_twin_and_its_lock_is_in_the_ledger(
    make_plan: MakePlan, tmp_path: Path
) -> None:
    plan = make_plan("a", **BY_ROLE)
    lock = plan.parent / "models.lock.json"
    write_pin(lock, pin_model("student", ModelPlan.model_validate({"simulated": {"noise": 2.0}})))
    first = run(plan, tmp_path / "runs" / "one")
    registered = read_events(first.directory / "ledger.jsonl")[0].body
    assert registered["models_hash"] == load_model_lock(lock).hash
    assert registered["plan"]["student"]["model"]["simulated"]["noise"] == 2.0
    twin = run(make_plan("b"), tmp_path / "runs" / "two")
    assert twin.verdict["accept"] == first.verdict["accept"]
    assert twin.paid == 0, "the same model has the same keys"
    write_pin(lock, pin_model("student", ModelPlan.model_validate({"simulated": {"noise": 3.0}})), update=True)
    with pytest.raises(PlanError, match="another plan"):
        run(plan, first.directory)


def test_another_roles_pin_is_part_of_the_lock_that_a_campaign_began_with(make_plan: MakePlan, tmp_path: Path) -> None:
    plan = make_plan("a", **BY_ROLE)
    lock = plan.parent / "models.lock.json"
    write_pin(lock, pin_model("student", ModelPlan.model_validate({"simulated": {"noise": 2.0}})))
    first = run(plan, tmp_path / "runs" / "one")
    write_pin(lock, pin_model("auditor", HOSTED))
    with pytest.raises(PlanError, match="another plan"):
        run(plan, first.directory)


class TestCommand:
    def test_a_plans_models_are_pinned_and_shown(
        self, holdgate: Holdgate, make_plan: MakePlan, judge_endpoint: JudgeEndpoint
    ) -> None:
        model = {"endpoint": judge_endpoint.url, "name": "judge"}
        plan = make_plan(student={"shape": "per-fact", "model": model, "max_facts": 5})
        status, said, error = holdgate("models", "pin", plan)
        assert (status, error) == (0, "")
        assert "student = endpoint judge" in said
        assert "models: models.lock.json, student.model: {role: student}" in said
        lock = plan.parent / "models.lock.json"
        assert load_model_lock(lock).pins["student"].settings["budget"]["answer_tokens"] == 64
        assert "(as it was)" in holdgate("models", "pin", plan)[1]
        status, said, _ = holdgate("models", "list", lock)
        assert "endpoint judge" in said
        assert load_model_lock(lock).hash in said

    def test_a_change_needs_update_and_shows_the_difference(self, holdgate: Holdgate) -> None:
        pin = ("models", "pin", "--role", "reflector", "--hosted")
        assert holdgate(*pin, "openai/gpt-4.1")[0] == 0
        status, _, error = holdgate(*pin, "openai/gpt-4.1-mini")
        assert status == 2
        assert 'reflector.model.hosted: "openai/gpt-4.1" → "openai/gpt-4.1-mini"' in error
        status, said, _ = holdgate(*pin, "openai/gpt-4.1-mini", "--update")
        assert status == 0
        assert 'reflector.model.hosted: "openai/gpt-4.1" → "openai/gpt-4.1-mini"' in said

    def test_a_price_and_a_key_variable_can_be_given(self, holdgate: Holdgate, tmp_path: Path) -> None:
        options = ("--endpoint", "http://127.0.0.1:1/v1", "--name", "m", "--key-env", "KEY", "--price", "1", "2")
        assert holdgate("models", "pin", "--role", "student", *options)[0] == 0
        pin = load_model_lock(tmp_path / "models.lock.json").pins["student"]
        assert pin.model.key_env == "KEY"
        assert pin.price is not None
        assert pin.price.completion_usd_per_million == 2

    def test_what_is_missing_is_said(self, holdgate: Holdgate, make_plan: MakePlan) -> None:
        assert "name a plan, or give --role" in holdgate("models", "pin")[2]
        assert "--role says what the model is for" in holdgate("models", "pin", make_plan(), "--hosted", "a/b")[2]
        assert (
            "endpoint and name go together"
            in holdgate("models", "pin", "--role", "student", "--endpoint", "http://127.0.0.1:1/v1")[2]
        )
        by_role = make_plan("b", **BY_ROLE)
        assert "student is not pinned, and the plan names no model for it" in holdgate("models", "pin", by_role)[2]
