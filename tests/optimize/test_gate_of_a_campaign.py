"""Whole simulated campaigns whose plans ask more of the gate: what they decide, record, audit and report."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from experiments import load_plan, plan_size
from experiments.report import write_report
from experiments.screen import final_screen
from experiments.stopping import read_stop
from lineage import canonical_state, read_events
from lineage.audit import audit_ledger
from lineage.canonical import canonical_json, digest, pretty_json
from lineage.errors import BudgetError, PlanError
from lineage.records import Usage
from lineage.segments import read_segment
from optimize import Campaign, CampaignResult, parse_plan
from optimize.recompute import audit_numbers, load_run, recompute_verdict
from splits import Corpus, Selection, SplitLock, commit_lock, load_lock, plan_lock
from splits.lock import _examples
from splits.register import confirming_campaigns
from students import load_instruction
from students.overlap import word_overlap
from students.transport import CallRequest, CallResult, SimulatedTransport

MakePlan = Callable[..., Path]
RunTiny = Callable[..., CampaignResult]
LOOSE = {"false_alarm_margin": None, "commission_margin": None, "prompt_words": None}
WHOLE_NOTE = {"shape": "whole-note", "model": {"simulated": {"noise": 2.0}}, "temperature": 1.0}
THOUGHTFUL: dict[str, Any] = {
    "student": WHOLE_NOTE,
    "objective": {"margin": 1.0},
    "gate": {"rule": "point", "margin": -1.0, "equal_budget": True},
}


@pytest.fixture(scope="session")
def campaign(tiny_plan: Callable[..., dict[str, Any]]) -> RunTiny:
    """Run the plan of ``finished_run`` with other parts."""

    def run(corpus: Corpus, lock: SplitLock, out: Path, **more: Any) -> CampaignResult:
        plan = parse_plan(tiny_plan(**more), where="test")
        return Campaign(plan, corpus, lock, out, baseline=load_instruction("stated-in-note")).run()

    return run


def run_plan(plan: Path, out: Path) -> CampaignResult:
    loaded = load_plan(str(plan))
    return Campaign(loaded.plan, loaded.corpus, loaded.lock, out, baseline=loaded.baseline).run()


def audited(out: Path) -> None:
    """No error in the order, the hashes or a number, and the verdict computed again is the recorded one."""
    assert [found for found in (*audit_ledger(out), *audit_numbers(out)) if found.severity != "info"] == []
    verdict = json.loads((out / "verdict.json").read_text())
    del verdict["ledger_head"]
    assert json.loads(canonical_json(recompute_verdict(load_run(out)))) == verdict


def report(out: Path) -> str:
    return write_report(out).markdown.read_text(encoding="utf-8").replace("\\", "")


def screen(result: CampaignResult) -> str:
    console = Console(width=300, record=True, force_terminal=False, quiet=False)
    with console.capture() as seen:
        final_screen(console, result.directory, result, report=result.directory / "report.html", store=None)
    return seen.get()


def openings(out: Path) -> list[str]:
    return [event.body["opening"] for event in read_events(out / "ledger.jsonl") if event.type == "seal_opened"]


@pytest.fixture(scope="module")
def unconfirmed(
    campaign: RunTiny, consults: Corpus, finished_lock: SplitLock, tmp_path_factory: pytest.TempPathFactory
) -> CampaignResult:
    gate = {"confirm_on_accept": {"points": 60}}
    return campaign(consults, finished_lock, tmp_path_factory.mktemp("unconfirmed") / "run", gate=gate)


class TestNotConfirmed:
    def test_a_winner_that_gains_too_little_on_accept_leaves_heldout_data_shut_and_spends_nothing(
        self, unconfirmed: CampaignResult, finished_lock: SplitLock
    ) -> None:
        out = unconfirmed.directory
        assert unconfirmed.verdict["decision"] == "not-confirmed"
        assert unconfirmed.verdict["winner"] != unconfirmed.verdict["baseline"]
        assert openings(out) == ["baseline"]
        assert confirming_campaigns(replace(finished_lock, path=out / "split.lock.json")) == ()
        assert unconfirmed.verdict["comparison"] is None
        assert not (out / "prompt.md").exists()
        assert "paired +30.0" in unconfirmed.verdict["reason"]
        audited(out)

    def test_the_report_and_the_screen_say_so_and_show_no_heldout_number_of_the_winner(
        self, unconfirmed: CampaignResult
    ) -> None:
        text = report(unconfirmed.directory)
        assert text.startswith("# Nothing was confirmed: c02 gained too little on accept to open held-out data\n")
        assert "The gate was not read: held-out data stayed shut" in text
        assert "before opening: confirm-on-accept | NO" in text
        assert "Scores of the baseline on held-out data" in text
        assert "Winner c02, held-out" not in text
        assert "| c02 (winner) | 0.700 [0.129, 1.271], n = 10 | not opened there |" in text
        seen = screen(unconfirmed)
        assert "NOT CONFIRMED" in seen
        assert "not opened" in seen

    @pytest.mark.integration
    def test_the_same_winner_is_compared_where_less_is_asked_for(
        self, campaign: RunTiny, consults: Corpus, finished_lock: SplitLock, tmp_path: Path
    ) -> None:
        gate = {"rule": "point", "confirm_on_accept": {"points": 10, "measures": ["paired"]}}
        found = campaign(consults, finished_lock, tmp_path / "run", gate=gate)
        assert openings(found.directory) == ["baseline", "confirm"]
        assert found.verdict["accept"]["rule"]["holds"] is True
        assert "before opening: confirm-on-accept | yes" in report(found.directory)
        audited(found.directory)

    def test_a_verdict_that_claims_it_without_a_rule_in_the_plan_is_an_error(
        self, unconfirmed: CampaignResult, tmp_path: Path, rewrite: Any
    ) -> None:
        out = Path(shutil.copytree(unconfirmed.directory, tmp_path / "run"))
        rewrite(out, lambda rows: rows[0]["body"]["plan"]["gate"].update(confirm_on_accept=None))
        words = [found.words for found in audit_ledger(out) if found.severity == "error"]
        assert "the verdict says not-confirmed, and the plan asks nothing of accept" in words

    def test_a_verdict_that_claims_it_after_the_opening_is_an_error(
        self, finished_run: Path, tmp_path: Path, rewrite: Any
    ) -> None:
        def change(rows: Any) -> None:
            next(row for row in rows if row["type"] == "verdict")["body"]["verdict"]["decision"] = "not-confirmed"

        out = Path(shutil.copytree(finished_run, tmp_path / "run"))
        rewrite(out, change)
        words = [found.words for found in audit_ledger(out) if found.severity == "error"]
        assert "the verdict says not-confirmed, and confirm was opened all the same" in words


Answer = Callable[[CallRequest, CallResult], CallResult]


@contextmanager
def answering(by: Answer) -> Iterator[None]:
    """The simulated judge with other answers."""
    plain = SimulatedTransport.complete

    async def complete(self: SimulatedTransport, request: CallRequest) -> CallResult:
        return by(request, await plain(self, request))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SimulatedTransport, "complete", complete)
        yield


def wordy(request: CallRequest, result: CallResult) -> CallResult:
    """A judge that thinks the longer, the longer its instruction is, and then guesses the less."""
    inputs = request.inputs
    words = len(inputs["instruction"].split())
    draw = digest([inputs["document"], inputs["instruction"], request.seed, request.replicate])
    guess = (int(draw[:6], 16) / 2**24 - 0.5) * 60 / words
    score = min(10, max(0, round(10 * word_overlap(inputs["source"], inputs["document"]) + 3 + guess)))
    usage = Usage(1, result.usage.prompt_tokens, 10 * words, 10 * words - 1)
    return replace(result, text=f"Score: {score}", usage=usage)


@pytest.fixture(scope="module")
def thoughtful(
    campaign: RunTiny, consults: Corpus, finished_lock: SplitLock, tmp_path_factory: pytest.TempPathFactory
) -> CampaignResult:
    """A campaign whose winner makes the judge think longer, with the arm at equal budget."""
    with answering(wordy):
        return campaign(consults, finished_lock, tmp_path_factory.mktemp("thoughtful") / "run", **THOUGHTFUL)


class TestEqualBudget:
    def test_the_baseline_is_judged_again_with_the_winners_tokens_within_the_same_opening(
        self, thoughtful: CampaignResult
    ) -> None:
        out, found = thoughtful.directory, thoughtful.verdict["equal_budget"]
        assert found["status"] == "bought"
        assert openings(out) == ["baseline", "confirm"]
        events = [event for event in read_events(out / "ledger.jsonl") if event.type == "evaluation"]
        (event,) = [event for event in events if event.body["purpose"] == "equal-budget"]
        judged = read_segment(out / "judgements", event.body["segment"])
        assert {judgement.candidate for judgement in judged} == {thoughtful.verdict["baseline"]}
        assert {judgement.sent["samples"] for judgement in judged} == {found["samples"]}
        assert {judgement.student for judgement in judged} != {thoughtful.verdict["hashes"]["student"]}
        assert found["heldout_tokens"]["arm"] >= found["heldout_tokens"]["winner"]
        heldout = thoughtful.verdict["heldout"]
        assert heldout["equal_budget"]["candidate"] == pytest.approx(heldout["omissions"]["candidate"])
        assert any(judgement.score is not None and judgement.score % 1 for judgement in judged), "means of samples"
        audited(out)

    def test_a_campaign_that_was_cut_off_before_it_goes_on_to_the_same_state(
        self, campaign: RunTiny, thoughtful: CampaignResult, consults: Corpus, finished_lock: SplitLock, tmp_path: Path
    ) -> None:
        out = Path(shutil.copytree(thoughtful.directory, tmp_path / "run"))
        events = read_events(out / "ledger.jsonl")
        count = next(
            event.seq for event in events if event.type == "evaluation" and event.body["purpose"] == "equal-budget"
        )
        lines = (out / "ledger.jsonl").read_text().splitlines(keepends=True)[:count]
        (out / "ledger.jsonl").write_text("".join(lines))
        (out / "ledger.head.json").write_text(pretty_json({"count": count, "hash": events[count - 1].hash}))
        with answering(wordy):
            again = campaign(consults, finished_lock, out, **THOUGHTFUL)
        assert again.verdict == thoughtful.verdict
        assert canonical_state(read_events(out / "ledger.jsonl")) == canonical_state(events)

    def test_it_decides_nothing_and_is_in_the_words_the_report_and_the_screen(self, thoughtful: CampaignResult) -> None:
        assert thoughtful.verdict["decision"] == "emit"
        (said,) = [sentence for sentence in thoughtful.verdict["words"] if "completion tokens" in sentence]
        assert said.startswith("Given the winner's completion tokens (")
        assert said.endswith("This second reading decides nothing.")
        text = report(thoughtful.directory)
        assert "Winner against the baseline at equal budget (" in text
        assert "Omissions, baseline at equal budget" in text
        assert "held-out, baseline at equal budget" in screen(thoughtful)

    def test_a_changed_number_of_it_is_found(self, thoughtful: CampaignResult, tmp_path: Path, rewrite: Any) -> None:
        def change(rows: Any) -> None:
            verdict = next(row for row in rows if row["type"] == "verdict")["body"]["verdict"]
            verdict["heldout"]["equal_budget"]["low"] += 0.01
            verdict["equal_budget"]["heldout_tokens"]["arm"] += 1

        out = Path(shutil.copytree(thoughtful.directory, tmp_path / "run"))
        rewrite(out, change)
        words = [found.words for found in audit_numbers(out) if found.severity == "error"]
        assert any(said.startswith("heldout.equal_budget.low") for said in words)
        assert any(said.startswith("equal_budget.heldout_tokens.arm") for said in words)

    @pytest.mark.integration
    def test_it_is_in_what_a_plan_may_need(self, make_plan: MakePlan, tmp_path: Path) -> None:
        parts: dict[str, Any] = {"student": WHOLE_NOTE, "objective": {"margin": 1.0}, "replicates": 3}
        plan = make_plan("with", gate={"equal_budget": True}, **parts)
        loaded = load_plan(str(plan))
        without = plan_size(load_plan(str(make_plan("without", **parts))))
        size = plan_size(loaded)
        notes = sum(loaded.lock.counts["heldout"]["kind"].values())
        assert size.student - without.student == size.equal_budget == notes * 10 * 3
        assert ("baseline at equal budget", size.equal_budget) in size.rows()
        with answering(wordy):
            result = run_plan(plan, tmp_path / "run")
        assert result.paid + result.cached <= size.student

    @pytest.mark.integration
    def test_a_limit_that_stops_it_is_said_to_need_no_less_than_it_pays(
        self, make_plan: MakePlan, thoughtful: CampaignResult, tmp_path: Path
    ) -> None:
        out = tmp_path / "runs" / "one"
        with answering(wordy):
            whole = run_plan(make_plan("a", **THOUGHTFUL), tmp_path / "elsewhere" / "whole")
            assert whole.verdict["equal_budget"]["status"] == "bought"
            plan = make_plan("b", **THOUGHTFUL, limits={"calls": whole.paid - 5})
            with pytest.raises(BudgetError, match=r"limits\.calls"):
                run_plan(plan, out)
            stop = read_stop(load_plan(str(plan)), out)
            assert ("student", "equal-budget") in stop.paid
            assert stop.calls_needed(None) >= 5
            raised = make_plan("c", **THOUGHTFUL, limits={"calls": whole.paid - 5 + stop.calls_needed(None)})
            again = run_plan(raised, tmp_path / "runs" / "two")
        assert again.paid == 5

    @pytest.mark.integration
    def test_one_token_answers_have_it_by_construction_and_nothing_is_bought(
        self, campaign: RunTiny, consults: Corpus, finished_lock: SplitLock, tmp_path: Path
    ) -> None:
        result = campaign(consults, finished_lock, tmp_path / "run", gate={"rule": "point", "equal_budget": True})
        assert result.verdict["equal_budget"]["status"] == "equal"
        assert result.verdict["heldout"]["equal_budget"] is None
        purposes = {e.body["purpose"] for e in read_events(tmp_path / "run" / "ledger.jsonl") if e.type == "evaluation"}
        assert "equal-budget" not in purposes
        assert "same budget by construction" in " ".join(result.verdict["words"])
        assert "Baseline at equal budget: not judged, every answer is one token" in report(tmp_path / "run")
        audited(tmp_path / "run")


@pytest.mark.integration
def test_flags_on_clean_candidates_are_called_so_in_verdict_report_and_findings(
    campaign: RunTiny, consults: Corpus, tmp_path: Path
) -> None:
    marked = Corpus(
        tuple(
            replace(example, meta={**example.meta, "clean": "candidate"}) if example.label == "clean" else example
            for example in consults.examples
        ),
        consults.facts,
    )
    sizes = {"reflect": 6, "accept": 5, "heldout": 7}
    selection = Selection(groups=18, flawed_per_group=3, seed=1)
    commit_lock(plan_lock(marked, sizes=sizes, seed=1, selection=selection), tmp_path / "lock.json")
    result = campaign(marked, load_lock(tmp_path / "lock.json", marked), tmp_path / "run", guardrails={})
    verdict = result.verdict
    assert verdict["clean_documents"]["heldout"] == {
        "verified": 0,
        "candidates": 7,
        "rate": "flag rate on clean candidates (not verified clean)",
    }
    assert verdict["clean_documents"]["accept"]["candidates"] == 5
    said = [*verdict["words"], verdict["reason"], *(row["name"] + row["words"] for row in verdict["guardrails"])]
    assert not [sentence for sentence in said if "false-alarm" in sentence or "false alarm" in sentence]
    assert any("Flag rate on clean candidates (not verified clean) on held-out data" in s for s in verdict["words"])
    text = report(tmp_path / "run")
    assert "Flags on clean candidates (not verified clean)" in text
    assert "False alarms on clean documents" not in text
    audited(tmp_path / "run")


@pytest.mark.integration
class TestBeyondNoise:
    gate = {"rule": "beyond-noise"}  # noqa: RUF012  # read only

    def test_every_difference_is_stated_as_a_multiple_of_the_noise_of_the_baseline(
        self, campaign: RunTiny, consults: Corpus, finished_lock: SplitLock, tmp_path: Path
    ) -> None:
        result = campaign(consults, finished_lock, tmp_path / "run", gate=self.gate, replicates=3)
        held, noise = result.verdict["heldout"], result.verdict["noise_floor"]
        assert result.verdict["rule"]["name"] == "beyond-noise"
        assert held["omissions"]["noise_multiple"] == pytest.approx(
            held["omissions"]["difference"] / noise["difference_sd"]
        )
        assert held["commissions"]["noise_multiple"] is not None
        assert any("times the noise floor" in sentence for sentence in result.verdict["words"])
        assert "Held-out differences beside the noise floor" in report(tmp_path / "run")
        audited(tmp_path / "run")

    def test_it_refuses_where_replicates_are_identical_and_says_deterministic(
        self, campaign: RunTiny, consults: Corpus, finished_lock: SplitLock, tmp_path: Path
    ) -> None:
        plain = SimulatedTransport(noise=2.0)

        def same(request: CallRequest, result: CallResult) -> CallResult:
            del result
            coroutine = plain_complete(plain, replace(request, replicate=0))
            with pytest.raises(StopIteration) as answer:
                coroutine.send(None)
            found: CallResult = answer.value.value
            return found

        plain_complete = SimulatedTransport.complete
        with answering(same):
            result = campaign(consults, finished_lock, tmp_path / "run", gate=self.gate, replicates=3)
        assert result.verdict["noise_floor"]["deterministic"] is True
        assert result.verdict["decision"] == "refuse"
        assert "the noise floor is 0" in result.verdict["reason"]
        assert any("the judge is deterministic" in sentence for sentence in result.verdict["words"])
        assert "| deterministic |" in report(tmp_path / "run")
        audited(tmp_path / "run")


@pytest.mark.integration
def test_a_gain_that_rests_on_failed_judgements_is_refused(
    campaign: RunTiny, consults: Corpus, finished_lock: SplitLock, tmp_path: Path
) -> None:
    """Of the winner's held-out omissions, all but the won ones get no answer."""
    plain = campaign(consults, finished_lock, tmp_path / "plain" / "run").verdict
    assert plain["decision"] == "emit"
    heldout = [example for example in _examples(finished_lock, consults, "heldout") if example.label == "omission"]
    lost = {example.document for example in heldout[:8]}
    baseline = load_instruction("stated-in-note").strip()

    def silent(request: CallRequest, result: CallResult) -> CallResult:
        fails = request.inputs["document"] in lost and request.inputs["instruction"].strip() != baseline
        return replace(result, text=None, top=()) if fails else result

    gate = {"rule": "point", "coverage": 0.4}
    with answering(silent):
        result = campaign(consults, finished_lock, tmp_path / "failing" / "run", gate=gate)
    worst = result.verdict["heldout"]["omissions_worst_case"]
    assert worst["failed"] == 8
    assert worst["difference"] < result.verdict["heldout"]["omissions"]["difference"]
    assert worst["lowest_end"] <= worst["low"]
    assert result.verdict["decision"] == "refuse"
    assert "With every failed pair counted against the winner" in report(result.directory)
    audited(result.directory)


