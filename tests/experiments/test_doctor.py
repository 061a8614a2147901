"""The doctor: what a campaign lacks is said before anything is spent, with the fix."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from experiments.cli import main
from experiments.doctor import Examination, examine
from experiments.model_checks import Check
from optimize.model_lock import Pin
from optimize.model_plan import ModelPlan, PricePlan
from optimize.pinning import pin_model, write_pin
from splits import load_lock
from splits.corpus import Corpus
from splits.register import register_opening
from students.transport import CallCache
from tests.conftest import JudgeEndpoint

MakePlan = Callable[..., Path]
PER_FACT = {"shape": "per-fact", "max_facts": 5}


def named(found: Examination, name: str, start: str = "") -> Check:
    """The one check of that name and place."""
    (check,) = [check for check in found.checks if check.name == name and check.place.startswith(start)]
    return check


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_a_plan_that_can_run_has_no_complaint(make_plan: MakePlan, tmp_path: Path) -> None:
    found = examine(str(make_plan()), tmp_path / "runs" / "one")
    assert {check.state for check in found.checks} == {"ok"}
    (student,) = found.costs
    assert 0 < student.calls.low < student.calls.high
    assert student.usd is not None
    assert student.usd.high == 0
    assert not (tmp_path / "runs").exists(), "nothing is written"


def test_an_endpoint_that_answers_is_asked_for_its_models_only(
    make_plan: MakePlan, tmp_path: Path, judge_endpoint: JudgeEndpoint
) -> None:
    model = {"endpoint": judge_endpoint.url, "name": "judge"}
    found = examine(str(make_plan(student={**PER_FACT, "model": model})), tmp_path / "runs" / "one")
    assert "lists judge" in named(found, "model").words
    assert named(found, "price").state == "warn"
    assert "what it refuses stops the first call" in named(found, "parameters").fix
    assert not found.failed
    assert judge_endpoint.prompts == []
    (cost,) = found.costs
    assert cost.usd is None


def test_an_endpoint_that_does_not_list_the_model_is_a_warning_and_a_silent_one_a_failure(
    make_plan: MakePlan, tmp_path: Path, judge_endpoint: JudgeEndpoint
) -> None:
    plan = make_plan(student={**PER_FACT, "model": {"endpoint": judge_endpoint.url, "name": "other"}})
    check = named(examine(str(plan), tmp_path / "runs" / "one"), "model")
    assert (check.state, "does not list a model 'other'" in check.words) == ("warn", True)
    judge_endpoint.close()
    check = named(examine(str(plan), tmp_path / "runs" / "one"), "model")
    assert (check.state, check.place) == ("fail", "student.model")
    assert "cannot be reached" in check.words
    assert "start the endpoint" in check.fix


@pytest.mark.usefixtures("no_keys")
def test_a_hosted_model_needs_its_key_a_price_and_what_the_student_sends(
    make_plan: MakePlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan("a", student={**PER_FACT, "model": {"hosted": "openai/gpt-4.1-mini"}})
    found = examine(str(plan), tmp_path / "runs" / "one")
    assert named(found, "model").words == "openai: OPENAI_API_KEY is not set"
    assert named(found, "model").fix == "export OPENAI_API_KEY=…"
    assert (
        "US$ 0.4 for a million prompt tokens (0.1 cached), 1.6 completion tokens (litellm)"
        in named(found, "price").words
    )
    assert (named(found, "parameters").state, named(found, "context").state) == ("ok", "ok")
    (cost,) = found.costs
    assert cost.usd is not None
    assert 0 < cost.usd.low < cost.usd.high
    expected = cost.prompt_tokens.high * 0.4e-6 + cost.completion_tokens.high * 1.6e-6
    assert cost.usd.high == pytest.approx(expected, rel=1e-6)
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert not examine(str(plan), tmp_path / "runs" / "one").failed


@pytest.mark.usefixtures("no_keys")
@pytest.mark.parametrize(
    ("model", "check", "words"),
    [
        ("anthropic/claude-sonnet-4-5", "parameters", "does not accept top_logprobs"),
        ("nonsense/model", "model", "begins with no provider that litellm knows"),
        ("openai/no-such-model", "price", "the price of 'openai/no-such-model' is not known"),
    ],
)
def test_what_a_hosted_model_lacks_is_a_failure(
    make_plan: MakePlan, tmp_path: Path, model: str, check: str, words: str
) -> None:
    found = examine(str(make_plan(student={**PER_FACT, "model": {"hosted": model}})), tmp_path / "runs" / "one")
    assert named(found, check).state == "fail"
    assert words in named(found, check).words
    assert named(found, check).fix


def test_a_local_model_that_is_not_there_is_a_failure_with_its_command(
    make_plan: MakePlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDGATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HOLDGATE_MODELS", raising=False)
    model = {"local": "qwen2.5-coder-0.5b-instruct"}
    check = named(examine(str(make_plan(student={**PER_FACT, "model": model})), tmp_path / "runs" / "one"), "model")
    assert (check.state, check.fix) == ("fail", "holdgate model fetch qwen2.5-coder-0.5b-instruct")


def test_the_longest_example_is_compared_with_the_context(
    make_plan: MakePlan, tmp_path: Path, judge_endpoint: JudgeEndpoint
) -> None:
    plan = make_plan(student={**PER_FACT, "model": {"endpoint": judge_endpoint.url, "name": "judge"}})
    for stated, state, words in (
        ({}, "warn", "the context length is not known"),
        ({"max_model_len": 50}, "fail", "tokens of 50"),
        ({"meta": {"n_ctx": 400}}, "warn", "tokens of 400"),
        ({"context_length": 100_000}, "ok", "tokens of 100,000"),
    ):
        listed = json.dumps({"data": [{"id": "judge", **stated}]})
        judge_endpoint.listed = listed
        check = named(examine(str(plan), tmp_path / "runs" / "one"), "context")
        assert (check.state, words in check.words) == (state, True)


def test_a_broken_split_lock_is_a_failure_and_the_rest_is_still_looked_at(make_plan: MakePlan, tmp_path: Path) -> None:
    plan = make_plan()
    lock = plan.parent / "split.lock.json"
    lock.write_text(lock.read_text().replace('"seed": 3', '"seed": 4'))
    found = examine(str(plan), tmp_path / "runs" / "one")
    assert named(found, "corpus and splits").state == "fail"
    assert "split.lock.json" in named(found, "corpus and splits").words
    assert named(found, "call cache").state == "ok"
    assert found.costs == ()


def test_a_held_out_split_that_is_spent_is_a_failure(
    make_plan: MakePlan, tmp_path: Path, consults: Corpus, judge_endpoint: JudgeEndpoint
) -> None:
    plan = make_plan(student={**PER_FACT, "model": {"endpoint": judge_endpoint.url, "name": "judge"}})
    check = named(examine(str(plan), tmp_path / "runs" / "one"), "held-out")
    assert "1 of 1 confirmatory comparisons are left" in check.words
    lock = load_lock(plan.parent / "split.lock.json", consults)
    register_opening(lock, campaign="c" * 64, target="instruction", opening="confirm", purpose="test", caller="test")
    check = named(examine(str(plan), tmp_path / "runs" / "one"), "held-out")
    assert check.state == "fail"
    assert "--exploratory REASON" in check.fix


def test_a_limit_below_the_estimate_is_a_warning(make_plan: MakePlan, tmp_path: Path) -> None:
    plan = make_plan(limits={"calls": 10, "wall_s": 1e6})
    found = examine(str(plan), tmp_path / "runs" / "one")
    assert named(found, "limits", "limits.calls").state == "warn"
    assert named(found, "limits", "limits.calls").fix.startswith("raise limits.calls")
    assert named(found, "limits", "limits.wall_s").state == "ok"
    useless = make_plan("usd", limits={"usd": 1.0})
    check = named(examine(str(useless), tmp_path / "runs" / "one"), "limits", "limits.usd")
    assert (check.state, "has no effect" in check.words) == ("fail", True)


def test_a_foreign_cache_file_is_a_failure(make_plan: MakePlan, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    with CallCache(runs / "calls.sqlite"):
        pass
    assert named(examine(str(make_plan("a")), runs / "one"), "call cache").words == "0 answers"
    (runs / "calls.sqlite").write_text("hello")
    assert named(examine(str(make_plan("b")), runs / "one"), "call cache").state == "fail"


class TestPins:
    def plan(self, make_plan: MakePlan, model: dict[str, Any], **changes: Any) -> tuple[Path, Pin]:
        plan = make_plan(models="models.lock.json", student={**PER_FACT, "model": {"role": "student"}, **changes})
        settings = {"budget": {"effort": "none", "thinking_tokens": None, "answer_tokens": 64}, "temperature": 0.0}
        return plan, pin_model("student", ModelPlan.model_validate(model), settings=settings)

    def test_a_role_that_is_not_pinned_is_a_failure(self, make_plan: MakePlan, tmp_path: Path) -> None:
        plan, _ = self.plan(make_plan, {"simulated": {}})
        check = named(examine(str(plan), tmp_path / "runs" / "one"), "model lock")
        assert (check.state, "there is no model lock" in check.words) == ("fail", True)

    def test_a_pin_that_still_holds_is_in_order(self, make_plan: MakePlan, tmp_path: Path) -> None:
        plan, pin = self.plan(make_plan, {"simulated": {}})
        write_pin(plan.parent / "models.lock.json", pin)
        found = examine(str(plan), tmp_path / "runs" / "one")
        assert (named(found, "pin").state, named(found, "model lock").state) == ("ok", "ok")

    def test_a_price_that_moved_since_is_a_warning(
        self, make_plan: MakePlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        plan, pin = self.plan(make_plan, {"hosted": "openai/gpt-4.1-mini"})
        old = PricePlan(prompt_usd_per_million=0.8, completion_usd_per_million=1.6, cached_usd_per_million=0.1)
        write_pin(
            plan.parent / "models.lock.json",
            Pin(**{name: getattr(pin, name) for name in Pin.__slots__} | {"price": old}),
        )
        found = examine(str(plan), tmp_path / "runs" / "one")
        check = named(found, "pin")
        assert check.state == "warn"
        assert "student.price.prompt_usd_per_million: 0.8 → 0.4" in check.words
        assert "US$ 0.8" in named(found, "price").words, "the pinned price is the one that is charged"
        assert not found.failed

    def test_other_settings_than_it_was_pinned_with_are_a_warning(self, make_plan: MakePlan, tmp_path: Path) -> None:
        plan, pin = self.plan(make_plan, {"simulated": {}}, budget={"answer_tokens": 9})
        write_pin(plan.parent / "models.lock.json", pin)
        assert "was pinned with" in named(examine(str(plan), tmp_path / "runs" / "one"), "pin").words


def test_a_replay_is_looked_at_without_its_model_or_key(
    finished_run: Path, make_plan: MakePlan, tmp_path: Path
) -> None:
    of = {"simulated": {"noise": 2.0}}
    cache = str(finished_run.parent / "calls.sqlite")
    plan = make_plan("a", student={**PER_FACT, "model": {"replay": cache, "of": of}})
    found = examine(str(plan), tmp_path / "runs" / "one")
    assert "answers of this model" in named(found, "model").words
    assert not found.failed
    other = make_plan("b", student={**PER_FACT, "model": {"replay": cache, "of": {"simulated": {"noise": 1.0}}}})
    assert "holds no answer of this model" in named(examine(str(other), tmp_path / "runs" / "one"), "model").words


def test_the_command_prints_a_table_or_json_and_fails_only_on_a_failure(
    make_plan: MakePlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def holdgate(*arguments: str | Path) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["holdgate", "doctor", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), capsys.readouterr().out

    plan = make_plan()
    status, said = holdgate(plan, "--out", tmp_path / "runs" / "one")
    assert status == 0
    for words in ("student.model", "confirmatory comparison", "the whole plan, about", "0 failures"):
        assert words in said
    data = yaml.safe_load(plan.read_text())
    data["student"]["model"] = {"endpoint": "http://127.0.0.1:9/v1", "name": "judge"}
    plan.write_text(yaml.safe_dump(data))
    status, said = holdgate(plan, "--out", tmp_path / "runs" / "one", "--json")
    found = json.loads(said)
    assert (status, found["failed"]) == (1, True)
    assert any(check["state"] == "fail" and "start the endpoint" in check["fix"] for check in found["checks"])
