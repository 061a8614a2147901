from __future__ import annotations

import copy
from typing import Any

import pytest

from lineage.errors import PlanError
from optimize.model_plan import ModelPlan
from optimize.plan import Plan, parse_plan

MINIMAL: dict[str, Any] = {
    "name": "small",
    "corpus": {"bundled": "consults"},
    "splits": {"lock": "split.lock.json"},
    "student": {"shape": "per-fact", "model": {"simulated": {}}},
    "baseline": "stated-in-note",
    "search": {"iterations": 3},
}


def changed(path: str, value: Any) -> dict[str, Any]:
    data = copy.deepcopy(MINIMAL)
    *parents, last = path.split(".")
    place = data
    for parent in parents:
        place = place.setdefault(parent, {})
    place[last] = value
    return data


def test_a_minimal_plan_has_its_defaults_in_its_hash() -> None:
    plan = parse_plan(MINIMAL, where="plan.yaml")
    assert plan.row()["gate"] == {
        "rule": "lower-bound",
        "margin": 0.0,
        "coverage": 0.98,
        "hoped_gain": None,
        "confirm_on_accept": None,
        "equal_budget": False,
    }
    assert plan.hash == parse_plan(changed("gate", {"rule": "lower-bound"}), where="plan.yaml").hash
    assert plan.hash != parse_plan(changed("search.seed", 1), where="plan.yaml").hash


