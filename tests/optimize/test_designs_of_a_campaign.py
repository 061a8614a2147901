"""Whole campaigns with each student design and kind of budget, against a real endpoint on loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from experiments import load_plan, plan_size
from lineage import read_events
from lineage.audit import audit_ledger
from lineage.errors import CampaignError, PlanError
from lineage.records import Judgement
from lineage.segments import read_segment
from optimize import Campaign
from optimize.evaluation import Evaluation
from optimize.models import student_of
from optimize.recompute import audit_numbers
from splits.corpus import Example
from students.answers import Reading
from students.overlap import word_overlap

MakePlan = Callable[..., Path]
pytestmark = pytest.mark.integration


def completion(text: str, tokens: int) -> tuple[int, str]:
    usage = {"prompt_tokens": 100, "completion_tokens": tokens}
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return 200, json.dumps({"model": "judge-1", "choices": [choice], "usage": usage})


def keyed(user: str) -> str:
    """Verdicts by word overlap; the second of several facts is forgotten in every third note."""
    note, facts = re.fullmatch(r"NOTE:\n(.*)\n\nFACTS:\n(.*)\n\nYour lines:", user, re.DOTALL).groups()  # type: ignore[union-attr]
    lines = [line.split(": ", 1) for line in facts.split("\n")]
    said = [f"{key}: {'present' if word_overlap(fact, note) > 0.5 else 'absent'}" for key, fact in lines]
    return "\n".join(said[:1] + said[2:] if len(said) > 1 and len(note) % 3 == 0 else said)


def scored(user: str) -> str:
    source, note = re.fullmatch(r"TRANSCRIPT:\n(.*)\n\nNOTE:\n(.*?)", user, re.DOTALL).groups()  # type: ignore[union-attr]
    return f"Score: {round(10 * word_overlap(source, note))}"


def run(plan: Path, out: Path) -> list[Judgement]:
    """Run a campaign and audit it; all its judgements."""
    loaded = load_plan(str(plan))
    Campaign(loaded.plan, loaded.corpus, loaded.lock, out, baseline=loaded.baseline).run()
    assert [found for found in audit_ledger(out) if found.severity == "error"] == []
    assert [found for found in audit_numbers(out) if found.severity == "error"] == []
    return list(judgements(out))


def judgements(out: Path) -> Iterator[Judgement]:
    for event in read_events(out / "ledger.jsonl"):
        if event.type == "evaluation":
            yield from read_segment(out / "judgements", event.body["segment"])


def planned(make_plan: MakePlan, url: str, **student: Any) -> Path:
    search = {"iterations": 2, "minibatch_groups": 1, "seed": 1}
    return make_plan(student={"model": {"endpoint": url, "name": "judge"}, **student}, search=search)


def test_a_campaign_with_keyed_verdicts_asks_again_for_what_is_missing_and_its_audit_passes(
    make_plan: MakePlan, judge_endpoint: Any, tmp_path: Path
) -> None:
    judge_endpoint.before = lambda number: completion(
        keyed(json.loads(judge_endpoint.prompts[number - 1])[1]["content"]), 20
    )
    plan = planned(make_plan, judge_endpoint.url, shape="per-fact-keyed", max_facts=4)
    found = run(plan, tmp_path / "run")
    assert {judgement.status for judgement in found} == {"scored"}
    assert {len(judgement.raw) for judgement in found} == {1, 2}
    assert len(judge_endpoint.prompts) <= plan_size(load_plan(str(plan))).student


def test_a_campaign_with_scratchpads_records_their_tokens_and_its_audit_passes(
    make_plan: MakePlan, judge_endpoint: Any, tmp_path: Path
) -> None:
    def answer(number: int) -> tuple[int, str]:
        messages = json.loads(judge_endpoint.prompts[number - 1])
        thinks = len(messages) == 2
        return completion("It is all there.", 40) if thinks else completion(scored(messages[1]["content"]), 5)

    judge_endpoint.before = answer
    budget = {"thinking_tokens": 50, "answer_tokens": 8}
    found = run(planned(make_plan, judge_endpoint.url, shape="whole-note", budget=budget), tmp_path / "run")
    assert {judgement.status for judgement in found} == {"scored"}
    assert {judgement.usage.reasoning_tokens for judgement in found} == {40}
    assert {judgement.usage.completion_tokens for judgement in found} == {45}
    for judgement in found:
        assert judgement.sent["answer"] == {"temperature": 0.0, "max_tokens": 8}
        assert judgement.sent["scratchpad"] == {"temperature": 0.0, "max_tokens": 50}
        assert judgement.sent["budget"] == {"effort": "none", **budget}


def test_a_judge_that_abstains_is_no_failure_and_stops_a_campaign_for_want_of_scores(
    make_plan: MakePlan, judge_endpoint: Any, tmp_path: Path
) -> None:
    judge_endpoint.before = lambda number: completion("ABSTAIN", 2)
    plan = planned(make_plan, judge_endpoint.url, shape="whole-note")
    with pytest.raises(CampaignError, match=r"only 0% .* have a score \(abstained: ABSTAIN\)"):
        run(plan, tmp_path / "run")
    (body,) = (event.body for event in read_events(tmp_path / "run" / "ledger.jsonl") if event.type == "evaluation")
    assert (body["failed"], body["abstained"]) == (0, body["segment"]["judgements"])


@pytest.mark.parametrize(
    ("student", "said"),
    [
        (
            {"shape": "whole-note", "model": {"endpoint": "http://127.0.0.1:9/v1", "name": "o3"}},
            r"o3 does not accept temperature = 0, it is fixed at 1; give temperature: null or 1",
        ),
        (
            {"shape": "per-fact", "model": {"endpoint": "http://127.0.0.1:9/v1", "name": "o3"}},
            r"o3 does not accept top_logprobs = 20, accepted: none",
        ),
        (
            {"shape": "per-fact", "model": {"local": "qwen2.5-coder-0.5b-instruct"}, "budget": {"effort": "low"}},
            r"qwen2.5-coder-0.5b-instruct does not accept budget.effort = low, accepted: none but the default; give "
            r"budget.thinking_tokens",
        ),
        (
            {"shape": "whole-note", "model": {"simulated": {}}, "budget": {"thinking_tokens": 10}},
            r"the simulated judge does not accept budget.thinking_tokens = 10, accepted: none; leave it out",
        ),
    ],
)
def test_what_a_model_does_not_take_is_refused_before_there_is_a_run(
    make_plan: MakePlan, student: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(PlanError, match=said):
        run(make_plan(student=student), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_reflector_s_budget_is_refused_before_there_is_a_run(make_plan: MakePlan, tmp_path: Path) -> None:
    model = {"endpoint": "http://127.0.0.1:9/v1", "name": "gpt-5"}
    plan = make_plan(reflector={"kind": "llm", "model": model, "temperature": 0.5, "budget": {"effort": "low"}})
    with pytest.raises(PlanError, match=r"gpt-5 does not accept temperature = 0\.5, it is fixed at 1"):
        run(plan, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("shape", "samples"),
    [("faithfulness-yes-no-1", 1), ("complete-and-faithful-yes-no-8", 8), ("complete-and-faithful-score-8", 8)],
)
def test_a_simulated_campaign_with_one_of_the_eight_designs_records_samples_and_flags_and_its_audit_passes(
    make_plan: MakePlan, shape: str, samples: int, tmp_path: Path
) -> None:
    search = {"iterations": 2, "minibatch_groups": 1, "seed": 1}
    plan = make_plan(student={"shape": shape, "model": {"simulated": {"noise": 1.0}}}, search=search)
    found = run(plan, tmp_path / "run")
    assert {judgement.status for judgement in found} == {"scored"}
    assert {len(judgement.raw) for judgement in found} == {samples}
    rule = student_of(load_plan(str(plan)).plan.student, {}).flag_rule
    assert rule is not None
    for judgement in found:
        assert judgement.flags == rule.flags(Reading("scored", judgement.score))
    assert sum(judgement.paid for judgement in found) <= plan_size(load_plan(str(plan))).student


def test_a_campaign_with_a_checklist_asks_for_one_a_group_and_its_audit_passes(
    make_plan: MakePlan, judge_endpoint: Any, tmp_path: Path
) -> None:
    def answer(number: int) -> tuple[int, str]:
        user = json.loads(judge_endpoint.prompts[number - 1])[1]["content"]
        if user.startswith("TRANSCRIPT:"):
            return completion("1. Does the note name the drug?\n2. Does the note give its dose?", 20)
        if user.startswith("NOTE:"):
            return completion(f"q1: yes\nq2: {'yes' if 'mg' in user else 'no'}", 8)
        return completion("<instruction>Answer strictly, on the wording of the item alone.</instruction>", 12)

    judge_endpoint.before = answer
    model = {"endpoint": judge_endpoint.url, "name": "judge"}
    plan = make_plan(
        student={"shape": "checklist", "model": model},
        search={"iterations": 1, "minibatch_groups": 1, "seed": 1},
        reflector={"kind": "llm", "model": model},
        baseline="checklist-answers",
    )
    found = run(plan, tmp_path / "run")
    assert {judgement.status for judgement in found} == {"scored"}
    assert {judgement.shared.calls for judgement in found} == {1}
    lists = [prompt for prompt in judge_endpoint.prompts if "Items wanted" in prompt]
    assert len(lists) == len(set(lists))
    assert len(judge_endpoint.prompts) <= (size := plan_size(load_plan(str(plan)))).student + size.reflector


def test_abstentions_are_counted_apart_from_failures_and_neither_has_a_pair() -> None:
    examples = (
        Example("a", "g", "s", "", "", "clean", "clean"),
        *(Example(name, "g", "s", "", "", "omission", "omit", twin="a") for name in "bcd"),
    )
    judged = (
        Judgement("a", "c", "s", "scored", 1.0),
        Judgement("b", "c", "s", "scored", 0.5),
        Judgement("c", "c", "s", "failed", None, reason="empty: no text"),
        Judgement("d", "c", "s", "abstained", None, reason="abstained: ABSTAIN"),
    )
    found = Evaluation("c", examples, judged)
    assert [judgement.example for judgement in found.failed] == ["c"]
    assert [judgement.example for judgement in found.abstained] == ["d"]
    assert [judgement.example for judgement in found.unscored] == ["c", "d"]
    assert [pair.example for pair in found.pairs()] == ["b"]
