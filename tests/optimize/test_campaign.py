from __future__ import annotations

import dataclasses
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from experiments import load_plan, write_report
from lineage import canonical_state, read_events
from lineage.audit import audit_ledger
from lineage.errors import BudgetError, CallError, CampaignError, ModelError, PlanError, SealError
from lineage.mirror import sync
from optimize import Campaign, CampaignResult
from optimize.calling import CallLayer
from optimize.models import open_model
from splits import Corpus, Selection, SplitLock, commit_lock, load_corpus, load_lock, plan_lock
from splits.corpus import example_row, fact_row
from splits.lock import _examples
from students.transport import CallCache

MakePlan = Callable[..., Path]


def run(plan: Path, out: Path, **options: Any) -> CampaignResult:
    loaded = load_plan(str(plan))
    campaign = Campaign(loaded.plan, loaded.corpus, loaded.lock, out, baseline=loaded.baseline, **options)
    return campaign.run()


def bodies(out: Path, kind: str) -> list[Any]:
    return [event.body for event in read_events(out / "ledger.jsonl") if event.type == kind]


def test_a_campaign_ends_with_a_verdict_whose_hash_is_in_the_ledger(finished_small: CampaignResult) -> None:
    out = finished_small.directory
    written = json.loads((out / "verdict.json").read_text())
    head = written.pop("ledger_head")
    assert written == finished_small.verdict
    events = read_events(out / "ledger.jsonl")
    assert head == {"count": len(events), "hash": events[-1].hash}
    assert written["simulated"] is True


def test_events_come_in_the_order_of_the_protocol(finished_small: CampaignResult) -> None:
    events = read_events(finished_small.directory / "ledger.jsonl")
    types = [event.type for event in events]
    assert types[:2] == ["plan", "splits"]
    opened = {event.body["opening"]: event.seq for event in events if event.type == "seal_opened"}
    baseline = next(e.seq for e in events if e.type == "evaluation" and e.body["purpose"] == "baseline")
    assert opened["baseline"] < baseline < types.index("reflection")
    assert types.index("choice") > max(index for index, kind in enumerate(types) if kind == "outcome")
    if "confirm" in opened:
        assert opened["confirm"] > types.index("choice")
    assert types[-3:] == ["verdict", "spend", "finished"]


def test_every_proposal_is_recorded_whole_with_one_outcome(finished_small: CampaignResult) -> None:
    candidates = bodies(finished_small.directory, "candidate")
    outcomes = bodies(finished_small.directory, "outcome")
    assert [body["kind"] for body in candidates] == ["seed"] + ["mutation"] * 6
    assert [body["candidate"] for body in outcomes] == [body["candidate"] for body in candidates[1:]]
    assert {body["outcome"] for body in outcomes} <= {"accepted", "rejected", "invalid"}
    for body in outcomes:
        if body["outcome"] == "rejected":
            assert sum(body["child_rewards"].values()) <= sum(body["parent_rewards"].values())
        if body["outcome"] == "accepted":
            assert sum(body["child_rewards"].values()) > sum(body["parent_rewards"].values())


def test_a_second_run_pays_nothing_and_adds_no_campaign_event(
    finished_small: CampaignResult, make_plan: MakePlan, tmp_path: Path
) -> None:
    out = Path(shutil.copytree(finished_small.directory, tmp_path / "runs" / "one"))
    before = canonical_state(read_events(out / "ledger.jsonl"))
    second = run(make_plan(), out)
    assert finished_small.paid > 0
    assert second.paid == second.cached == 0
    assert second.verdict == finished_small.verdict
    assert canonical_state(read_events(out / "ledger.jsonl")) == before


def test_a_new_run_directory_finds_every_call_in_the_cache(
    finished_small: CampaignResult, make_plan: MakePlan, tmp_path: Path
) -> None:
    (tmp_path / "runs").mkdir()
    shutil.copy(finished_small.directory.parent / "calls.sqlite", tmp_path / "runs" / "calls.sqlite")
    again = run(make_plan(), tmp_path / "runs" / "two")
    assert again.paid == 0
    assert again.cached > 0
    one, two = (canonical_state(read_events(x.directory / "ledger.jsonl")) for x in (finished_small, again))
    assert one == two


