from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

MakePlan = Callable[..., Path]
Holdgate = Callable[..., tuple[int, str, str]]


def test_the_noise_of_a_plan_is_measured_shown_and_read_back(
    holdgate: Holdgate, make_plan: MakePlan, tmp_path: Path
) -> None:
    plan, out = make_plan(), tmp_path / "runs" / "noise"
    status, text, _ = holdgate("noise", plan, "--out", out)
    words = " ".join(text.split())
    assert status == 0
    assert "replicate 3 of 3" in words
    assert "pairs flip; over 3 replicates paired discrimination spreads by" in words
    assert "false-alarm rate at the first replicate's threshold" in words
    assert "SIMULATED" in words
    floor = json.loads((out / "noise.json").read_text())["floor"]
    status, text, _ = holdgate("noise", "--run", out, "--json")
    assert status == 0
    assert json.loads(text) == [{"split": "accept", "simulated": True, **floor}]
    status, text, _ = holdgate("noise", plan, "--out", out)
    assert "calls: 0 paid" in text
    status, text, _ = holdgate("power", plan, "--pilot", out, "--json")
    assert status == 0
    assert json.loads(text)["discordance"][0]["noise"] == 1.0


def test_the_json_form_alone_is_on_standard_output(holdgate: Holdgate, make_plan: MakePlan, tmp_path: Path) -> None:
    status, text, aside = holdgate("noise", make_plan(), "--out", tmp_path / "noise", "--split", "reflect", "--json")
    assert status == 0
    assert json.loads(text)["split"] == "reflect"
    assert "replicate 1 of 3" in aside


def test_a_finished_campaign_of_one_replicate_has_no_noise_to_read(holdgate: Holdgate, finished_run: Path) -> None:
    status, text, _ = holdgate("noise", "--run", finished_run)
    assert status == 0
    assert "(run, accept): not measured: one replicate" in text
    assert "(run, heldout): not measured: one replicate" in text


def test_a_campaign_with_replicates_shows_those_of_its_held_out_baseline_once_it_is_finished(
    holdgate: Holdgate, make_plan: MakePlan, tmp_path: Path
) -> None:
    out = tmp_path / "runs" / "small"
    plan = make_plan(replicates=3, search={"iterations": 0, "minibatch_groups": 1, "seed": 1})
    holdgate("run", plan, "--out", out, "--no-mlflow")
    status, text, _ = holdgate("noise", "--run", out, "--json")
    found = {row["split"]: row for row in json.loads(text)}
    assert status == 0
    assert found["heldout"]["replicates"] == 3
    assert found["accept"] == {
        "split": "accept",
        "simulated": True,
        "replicates": 1,
        "words": "not measured: one replicate",
    }
    begun = Path(shutil.copytree(out, tmp_path / "begun"))
    lines = (begun / "ledger.jsonl").read_text().splitlines(keepends=True)
    (begun / "ledger.jsonl").write_text("".join(lines[:-1]))
    status, text, _ = holdgate("noise", "--run", begun, "--json")
    assert [row["split"] for row in json.loads(text)] == ["accept"], "held-out judgements wait for the verdict"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((), 2, "name a plan"),
        (("small", "--run", "runs/small"), 2, "PLAN has no effect with --run"),
        (("--run", "runs/small", "--replicates", "5"), 2, "--replicates has no effect with --run"),
        (("--run", "nowhere"), 2, "nowhere holds no campaign"),
        (("simulated", "--replicates", "2"), 2, "replicates must be at least 3, got 2"),
        (("simulated", "--split", "heldout"), 2, "'heldout' is not one of 'reflect', 'accept'"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    holdgate: Holdgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], status: int,
    message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    ended, _, error = holdgate("noise", *arguments)
    assert ended == status
    assert message in error
    assert not list(tmp_path.rglob("ledger.jsonl"))
