"""A look at held-out data beside the planned openings: the campaign goes on, and confirms nothing any more."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from experiments import load_plan, write_report
from lineage.audit import audit_ledger
from lineage.canonical import canonical_json, digest, pretty_json
from lineage.errors import BudgetError
from lineage.ledger import Ledger, canonical_state, read_events
from lineage.mirror import sync
from lineage.openings import exploratory_reason
from lineage.tree import render_tree
from optimize import Campaign, CampaignResult
from optimize.protocol import Protocol
from optimize.recompute import audit_numbers
from splits import Corpus, Seal

LOOK, REASON = "reading the failures", "the baseline looked odd"
WORDS = f"the held-out split was also opened for {LOOK}: {REASON}"


@pytest.fixture(scope="module")
def passing(
    finished_run: Path, tiny_plan: Callable[..., dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The plan of the finished run, whose campaign passes its gate, as a file."""
    place = tmp_path_factory.mktemp("looked")
    shutil.copy(finished_run.parent / "lock.json", place / "lock.json")
    path = place / "plan.yaml"
    path.write_text(yaml.safe_dump(tiny_plan()), encoding="utf-8")
    return path


def campaign(plan: Path, out: Path) -> Campaign:
    loaded = load_plan(str(plan))
    return Campaign(loaded.plan, loaded.corpus, loaded.lock, out, baseline=loaded.baseline)


def look(plan: Path, out: Path) -> list[str]:
    """Open the seal of a campaign that is not running, as a notebook might."""
    made = campaign(plan, out)
    corpus: Corpus = load_plan(str(plan)).corpus
    with Ledger(out / "ledger.jsonl") as ledger:
        seal = Seal(corpus, made.lock, ledger, target="instruction", caller="a notebook")
        return seal.open_exploratory(LOOK, lambda part: [example.id for example in part.examples], reason=REASON)


def stop_at(step: str, plan: Path, out: Path) -> None:
    """Run a campaign up to a step of its protocol, as a limit would stop it."""

    def stop(*_: object) -> None:
        raise BudgetError("a limit")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Protocol, step, stop)
        with pytest.raises(BudgetError, match="a limit"):
            campaign(plan, out).run()


@pytest.fixture(scope="module")
def tainted(passing: Path) -> tuple[Path, CampaignResult]:
    """A run directory whose held-out split was looked at before it was confirmed on, and what came of it."""
    out = passing.parent / "runs" / "looked"
    stop_at("_confirm", passing, out)
    assert look(passing, out)
    return out, campaign(passing, out).run()


def test_the_same_plan_passes_its_gate_where_nobody_looked(passing: Path, finished_run: Path) -> None:
    events = read_events(finished_run / "ledger.jsonl")
    assert events[0].body["plan_hash"] == load_plan(str(passing)).plan.hash
    (verdict,) = (event.body["verdict"] for event in events if event.type == "verdict")
    assert (verdict["decision"], verdict["confirmatory"]) == ("emit", True)
    callers = [(event.body["purpose"], event.body["caller"]) for event in events if event.type == "seal_opened"]
    assert callers == [
        ("measure the incumbent before the search", "optimize.protocol"),
        ("compare the winner with the incumbent after the choice", "optimize.protocol"),
    ]


def test_a_confirmation_after_a_look_does_not_emit(tainted: tuple[Path, CampaignResult]) -> None:
    out, result = tainted
    verdict = result.verdict
    assert (verdict["decision"], verdict["confirmatory"], verdict["exploratory"]) == ("refuse", False, WORDS)
    assert verdict["reason"].startswith(f"this is an exploratory campaign ({WORDS}), which confirms nothing")
    assert not (out / "prompt.md").exists()


def test_a_look_before_the_first_confirmation_spends_none(passing: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs" / "early"
    stop_at("_calibrate", passing, out)
    look(passing, out)
    assert campaign(passing, out).run().verdict["comparison"] is None


def test_the_report_and_the_tree_say_so(tainted: tuple[Path, CampaignResult]) -> None:
    out, _ = tainted
    report = write_report(out)
    for path in (report.html, report.markdown):
        text = path.read_text(encoding="utf-8")
        assert f"EXPLORATORY, confirms nothing. The reason given: {WORDS}" in text
        assert "a notebook" in text
        assert LOOK in text
    assert "exploratory" in str(render_tree(read_events(out / "ledger.jsonl")).label)


def test_the_audit_finds_no_fault_and_tells_of_the_look(tainted: tuple[Path, CampaignResult]) -> None:
    out, _ = tainted
    findings = [*audit_ledger(out), *audit_numbers(out)]
    assert [found for found in findings if found.severity == "error"] == []
    assert any(f"an exploratory opening for {LOOK} ({REASON})" in found.words for found in findings)


def test_a_tainted_campaign_that_runs_again_ends_as_it_ended(
    tainted: tuple[Path, CampaignResult], passing: Path
) -> None:
    out, result = tainted
    state = canonical_state(read_events(out / "ledger.jsonl"))
    assert campaign(passing, out).run().verdict == result.verdict
    assert canonical_state(read_events(out / "ledger.jsonl")) == state


def test_a_look_after_the_end_is_told_and_changes_no_verdict(passing: Path, finished_run: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(finished_run, tmp_path / "runs" / "late"))
    result = campaign(passing, out).run()
    look(passing, out)
    events = read_events(out / "ledger.jsonl")
    assert exploratory_reason(events) is None
    assert campaign(passing, out).run().verdict == result.verdict
    findings = [*audit_ledger(out), *audit_numbers(out)]
    assert [found for found in findings if found.severity == "error"] == []
    assert any("no number after it confirms anything" in found.words for found in findings)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda body: body.update(exploratory=""), "an exploratory opening without its purpose or its reason"),
        (lambda body: body.update(lock="0" * 64), "its split lock is not the plan's"),
    ],
)
def test_a_look_that_was_edited_is_found(
    edit: Callable[[dict[str, Any]], None], said: str, tainted: tuple[Path, CampaignResult], tmp_path: Path
) -> None:
    out = Path(shutil.copytree(tainted[0], tmp_path / "edited"))
    rows = [json.loads(line) for line in (out / "ledger.jsonl").read_text().splitlines()]
    edit(next(row["body"] for row in rows if row["body"].get("opening") == "exploratory"))
    prev = "0" * 64
    for row in rows:
        row["prev"] = prev
        prev = row["hash"] = digest({key: value for key, value in row.items() if key != "hash"})
    (out / "ledger.jsonl").write_text("".join(canonical_json(row) + "\n" for row in rows))
    (out / "ledger.head.json").write_text(pretty_json({"count": len(rows), "hash": prev}))
    assert any(said in found.words for found in audit_ledger(out) if found.severity == "error")


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of MLflow's own imports
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of MLflow's SQLite connections
def test_mlflow_tags_the_campaign(tainted: tuple[Path, CampaignResult], passing: Path, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    out, _ = tainted
    late = tmp_path / "runs" / "late"
    campaign(passing, late).run()
    look(passing, late)
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    tags = []
    for directory in (out, late):
        run = sync(directory / "ledger.jsonl", tracking_uri=uri, experiment="looks")
        tags.append(MlflowClient(tracking_uri=uri).get_run(str(run)).data.tags)
    assert (tags[0]["holdgate.confirmatory"], tags[0]["holdgate.exploratory"]) == ("false", WORDS)
    assert (tags[1]["holdgate.confirmatory"], tags[1]["holdgate.exploratory"]) == ("true", "none")
    assert tags[1]["holdgate.opened_after_verdict"] == f"{LOOK}: {REASON}"