def test_a_search_that_may_propose_nothing_says_that_nothing_was_found(make_plan: MakePlan, tmp_path: Path) -> None:
    out = tmp_path / "runs" / "none"
    result = run(make_plan(search={"iterations": 0, "minibatch_groups": 2, "seed": 1}), out)
    assert result.verdict["decision"] == "nothing-found"
    assert [body["opening"] for body in bodies(out, "seal_opened")] == ["baseline"]
    assert not (out / "prompt.md").exists()


def test_no_prompt_file_is_written_unless_the_gate_passed(make_plan: MakePlan, tmp_path: Path) -> None:
    refused = run(make_plan("strict", gate={"rule": "lower-bound", "margin": 0.9}), tmp_path / "runs" / "strict")
    assert refused.verdict["decision"] in ("refuse", "nothing-found")
    assert not (refused.directory / "prompt.md").exists()


def test_a_pass_writes_the_prompt_with_its_verdict_and_intervals(finished_run: Path) -> None:
    verdict = json.loads((finished_run / "verdict.json").read_text())
    assert verdict["decision"] == "emit"
    text = (finished_run / "prompt.md").read_text()
    assert text.startswith("---\n")
    for field in ("verdict:", "heldout_interval:", "threshold:", "split_lock:", "corpus:", "simulated: true"):
        assert field in text
    winner = next(b for b in bodies(finished_run, "candidate") if b["candidate"] == verdict["winner"])
    assert text.rstrip().endswith(winner["texts"]["instruction"])


def test_an_exploratory_campaign_emits_nothing_even_where_the_rule_passes(make_plan: MakePlan, tmp_path: Path) -> None:
    guardrails = {"false_alarm_margin": None, "commission_margin": None, "prompt_words": None}
    plan = make_plan("loose", gate={"rule": "point", "margin": -1.0}, guardrails=guardrails)
    result = run(plan, tmp_path / "runs" / "loose", exploratory="a look around")
    assert result.verdict["decision"] == "refuse"
    assert result.verdict["confirmatory"] is False
    assert "a look around" in result.verdict["reason"]
    assert not (result.directory / "prompt.md").exists()


def test_a_run_directory_of_another_plan_is_refused(
    finished_small: CampaignResult, make_plan: MakePlan, tmp_path: Path
) -> None:
    out = Path(shutil.copytree(finished_small.directory, tmp_path / "runs" / "one"))
    other = make_plan(search={"iterations": 2, "minibatch_groups": 1, "seed": 9})
    with pytest.raises(PlanError, match=r"holds a campaign of another plan.*--out"):
        run(other, out)


