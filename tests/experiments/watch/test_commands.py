"""``holdgate watch`` and ``holdgate ui``."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage.ledger import Ledger, read_events
from lineage.mirror import sync
from tests.conftest import write_plan

Run = Callable[..., tuple[int, str, str]]


def test_once_prints_how_it_stands(holdgate: Run, finished_run: Path) -> None:
    status, said, _ = holdgate("watch", finished_run, "--once")
    assert status == 0
    for words in (
        "tiny  simulated  finished",
        "paid so far",
        "winner on accept (optimistic)",
        "frontier:",
        "decision:",
    ):
        assert words in said
    assert "\x1b" not in said


def test_a_finished_run_ends_the_watching_at_once(holdgate: Run, finished_run: Path) -> None:
    status, said, _ = holdgate("watch", finished_run)
    assert (status, said.count("decision:")) == (0, 1)


def test_a_killed_run_is_told_by_the_exit_status(holdgate: Run, finished_run: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(finished_run, tmp_path / "run"))
    lines = (out / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    (out / "ledger.jsonl").write_bytes(b"".join(lines[:6]) + lines[6][:20])
    status, said, _ = holdgate("watch", out)
    assert (status, "interrupted: killed" in said) == (1, True)


def test_a_run_that_is_held_by_its_process_can_be_looked_at(holdgate: Run, finished_run: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(finished_run, tmp_path / "run"))
    with Ledger(out / "ledger.jsonl"):
        before = (out / "ledger.jsonl").read_bytes()
        assert holdgate("watch", out, "--once")[0] == 0
        assert (out / "ledger.jsonl").read_bytes() == before


@pytest.mark.parametrize("command", ["watch", "ui"])
def test_a_directory_without_a_run_is_refused(holdgate: Run, tmp_path: Path, command: str) -> None:
    status, _, err = holdgate(command, tmp_path)
    assert (status, "holds no campaign" in err) == (2, True)


def test_looking_now_and_waiting_are_not_asked_for_together(holdgate: Run, finished_run: Path) -> None:
    status, _, err = holdgate("watch", finished_run, "--once", "--wait")
    assert (status, "give one of them" in err) == (2, True)


def test_limits_come_from_the_plan_that_is_named(
    holdgate: Run, make_plan: Callable[..., Path], tmp_path: Path, small_lock: Path
) -> None:
    plan, out = make_plan(search={"iterations": 0, "seed": 1}), tmp_path / "runs" / "small"
    assert holdgate("run", plan, "--out", out, "--no-mlflow")[0] == 0
    events = read_events(out / "ledger.jsonl")
    cut = next(event.seq for event in events if event.type == "choice")
    lines = (out / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    (out / "ledger.jsonl").write_bytes(b"".join(lines[:cut]))
    assert "its limits stand in its plan file: name it with --plan" in holdgate("watch", out, "--once")[1]
    text = plan.read_text(encoding="utf-8") + "limits: {calls: 1000000}\n"
    plan.write_text(text, encoding="utf-8")
    assert "1,000,000" in holdgate("watch", out, "--once", "--plan", plan)[1]
    other = write_plan(tmp_path / "other", small_lock, {})
    status, _, err = holdgate("watch", out, "--once", "--plan", other)
    assert (status, "is not the plan of this run" in err) == (2, True)


def test_a_store_that_is_not_there_is_told_how_to_make(
    holdgate: Run, finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    out = Path(shutil.copytree(finished_run, tmp_path / "run", ignore=shutil.ignore_patterns("mlflow.json")))
    status, _, err = holdgate("ui", out)
    assert (status, f"make it with: holdgate lineage sync {out}" in err) == (2, True)


def test_a_taken_port_is_named_with_one_that_is_free(holdgate: Run, finished_run: Path, tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").touch()
    store = f"sqlite:///{tmp_path / 'mlflow.db'}"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, _, err = holdgate("ui", finished_run, "--tracking-uri", store, "--port", str(port))
    assert status == 2
    found = re.search(rf"port {port} of 127.0.0.1 cannot be used .* --port (\d+)", err)
    assert found is not None
    assert int(found[1]) != port


def test_a_run_mirrored_to_a_server_is_sent_there(holdgate: Run, finished_run: Path) -> None:
    status, said, _ = holdgate("ui", finished_run, "--tracking-uri", "https://mlflow.example.org")
    assert (status, "open https://mlflow.example.org" in said) == (0, True)


@pytest.mark.integration
def test_the_ui_serves_the_store_and_leaves_nothing_behind(finished_run: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(finished_run, tmp_path / "runs" / "run", ignore=shutil.ignore_patterns("mlflow.json")))
    store = f"sqlite:///{out.parent / 'mlflow.db'}"
    run_id = sync(out / "ledger.jsonl", tracking_uri=store, experiment="holdgate")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    command = [sys.executable, "-c", "from experiments.cli import main; main()", "ui", str(out), "--port", str(port)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert f"http://127.0.0.1:{port}" in line
        assert str(run_id) in line
        address = f"http://127.0.0.1:{port}/api/2.0/mlflow/runs/get?run_id={run_id}"
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert json.load(answer)["run"]["info"]["run_id"] == run_id
    finally:
        process.send_signal(signal.SIGINT)
        said, err = process.communicate(timeout=60)
    assert (process.returncode, "ended" in said) == (0, True), err
    for _ in range(50):
        with socket.socket() as again:
            if again.connect_ex(("127.0.0.1", port)) != 0:
                break
        time.sleep(0.1)
    else:
        pytest.fail("the server still listens")