@pytest.mark.integration
def test_subgroups_are_tested_after_a_pass_and_not_before(
    campaign: RunTiny, finished_run: Path, consults: Corpus, finished_lock: SplitLock, tmp_path: Path
) -> None:
    verdict = json.loads((finished_run / "verdict.json").read_text())
    assert verdict["subgroups"]["tested"] is True
    rows = verdict["subgroups"]["rows"]
    assert {row["field"] for row in rows} >= {"trace", "kind"}
    assert verdict["subgroups"]["level"] == pytest.approx(1 - verdict["alpha"] / len(rows))
    assert all(row["adjusted_p"] >= row["p"] for row in rows)
    text = report(Path(shutil.copytree(finished_run, tmp_path / "passed")))
    assert "Sub-groups, tested because the gate passed" in text
    refused = campaign(consults, finished_lock, tmp_path / "run", gate={"rule": "point", "margin": 0.9})
    assert refused.verdict["subgroups"] == {"tested": False, "words": "not tested, as the overall gate must pass first"}
    assert "points, not tested" in report(refused.directory)


@pytest.mark.parametrize(
    "edit",
    [
        {"gate": {"rule": "lower-bound"}},
        {"gate": {"rule": "point", "margin": 0.01}},
        {"gate": {"rule": "point", "confirm_on_accept": {"points": 1}}},
        {"gate": {"rule": "point", "equal_budget": True}},
        {"guardrails": {**LOOSE, "false_alarm_cap": 0.2}},
        {"guardrails": {**LOOSE, "cost_ratio": None}},
        {"replicates": 3},
    ],
    ids=lambda edit: json.dumps(edit),
)
def test_an_edit_of_the_gate_after_the_commit_is_refused(
    campaign: RunTiny,
    edit: dict[str, Any],
    finished_run: Path,
    consults: Corpus,
    finished_lock: SplitLock,
    tmp_path: Path,
) -> None:
    out = Path(shutil.copytree(finished_run, tmp_path / "run"))
    with pytest.raises(PlanError, match="holds a campaign of another plan"):
        campaign(consults, finished_lock, out, **edit)


def test_a_changed_number_of_the_gate_is_named(finished_run: Path, tmp_path: Path, rewrite: Any) -> None:
    def change(rows: Any) -> None:
        verdict = next(row for row in rows if row["type"] == "verdict")["body"]["verdict"]
        verdict["accept"]["comparison"]["low"] += 0.01
        verdict["accept"]["sign_test"]["p"] += 0.01
        verdict["clean_documents"]["heldout"]["verified"] += 1
        verdict["flags"]["candidate"]["low"] += 0.01
        verdict["cost"]["ratio"] += 0.01
        verdict["guardrails"][1]["holds"] ^= True
        verdict["subgroups"]["rows"][0]["adjusted_p"] += 0.01

    out = Path(shutil.copytree(finished_run, tmp_path / "run"))
    rewrite(out, change)
    words = " ".join(found.words for found in audit_numbers(out) if found.severity == "error")
    for place in (
        "accept.comparison.low",
        "accept.sign_test.p",
        "clean_documents.heldout.verified",
        "flags.candidate.low",
        "cost.ratio",
        "guardrails[1].holds",
        "subgroups.rows[0].adjusted_p",
    ):
        assert f"{place}: recorded" in words