def test_a_missing_model_file_is_an_error_before_any_work(
    make_plan: MakePlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDGATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HOLDGATE_MODELS", raising=False)
    student = {"shape": "per-fact", "model": {"local": "qwen2.5-coder-0.5b-instruct"}, "prompt_cache": "exact"}
    with pytest.raises(ModelError, match="holdgate model fetch"):
        run(make_plan(student=student), tmp_path / "runs" / "one")


def test_an_unreachable_endpoint_is_an_error_before_any_work(make_plan: MakePlan, tmp_path: Path) -> None:
    out = tmp_path / "runs" / "one"
    model = {"endpoint": "http://127.0.0.1:9/v1", "name": "judge"}
    with pytest.raises(CallError, match="cannot be reached"):
        run(make_plan(student={"shape": "per-fact", "model": model}), out)
    assert read_events(out / "ledger.jsonl") == ()


def test_a_dollar_limit_on_a_model_without_a_price_is_refused(make_plan: MakePlan, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"limits\.usd has no effect"):
        run(make_plan(limits={"usd": 1.0}), tmp_path / "runs" / "one")


def test_a_limit_stops_the_campaign_and_a_higher_one_goes_on_in_a_new_directory_without_paying_twice(
    finished_small: CampaignResult, make_plan: MakePlan, tmp_path: Path
) -> None:
    with pytest.raises(BudgetError, match=r"limits\.calls = 100 would be passed"):
        run(make_plan("a", limits={"calls": 100}), tmp_path / "runs" / "one")
    stopped = [e for e in read_events(tmp_path / "runs" / "one" / "ledger.jsonl") if e.type == "stopped"]
    assert len(stopped) == 1
    rest = run(make_plan("c"), tmp_path / "runs" / "two")
    assert rest.paid == finished_small.paid - 100


@pytest.mark.integration
class TestWithAnEndpoint:
    @staticmethod
    def student(url: str) -> dict[str, Any]:
        model = {"endpoint": url, "name": "judge", "concurrency": 4}
        return {"shape": "per-fact", "model": model, "max_facts": 2}

    def test_confirm_judges_winner_and_baseline_anew_and_interleaved(
        self, make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any
    ) -> None:
        out = tmp_path / "runs" / "one"
        result = run(make_plan(student=self.student(judge_endpoint.url)), out)
        confirm = [body for body in bodies(out, "evaluation") if body["purpose"] == "confirm"]
        assert result.verdict["decision"] != "nothing-found", "the scripted judge rewards longer instructions"
        assert [len(body["candidates"]) for body in confirm] == [2]
        assert confirm[0]["replicates"] == [1]
        assert {name: row["pairs"] for name, row in result.verdict["heldout"].items() if row} != {}

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of MLflow's own imports
    @pytest.mark.filterwarnings("ignore::ResourceWarning")  # of MLflow's SQLite connections
    def test_no_text_of_the_heldout_split_reaches_a_minibatch_or_a_reflector(
        self, make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any, consults: Corpus
    ) -> None:
        """Every held-out document carries a marker of its own, and so does every accept one."""
        plan = make_plan(student=self.student(judge_endpoint.url))
        marked, lock_path = mark_corpus(consults, plan)
        out = tmp_path / "runs" / "one"
        run(plan, out)
        lock = load_lock(lock_path, marked)
        everything = (out / "ledger.jsonl").read_text()
        reflections = [json.dumps(body) for body in bodies(out, "reflection")]
        assert reflections
        for split in ("accept", "heldout"):
            for example in _examples(lock, marked, split):
                marker = f"marker-{example.id}-"
                assert any(marker in prompt for prompt in judge_endpoint.prompts), "the marker is in what was judged"
                assert marker not in everything
        write_report(out)
        sync(out / "ledger.jsonl", tracking_uri=f"sqlite:///{tmp_path / 'runs' / 'mlflow.db'}", experiment="markers")
        left = [path for path in (tmp_path / "runs").rglob("*") if path.is_file() and "calls.sqlite" not in path.name]
        assert {"report.html", "mlflow.db", "instruction.md"} <= {path.name for path in left}
        assert not [path for path in left if b"marker-" in path.read_bytes() and not reflects(path, lock)]
        by_phase = phases_of(out, judge_endpoint.prompts)
        held = {f"marker-{example.id}-" for example in _examples(lock, marked, "heldout")}
        assert not any(marker in prompt for prompt in by_phase["search"] for marker in held)

    def test_a_transient_fault_costs_a_retry_and_no_judgement(
        self, make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any
    ) -> None:
        judge_endpoint.before = lambda number: (503, "busy") if number % 20 == 7 else None
        out = tmp_path / "runs" / "one"
        run(make_plan(student=self.student(judge_endpoint.url)), out)
        assert all(body["failed"] == 0 for body in bodies(out, "evaluation"))
        assert max(judge_endpoint.answered.values()) <= 2, "a second replicate is the only reason to ask again"

    def test_an_endpoint_that_dies_stops_the_campaign_which_then_goes_on(
        self, make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any
    ) -> None:
        plan, out = make_plan(student=self.student(judge_endpoint.url)), tmp_path / "runs" / "one"
        judge_endpoint.before = lambda number: (400, "no such model") if number > 50 else None
        with pytest.raises(CallError, match="400"):
            run(plan, out)
        judge_endpoint.before = lambda number: None
        run(plan, out)
        assert max(judge_endpoint.answered.values()) <= 2, "a second replicate is the only reason to ask again"


def reflects(path: Path, lock: SplitLock) -> bool:
    """Whether every marker in a file is that of a reflect example."""
    found = re.findall(rb"marker-([\w-]+)\.", path.read_bytes())
    return {group.decode() for group in found} <= set(lock.splits["reflect"])


def mark_corpus(corpus: Corpus, plan: Path) -> tuple[Corpus, Path]:
    """Write a copy of the corpus in which every document says its own marker, and point the plan at it."""
    marked = [dataclasses.replace(ex, document=f"marker-{ex.id}- {ex.document}", residual=()) for ex in corpus.examples]
    place = plan.parent
    lines = [json.dumps(example_row(example)) for example in marked]
    (place / "corpus.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    facts = [json.dumps(fact_row(fact)) for found in corpus.facts.values() for fact in found]
    (place / "facts.jsonl").write_text("\n".join(facts) + "\n", encoding="utf-8")
    written = load_corpus(place / "corpus.jsonl", facts=place / "facts.jsonl")
    lock = place / "marked.lock.json"
    sizes = {"reflect": 5, "accept": 4, "heldout": 6}
    commit_lock(plan_lock(written, sizes=sizes, seed=3, selection=Selection(15, 2, 3)), lock)
    data = yaml.safe_load(plan.read_text())
    data["corpus"] = {"path": "corpus.jsonl", "facts": "facts.jsonl"}
    data["splits"] = {"lock": "marked.lock.json"}
    plan.write_text(yaml.safe_dump(data))
    return written, lock


def phases_of(out: Path, prompts: list[str]) -> dict[str, list[str]]:
    """Prompts by phase: the counts of judgements say how many calls each evaluation made."""
    found: dict[str, list[str]] = {"before": [], "search": [], "after": []}
    phase, at = "before", 0
    for event in read_events(out / "ledger.jsonl"):
        if event.type == "reflection":
            phase = "search"
        if event.type == "choice":
            phase = "after"
        if event.type == "evaluation":
            path = out / "judgements" / f"{event.body['segment']['name']}.jsonl"
            calls = sum(json.loads(line)["volatile"]["paid"] for line in path.read_text().splitlines())
            found[phase] += prompts[at : at + calls]
            at += calls
    assert at == len(prompts), "every prompt belongs to an evaluation"
    return found


@pytest.mark.integration
def test_a_campaign_killed_at_random_moments_pays_nothing_twice_and_ends_in_the_same_state(
    make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any
) -> None:
    student = TestWithAnEndpoint.student(judge_endpoint.url)
    plan = make_plan(student=student)
    lock = plan.parent / "split.lock.json"
    whole = tmp_path / "whole" / "run"
    run(plan, whole)
    expected = dict(judge_endpoint.answered)
    register = lock.with_name("split.lock.register.jsonl")
    register.unlink(missing_ok=True)

    total = len(judge_endpoint.prompts)
    judge_endpoint.answered.clear()
    judge_endpoint.prompts.clear()
    points = iter(sorted(random.Random(5).sample(range(20, total - 20), 5)))
    out = tmp_path / "killed" / "run"
    command = [sys.executable, "-c", RUNNER, str(plan), str(out)]
    children: list[subprocess.Popen[bytes]] = []
    next_point = [next(points)]

    def kill_at_points(number: int) -> None:
        if number == next_point[0]:
            next_point[0] = next(points, -1)
            os.kill(children[-1].pid, signal.SIGKILL)

    judge_endpoint.before = kill_at_points
    for _ in range(10):
        children.append(subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        _, said = children[-1].communicate(timeout=120)
        if children[-1].returncode == 0:
            break
        assert children[-1].returncode == -signal.SIGKILL, said.decode()
    kills = len(children) - 1
    assert kills == 5
    assert canonical_state(read_events(out / "ledger.jsonl")) == canonical_state(read_events(whole / "ledger.jsonl"))
    assert set(judge_endpoint.answered) == set(expected)
    # A call that was answered while its process died cannot be known to it: at most the calls in flight at a kill.
    paid_again = sum(judge_endpoint.answered[key] - count for key, count in expected.items())
    assert paid_again <= 4 * kills


RUNNER = """
import sys
from pathlib import Path
from experiments import load_plan, write_report
from optimize import Campaign
loaded = load_plan(sys.argv[1])
Campaign(loaded.plan, loaded.corpus, loaded.lock, Path(sys.argv[2]), baseline=loaded.baseline).run()
"""


@pytest.mark.integration
def test_the_register_refuses_a_second_campaign_on_the_same_heldout_split(
    make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any
) -> None:
    plan = make_plan(student=TestWithAnEndpoint.student(judge_endpoint.url))
    run(plan, tmp_path / "runs" / "one")
    with pytest.raises(SealError, match="--exploratory"):
        run(plan, tmp_path / "runs" / "two")
    looked = run(plan, tmp_path / "runs" / "three", exploratory="once more")
    assert looked.verdict["comparison"] is None


@pytest.mark.integration
class TestWithAReflectorModel:
    """A judge and a reflector behind one endpoint."""

    @staticmethod
    def plan(make_plan: MakePlan, url: str, **changes: Any) -> Path:
        reflector = {"kind": "llm", "model": {"endpoint": url, "name": "writer"}, "budget": {"answer_tokens": 300}}
        return make_plan(student=TestWithAnEndpoint.student(url), reflector=reflector, **changes)

    def test_what_the_model_writes_between_the_marks_is_the_candidate_and_its_calls_are_charged_to_it(
        self, make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any
    ) -> None:
        judge_endpoint.written = [
            "<instruction>Look for the fact. Check every line. Say No if none has it.</instruction>",
            "I would write: check every line.",
            "<instruction>Look once more. Check every line. Compare each word. Say No if none has it.</instruction>",
        ]
        out = tmp_path / "runs" / "one"
        run(self.plan(make_plan, judge_endpoint.url, search={"iterations": 3, "minibatch_groups": 2}), out)
        texts = [body["texts"]["instruction"] for body in bodies(out, "candidate")]
        assert texts[1] == "Look for the fact. Check every line. Say No if none has it."
        assert texts[2] == "", "an answer without marks is no prompt"
        outcomes = bodies(out, "outcome")
        assert outcomes[1]["outcome"] == "invalid"
        assert "no marked instruction" in outcomes[1]["reason"]
        reflections = [body["reflection"] for body in bodies(out, "reflection")]
        assert reflections[1]["answer"] == "I would write: check every line."
        paid = bodies(out, "spend")[0]["volatile"]["paid"]
        assert paid["reflector search"]["calls"] == 3

    def test_a_prompt_that_repeats_accept_text_is_invalid(
        self, make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any, consults: Corpus
    ) -> None:
        plan = self.plan(make_plan, judge_endpoint.url, search={"iterations": 1, "minibatch_groups": 2})
        lock = load_lock(plan.parent / "split.lock.json", consults)
        stolen = " ".join(_examples(lock, consults, "heldout")[0].source.split()[:30])
        judge_endpoint.written = [f"<instruction>Look for the fact. For example: {stolen}</instruction>"]
        out = tmp_path / "runs" / "one"
        result = run(plan, out)
        assert [body["outcome"] for body in bodies(out, "outcome")] == ["invalid"]
        assert "accept or held-out text" in bodies(out, "outcome")[0]["reason"]
        assert result.verdict["decision"] == "nothing-found"

    def test_a_resumed_search_asks_the_reflector_nothing_again(
        self, make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any
    ) -> None:
        judge_endpoint.written = [
            "<instruction>Look for the fact. Check every line.</instruction>",
            "<instruction>Look for the fact. Check each word.</instruction>",
        ]
        plan = self.plan(make_plan, judge_endpoint.url, search={"iterations": 2, "minibatch_groups": 2})
        out = tmp_path / "runs" / "one"
        searching = 4 * 3 * 2 + 6 * 3 * 2 + 20  # accept and held-out are behind it
        judge_endpoint.before = lambda number: (400, "gone") if number > searching else None
        with pytest.raises(CallError, match="400"):
            run(plan, out)
        judge_endpoint.before = lambda number: None
        run(plan, out)
        asked = [prompt for prompt in judge_endpoint.prompts if "PRESENT INSTRUCTION" in prompt]
        assert len(asked) == len(set(asked)) == 2


@pytest.mark.integration
def test_a_baseline_that_cannot_be_read_on_accept_stops_before_the_seal_is_opened(
    make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any
) -> None:
    answer = {"choices": [{"finish_reason": "stop", "message": {"content": "Perhaps"}}], "usage": {}}
    judge_endpoint.before = lambda number: (200, json.dumps(answer))
    out = tmp_path / "runs" / "one"
    with pytest.raises(CampaignError, match=r"only 0% of the baseline's judgements on accept have a score \(empty"):
        run(make_plan(student=TestWithAnEndpoint.student(judge_endpoint.url)), out)
    assert bodies(out, "seal_opened") == []


def with_limits(plan: Path, limits: dict[str, Any] | None) -> Path:
    """The same plan file with other limits."""
    data = yaml.safe_load(plan.read_text())
    data["limits"] = limits or {}
    plan.write_text(yaml.safe_dump(data))
    return plan


def test_a_campaign_goes_on_with_a_higher_limit_in_its_own_directory_and_ends_like_one_that_never_stopped(
    finished_small: CampaignResult, make_plan: MakePlan, tmp_path: Path
) -> None:
    plan, out, whole = make_plan(), tmp_path / "runs" / "one", finished_small.directory
    for calls in (40, 90, 200):
        with pytest.raises(BudgetError, match=rf"limits\.calls = {calls} would be passed"):
            run(with_limits(plan, {"calls": calls}), out)
    rest = run(with_limits(plan, None), out)
    assert rest.paid == finished_small.paid - 200
    stopped = [e.body["volatile"] for e in read_events(out / "ledger.jsonl") if e.type == "stopped"]
    assert [body["limit"] for body in stopped] == ["limits.calls"] * 3
    assert [sum(row["calls"] for row in body["paid"].values()) for body in stopped] == [40, 90, 200]
    assert [body["limits"]["calls"] for body in stopped] == [40, 90, 200]
    assert canonical_state(read_events(out / "ledger.jsonl")) == canonical_state(read_events(whole / "ledger.jsonl"))
    for directory in (out, whole):
        assert [finding for finding in audit_ledger(directory) if finding.severity == "error"] == []


def test_limits_and_speed_are_no_part_of_what_is_registered(make_plan: MakePlan) -> None:
    plan = load_plan(str(make_plan())).plan
    model = plan.student.model.model_copy(update={"concurrency": 3, "deadline_s": 9.0})
    faster = plan.model_copy(update={"student": plan.student.model_copy(update={"model": model})})
    assert faster.hash == plan.hash
    assert "limits" not in plan.row()
    other = plan.student.model_copy(update={"max_facts": 4})
    assert plan.model_copy(update={"student": other}).hash != plan.hash


PRICE = {"prompt_usd_per_million": 1000.0, "completion_usd_per_million": 10_000.0}


@pytest.mark.integration
class TestLimitsOfRoles:
    @staticmethod
    def plan(make_plan: MakePlan, url: str, *, prices: tuple[str, ...] = (), **changes: Any) -> Path:
        student = TestWithAnEndpoint.student(url)
        writer = {"endpoint": url, "name": "writer"} | ({"price": PRICE} if "reflector" in prices else {})
        student["model"] |= {"price": PRICE} if "student" in prices else {}
        reflector = {"kind": "llm", "model": writer, "budget": {"answer_tokens": 300}}
        search = {"iterations": 3, "minibatch_groups": 1}
        return make_plan(student=student, reflector=reflector, search=search, **changes)

    @staticmethod
    def written(judge_endpoint: Any) -> None:
        judge_endpoint.written = [
            f"<instruction>Look for the fact. Check every line, {n} times.</instruction>" for n in range(9)
        ]

    def test_a_limit_of_the_reflector_stops_the_campaign_at_its_calls_and_leaves_the_student_alone(
        self, make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any
    ) -> None:
        self.written(judge_endpoint)
        plan, out = self.plan(make_plan, judge_endpoint.url), tmp_path / "runs" / "one"
        with pytest.raises(BudgetError, match=r"limits\.reflector\.calls = 2 would be passed \(2 calls paid so far\)"):
            run(with_limits(plan, {"reflector": {"calls": 2}}), out)
        asked = [prompt for prompt in judge_endpoint.prompts if "PRESENT INSTRUCTION" in prompt]
        assert len(asked) == 2
        (stopped,) = [e.body["volatile"] for e in read_events(out / "ledger.jsonl") if e.type == "stopped"]
        assert stopped["limit"] == "limits.reflector.calls"
        assert stopped["paid"]["reflector search"]["calls"] == 2
        run(with_limits(plan, {"reflector": {"calls": 3}}), out)

    def test_a_limit_in_dollars_is_kept_by_both_roles_together(
        self, make_plan: MakePlan, tmp_path: Path, judge_endpoint: Any
    ) -> None:
        self.written(judge_endpoint)
        plan = self.plan(make_plan, judge_endpoint.url, prices=("student", "reflector"))
        out = tmp_path / "runs" / "one"
        whole = run(plan, tmp_path / "elsewhere" / "whole", exploratory="what it costs")
        (spend,) = bodies(whole.directory, "spend")
        cost = sum(row["cost_usd"] for row in spend["volatile"]["paid"].values())
        assert spend["volatile"]["prices"]["reflector"]["completion_usd"] == 0.01
        self.written(judge_endpoint)
        limit = round(cost / 2, 3)
        with pytest.raises(BudgetError, match=r"limits\.usd = .* would be passed"):
            run(with_limits(plan, {"usd": limit}), out)
        (stopped,) = [e.body["volatile"] for e in read_events(out / "ledger.jsonl") if e.type == "stopped"]
        assert 0.5 * limit < sum(row["cost_usd"] for row in stopped["paid"].values()) <= limit

    @pytest.mark.parametrize(
        ("prices", "limits", "said"),
        [
            ((), {"usd": 1.0}, r"limits\.usd needs the price of the student's model.*student\.model\.price: \{prompt"),
            (("student",), {"usd": 1.0}, r"needs the price of the reflector's.*reflector\.model\.price: \{prompt"),
            (("student",), {"reflector": {"usd": 1.0}}, r"needs the price of the reflector's model"),
        ],
    )
    def test_a_limit_in_dollars_is_refused_where_a_role_has_no_price(
        self,
        make_plan: MakePlan,
        tmp_path: Path,
        judge_endpoint: Any,
        prices: tuple[str, ...],
        limits: dict[str, Any],
        said: str,
    ) -> None:
        with pytest.raises(PlanError, match=said):
            run(self.plan(make_plan, judge_endpoint.url, prices=prices, limits=limits), tmp_path / "runs" / "one")
        assert judge_endpoint.prompts == []

    def test_both_roles_at_one_address_share_its_limiter(self, make_plan: MakePlan, judge_endpoint: Any) -> None:
        loaded = load_plan(str(self.plan(make_plan, judge_endpoint.url)))
        models = {role: open_model(model) for role, model in loaded.plan.roles.items()}
        with CallCache(loaded.path.parent / "calls.sqlite") as cache:
            layer = CallLayer(loaded.plan, models, cache=cache, campaign="c")
            student, reflector = layer.calls("student"), layer.calls("reflector")
        assert student._limiter is reflector._limiter