def test_a_plan_is_frozen() -> None:
    plan = parse_plan(MINIMAL, where="plan.yaml")
    with pytest.raises(ValueError, match="frozen"):
        plan.name = "other"  # type: ignore[misc]  # the point of the test


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("serach", "search"),
        ("search.iteration", "iterations"),
        ("student.agregator", "aggregator"),
        ("student.model.endpont", "endpoint"),
        ("guardrails.false_alarm_margn", "false_alarm_margin"),
        ("gate.confirm_on_accept.point", "points"),
        ("limits.call", "calls"),
        ("limits.reflecter", "reflector"),
        ("limits.student.token", "tokens"),
        ("student.model.limits.request_per_minute", "requests_per_minute"),
    ],
)
def test_a_misspelt_key_is_refused_with_the_near_name(path: str, near: str) -> None:
    with pytest.raises(PlanError, match=rf"plan\.yaml: unknown key '{path}'; did you mean '{near}'\?"):
        parse_plan(changed(path, 1), where="plan.yaml")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("search.iterations", -1, r"search\.iterations: .*greater than or equal to 0.*got -1"),
        ("search.iterations", "many", r"search\.iterations: .*integer.*got 'many'"),
        ("gate.rule", "best", r"gate\.rule: .*lower-bound.*got 'best'"),
        ("gate.coverage", 1.5, r"gate\.coverage: .*less than or equal to 1"),
        ("gate.margin", float("nan"), r"gate\.margin: .*finite number \(got nan\)"),
        ("guardrails.cost_ratio", float("inf"), r"guardrails\.cost_ratio: .*finite number \(got inf\)"),
        ("student.shape", "half-note", r"student\.shape: there is no design 'half-note'; did you mean 'whole-note'"),
        ("student.samples", 3, r"samples has no effect on shape per-fact"),
        ("student.temperature", 0.5, r"temperature has no effect on shape per-fact; remove it"),
        ("student", {"shape": "whole-note", "model": {"simulated": {}}, "max_facts": 3}, r"max_facts has no effect"),
        (
            "student",
            {"shape": "per-fact-keyed", "model": {"endpoint": "http://127.0.0.1:1/v1", "name": "m"}, "samples": 2},
            r"samples has no effect on shape per-fact-keyed",
        ),
        (
            "student",
            {"shape": "engineered", "model": {"simulated": {}}},
            r"answers shapes per-fact, .* only",
        ),
        ("student.prompt_cache", "on", r"prompt_cache has no effect"),
        (
            "student.model",
            {"local": "a", "hosted": "b"},
            r"exactly one of local, endpoint, hosted, simulated, role, replay",
        ),
        ("student.model", {}, r"exactly one of .*got none"),
        ("student.model", {"replay": "calls.sqlite"}, r"replay and of go together"),
        ("student.model", {"of": {"simulated": {}}, "simulated": {}}, r"replay and of go together"),
        ("student.model", {"replay": "a", "of": {"replay": "b", "of": {"simulated": {}}}}, r"not another replay"),
        ("student.model", {"role": "student", "concurrency": 2}, r"everything about a role is in the model lock"),
        ("student.model", {"endpoint": "http://127.0.0.1:1/v1"}, r"endpoint and name go together"),
        ("student.model", {"simulated": {}, "price": {"prompt_usd_per_million": 1}}, r"completion_usd_per_million"),
        ("reflector", {"kind": "llm"}, r"kind llm needs a model"),
        ("reflector", {"kind": "operators", "temperature": 1.0}, r"temperature has no effect on kind operators"),
        ("replicates", 2, r"replicates must be odd"),
        ("limits", {"reflector": {"calls": 3}}, r"limits\.reflector has no effect: kind operators makes no calls"),
        ("limits", {"student": {"wall_s": 0}}, r"limits\.student\.wall_s: .*greater than 0"),
        ("corpus", {"bundled": "consults", "path": "x"}, r"give one of bundled, path"),
        ("name", "a/b", r"name: .*pattern"),
    ],
)
def test_a_value_that_breaks_a_rule_is_refused_by_name(path: str, value: Any, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        parse_plan(changed(path, value), where="plan.yaml")


def test_a_plan_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(PlanError, match="a plan is one mapping"):
        parse_plan(["name"], where="plan.yaml")


def test_exact_prompt_cache_needs_a_local_model() -> None:
    model = {"endpoint": "http://127.0.0.1:1/v1", "name": "judge"}
    data = changed("student", {"shape": "per-fact", "model": model, "prompt_cache": "exact"})
    with pytest.raises(PlanError, match="exact needs a server that takes one call at a time"):
        parse_plan(data, where="plan.yaml")


def test_the_schema_describes_every_section() -> None:
    schema = Plan.model_json_schema()
    assert set(schema["properties"]) >= {"corpus", "splits", "student", "reflector", "search", "gate", "guardrails"}
    assert schema["additionalProperties"] is False


def test_a_replay_has_the_hash_of_the_plan_that_it_replays() -> None:
    original = {"endpoint": "http://127.0.0.1:1/v1", "name": "judge"}
    plan = parse_plan(changed("student.model", original), where="plan.yaml")
    replay = parse_plan(changed("student.model", {"replay": "calls.sqlite", "of": original}), where="plan.yaml")
    assert (replay.row(), replay.hash) == (plan.row(), plan.hash)
    assert (plan.replayed, replay.replayed) == ((), ("student",))


def test_a_plan_with_other_models_is_checked_again() -> None:
    student = {"shape": "per-fact", "model": {"role": "student"}, "prompt_cache": "exact"}
    plan = parse_plan(changed("student", student), where="plan.yaml")
    local = ModelPlan(local="qwen2.5-coder-0.5b-instruct")
    assert plan.with_models({"student": local}).student.model == local
    with pytest.raises(PlanError, match="exact needs a server that takes one call at a time"):
        plan.with_models({"student": ModelPlan(endpoint="http://127.0.0.1:1/v1", name="judge")})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("gate.rule", "permutation"),
        ("gate.margin", 0.01),
        ("gate.confirm_on_accept", {"points": 2.0}),
        ("gate.confirm_on_accept", {"points": 3.0}),
        ("gate.confirm_on_accept", {"points": 2.0, "measures": ["paired"]}),
        ("gate.confirm_on_accept", {"points": 2.0, "need": "all"}),
        ("gate.equal_budget", True),
        ("guardrails.false_alarm_cap", 0.2),
        ("guardrails.false_alarm_cap", None),
        ("guardrails.cost_ratio", 3.0),
        ("guardrails.cost_ratio", None),
    ],
)
def test_every_key_of_the_gate_is_in_the_hash(path: str, value: Any) -> None:
    hashes = {
        parse_plan(changed(where, given), where="plan.yaml").hash
        for where, given in (("gate.rule", "lower-bound"), (path, value), ("gate.confirm_on_accept", {"points": 9.0}))
    }
    assert len(hashes) == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            changed("gate.rule", "beyond-noise"),
            r"beyond-noise reads the noise between replicates, and there is 1; give",
        ),
        (changed("gate", {"rule": "permutation", "margin": 0.1}), r"margin has no effect on rule permutation"),
        (changed("gate.confirm_on_accept", {"measures": []}), r"gate\.confirm_on_accept\.measures: .*at least 1"),
        (changed("gate.confirm_on_accept", {"measures": ["paired", "paired"]}), r"name each measure once"),
        (changed("gate.confirm_on_accept", {"points": 0}), r"gate\.confirm_on_accept\.points: .*greater than 0"),
        (changed("gate.confirm_on_accept", {"need": "most"}), r"gate\.confirm_on_accept\.need"),
        (changed("guardrails.cost_ratio", 0), r"guardrails\.cost_ratio: .*greater than 0"),
        (changed("guardrails.false_alarm_cap", 10), r"guardrails\.false_alarm_cap: .*less than or equal to 1"),
        (
            changed("student", {"shape": "whole-note", "model": {"simulated": {}}}) | {"gate": {"equal_budget": True}},
            r"gate\.equal_budget: more samples at temperature 0 are the same answer again",
        ),
    ],
)
def test_a_gate_that_cannot_be_read_is_refused_with_the_plan(data: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        parse_plan(data, where="plan.yaml")


def test_beyond_noise_is_accepted_with_three_replicates() -> None:
    assert parse_plan(changed("gate.rule", "beyond-noise") | {"replicates": 3}, where="plan.yaml").replicates == 3
