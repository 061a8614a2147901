from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from experiments.cli.main import cli
from lineage import read_events
from optimize import CampaignResult

MakePlan = Callable[..., Path]
Holdgate = Callable[..., tuple[int, str, str]]


def commands(group: click.Group, *names: str) -> Iterator[tuple[str, ...]]:
    """The command line's names, those of groups and of what is in them."""
    for name, command in group.commands.items():
        yield *names, name
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)


@pytest.mark.parametrize("command", [(), *commands(cli)], ids=" ".join)
def test_every_command_explains_itself(holdgate: Holdgate, command: tuple[str, ...]) -> None:
    status, out, _ = holdgate(*command, "--help")
    assert status == 0
    assert "Usage:" in out


def test_the_help_lists_every_command_in_one_section(holdgate: Holdgate) -> None:
    _, out, _ = holdgate("--help")
    listed = [line.split()[0] for line in out.split("Campaigns:")[1].splitlines() if re.match(r"  [a-z]", line)]
    assert sorted(listed) == sorted(cli.commands)


def test_a_campaign_runs_is_audited_and_shown(holdgate: Holdgate, make_plan: MakePlan, tmp_path: Path) -> None:
    plan, out = make_plan(), tmp_path / "runs" / "small"
    status, said, _ = holdgate("run", plan, "--out", out, "--no-mlflow")
    assert status == 0
    for words in (
        "SIMULATED",
        "offline edit operators",
        "seal opened for baseline",
        "word overlap",
        "decision",
        "report:",
    ):
        assert words in said
    assert (out / "report.html").is_file()
    status, said, _ = holdgate("audit", out)
    assert status == 0
    assert "0 errors" in said
    status, said, _ = holdgate("lineage", out)
    assert status == 0
    assert "seed" in said
    assert "c01" in said
    status, said, _ = holdgate("report", out)
    assert status == 0


def test_a_tampered_run_fails_its_audit(holdgate: Holdgate, finished_small: CampaignResult, tmp_path: Path) -> None:
    out = Path(shutil.copytree(finished_small.directory, tmp_path / "small"))
    assert holdgate("audit", out)[0] == 0
    verdict = json.loads((out / "verdict.json").read_text())
    verdict["decision"] = "emit"
    (out / "verdict.json").write_text(json.dumps(verdict))
    status, said, _ = holdgate("audit", out, "--json")
    assert status == 1
    assert any(finding["severity"] == "error" for finding in json.loads(said))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "quikstart"), "did you mean 'quickstart'"),
        (("audit", "nowhere"), "holds no campaign"),
        (("corpus", "check", "consult"), "did you mean 'consults'"),
        (("corpus", "check", "nowhere.jsonl"), "no such corpus file"),
        (("model", "path", "qwen2.5-coder-0.5b"), "qwen2.5-coder-0.5b-instruct"),
        (("split", "verify", "nowhere.json", "--corpus", "consults"), "there is no split lock"),
    ],
)
def test_bad_input_ends_with_one_line_and_status_two(
    holdgate: Holdgate, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, err = holdgate(*arguments)
    assert status == 2
    assert message in err
    assert "Traceback" not in err


def test_an_unknown_plan_key_is_named_before_anything_is_written(
    holdgate: Holdgate, make_plan: MakePlan, tmp_path: Path
) -> None:
    plan, out = make_plan(serach={"iterations": 1}), tmp_path / "runs" / "small"
    status, _, err = holdgate("run", plan, "--out", out)
    assert status == 2
    assert "unknown key 'serach'; did you mean 'search'?" in err
    assert not out.exists()


def test_too_few_groups_to_split_are_refused(holdgate: Holdgate, tmp_path: Path) -> None:
    lock = tmp_path / "split.lock.json"
    status, _, err = holdgate("split", "commit", lock, "--corpus", "consults", "--sizes", "45,20,47")
    assert status == 2
    assert "need 112 groups, there are 60" in err
    assert not lock.exists()


def test_a_lock_is_committed_once_verified_and_shown(holdgate: Holdgate, tmp_path: Path) -> None:
    lock = tmp_path / "split.lock.json"
    commit = ("split", "commit", lock, "--corpus", "consults", "--sizes", "20,15,25")
    assert holdgate(*commit)[0] == 0
    status, _, err = holdgate(*commit)
    assert status == 2
    assert "never overwritten" in err
    assert holdgate("split", "verify", lock, "--corpus", "consults")[0] == 0
    status, out, _ = holdgate("split", "show", lock)
    assert status == 0
    assert "heldout" in out


def test_a_limit_of_the_plan_ends_with_status_three_and_can_be_resumed(
    holdgate: Holdgate, make_plan: MakePlan, tmp_path: Path
) -> None:
    plan, out = make_plan(limits={"calls": 50}), tmp_path / "runs" / "small"
    status, _, err = holdgate("run", plan, "--out", out, "--no-mlflow")
    assert status == 3
    assert "raise limits.calls" in err
    assert "paid so far: student calibrate 50 calls" in err
    assert "to go on: at most" in err
    text = (out / "stopped.md").read_text()
    assert text.startswith("# Stopped: limits.calls\n")
    assert "| student | calibrate | 50 |" in text
    plan.write_text(plan.read_text().replace("calls: 50", "calls: 5000"))
    status, said, _ = holdgate("run", plan, "--out", out, "--no-mlflow")
    assert status == 0
    assert "amortised, for a document: 5.0 calls" in said
    assert not (out / "stopped.md").exists()


def test_a_plan_says_how_many_calls_it_needs(holdgate: Holdgate) -> None:
    status, out, _ = holdgate("plan", "quickstart")
    assert status == 0
    assert "750" in out
    assert "cannot confirm a moderate gain" in out
    status, out, _ = holdgate("plan", "--schema")
    assert json.loads(out)["title"] == "Plan"


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_every_candidate_of_a_run_is_in_mlflow(holdgate: Holdgate, make_plan: MakePlan, tmp_path: Path) -> None:
    out = tmp_path / "runs" / "small"
    assert holdgate("run", make_plan(), "--out", out)[0] == 0
    from mlflow import MlflowClient

    client: Any = MlflowClient(f"sqlite:///{tmp_path / 'runs' / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("holdgate")
    runs = client.search_runs([experiment.experiment_id])
    children = [run for run in runs if run.data.tags.get("mlflow.parentRunId")]
    candidates = [event for event in read_events(out / "ledger.jsonl") if event.type == "candidate"]
    assert len(children) == len(candidates)
    assert len(runs) == len(children) + 1
    assert {run.info.status for run in runs} == {"FINISHED"}
