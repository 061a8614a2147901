"""A campaign against a real endpoint, run again from what was recorded after the endpoint is gone."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from experiments import load_plan, write_report
from lineage import read_events
from lineage.canonical import canonical_json
from lineage.errors import CacheError, CallError, PlanError
from optimize import Campaign, CampaignResult
from optimize.recompute import audit_numbers
from students.transport import export_cache
from tests.conftest import JudgeEndpoint

MakePlan = Callable[..., Path]
pytestmark = pytest.mark.integration
PROPOSALS = [
    "<instruction>Look for the fact. Check every line. Say No if none has it.</instruction>",
    "I would write: check every line.",
    "<instruction>Look once more. Check every line. Compare each word. Say No if none has it.</instruction>",
]
REASON = "a recording for a test"


def run(plan: Path, out: Path, **options: Any) -> CampaignResult:
    loaded = load_plan(str(plan))
    return Campaign(
        loaded.plan,
        loaded.corpus,
        loaded.lock,
        out,
        baseline=loaded.baseline,
        models_hash=loaded.models_hash,
        **options,
    ).run()


@pytest.fixture
def recorded(make_plan: MakePlan, judge_endpoint: JudgeEndpoint, tmp_path: Path) -> tuple[Path, CampaignResult]:
    """The plan and the result of a campaign whose endpoint has stopped since."""
    judge_endpoint.written = list(PROPOSALS)
    judge = {"endpoint": judge_endpoint.url, "name": "judge", "key_env": "JUDGE_KEY"}
    writer = {"endpoint": judge_endpoint.url, "name": "writer"}
    plan = make_plan(
        student={"shape": "per-fact", "model": judge, "max_facts": 5},
        reflector={"kind": "llm", "model": writer},
        search={"iterations": 3, "minibatch_groups": 2, "seed": 1},
        gate={"rule": "point", "margin": -1.0},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_KEY", "secret")
        result = run(plan, tmp_path / "runs" / "one", exploratory=REASON)
    judge_endpoint.close()
    return plan, result


def replaying(plan: Path, recorded: Path, **changes: Any) -> Path:
    """The plan beside itself, with its models answered from a file that it names from its own directory."""
    data = yaml.safe_load(plan.read_text()) | changes
    for role in ("student", "reflector"):
        data[role]["model"] = {"replay": os.path.relpath(recorded, plan.parent), "of": data[role]["model"]}
    path = plan.with_name("replay.yaml")
    path.write_text(yaml.safe_dump(data))
    return path


def test_a_recorded_campaign_has_the_same_verdict_without_its_endpoint_or_key_and_pays_nothing(
    recorded: tuple[Path, CampaignResult], tmp_path: Path
) -> None:
    plan, first = recorded
    assert first.paid > 0
    again = run(replaying(plan, tmp_path / "runs" / "calls.sqlite"), tmp_path / "elsewhere" / "two", exploratory=REASON)
    assert again.paid == 0
    assert again.cached > 0
    assert again.verdict == first.verdict
    assert first.verdict["heldout"] is not None
    assert {finding.severity for finding in audit_numbers(again.directory)} <= {"info"}
    assert REASON in write_report(again.directory).markdown.read_text()
    registered = read_events(again.directory / "ledger.jsonl")[0].body
    assert registered["replayed"] == ["student", "reflector"]
    assert registered["plan_hash"] == load_plan(str(plan)).plan.hash
    one, two = (
        [event.body["candidate"] for event in read_events(result.directory / "ledger.jsonl") if event.type == "outcome"]
        for result in (first, again)
    )
    assert one == two != []


def test_an_export_replays_as_its_cache_does(recorded: tuple[Path, CampaignResult], tmp_path: Path) -> None:
    plan, first = recorded
    export = tmp_path / "calls.jsonl"
    rows = export_cache(tmp_path / "runs" / "calls.sqlite")
    export.write_text("".join(canonical_json(row) + "\n" for row in rows), encoding="utf-8")
    again = run(replaying(plan, export), tmp_path / "elsewhere" / "two", exploratory=REASON)
    assert (again.paid, again.verdict) == (0, first.verdict)


def test_a_call_that_was_not_recorded_stops_the_replay_and_is_named(
    recorded: tuple[Path, CampaignResult], tmp_path: Path
) -> None:
    plan, _ = recorded
    other = replaying(plan, tmp_path / "runs" / "calls.sqlite", search={"iterations": 3, "seed": 2})
    with pytest.raises(CallError, match=r"calls\.sqlite has no answer to call [0-9a-f]{64} of .*judge.*NOTE:"):
        run(other, tmp_path / "elsewhere" / "two", exploratory=REASON)


def test_a_replay_is_refused_unless_it_is_exploratory(recorded: tuple[Path, CampaignResult], tmp_path: Path) -> None:
    plan, _ = recorded
    with pytest.raises(PlanError, match="student, reflector: a replay of recorded answers confirms nothing"):
        run(replaying(plan, tmp_path / "runs" / "calls.sqlite"), tmp_path / "elsewhere" / "two")


def test_an_edited_answer_in_an_export_is_refused_by_its_line(
    recorded: tuple[Path, CampaignResult], tmp_path: Path
) -> None:
    plan, _ = recorded
    rows = list(export_cache(tmp_path / "runs" / "calls.sqlite"))
    rows[1]["request"]["sample"] = 7
    export = tmp_path / "calls.jsonl"
    export.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(CacheError, match=r"calls\.jsonl:2: the request was edited"):
        run(replaying(plan, export), tmp_path / "elsewhere" / "two", exploratory=REASON)


def test_an_export_of_hashes_cannot_be_replayed(recorded: tuple[Path, CampaignResult], tmp_path: Path) -> None:
    plan, _ = recorded
    export = tmp_path / "calls.jsonl"
    rows = list(export_cache(tmp_path / "runs" / "calls.sqlite", texts=False))
    export.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert "NOTE" not in export.read_text()
    with pytest.raises(CacheError, match=r"calls\.jsonl:1: an export of hashes has no answers"):
        run(replaying(plan, export), tmp_path / "elsewhere" / "two", exploratory=REASON)
