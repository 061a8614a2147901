"""The mirror on a real tracking server."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lineage.mirror import MirrorProcess, sync
from lineage.records import Candidate

pytestmark = pytest.mark.integration

SEED = Candidate({"instruction": "Is it there?"}, "seed")
CHILD = Candidate({"instruction": "Is all of it there?"}, "mutation", (SEED.id,), 1)


@pytest.fixture
def server(mlflow_store: Any, tmp_path: Path) -> Iterator[str]:
    """The address of ``mlflow server`` on a store that has its tables."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    places = ["--backend-store-uri", mlflow_store.uri, "--artifacts-destination", (tmp_path / "artifacts").as_uri()]
    environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"}
    with (tmp_path / "server.log").open("wb") as log:
        running = subprocess.Popen(
            [*command, *places], cwd=tmp_path, stdout=log, stderr=log, env=environment, start_new_session=True
        )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            assert running.poll() is None, (tmp_path / "server.log").read_text()
            try:
                with urllib.request.urlopen(f"{address}/health", timeout=1):
                    break
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        else:
            pytest.fail((tmp_path / "server.log").read_text())
        yield address
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait(30)


def test_a_server_has_what_a_local_store_would_have(
    recorded: Callable[..., Any], server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow import MlflowClient

    monkeypatch.setenv("MLFLOW_TRACKING_URI", server)  # load_table looks for runs in the default store
    made = recorded()
    made.propose(SEED)
    made.judge(SEED, "accept", "accept")
    mirror = MirrorProcess(server, experiment="holdgate test", directory=made.directory)
    mirror.event(made.events[0])
    made.propose(CHILD, "rewrite", prompt="Look at this.")
    made.settle(CHILD, "accepted")
    body = made.decide(CHILD, "emit")
    made.finish("emit")
    mirror.close("FINISHED")

    client: Any = MlflowClient(server, registry_uri=server)
    place = client.get_experiment_by_name("holdgate test").experiment_id

    def runs() -> dict[str, Any]:
        return {run.data.tags["holdgate.key"]: run for run in client.search_runs([place])}

    found = runs()
    assert found.keys() == {"campaign", *(str(event.seq) for event in made.events if event.type == "candidate")}
    assert {run.info.status for run in found.values()} == {"FINISHED"}
    child = next(run for run in found.values() if run.data.tags.get("holdgate.candidate") == CHILD.id)
    text = Path(client.download_artifacts(child.info.run_id, "instruction.md")).read_text()
    assert text == CHILD.texts["instruction"]
    seed = next(run for run in found.values() if run.data.tags.get("holdgate.candidate") == SEED.id)
    table = client.load_table(place, "scores/accept.json", run_ids=[seed.info.run_id])
    assert list(table["score"]) == [0, 0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75]
    (version,) = client.search_prompt_versions("made")
    assert version.tags["holdgate.verdict_hash"] == body["verdict_hash"]

    sync(made.directory / "ledger.jsonl", tracking_uri=server, experiment="holdgate test")
    (made.directory / "mlflow.json").unlink()
    sync(made.directory / "ledger.jsonl", tracking_uri=server, experiment="holdgate test")
    assert {key: run.info.run_id for key, run in runs().items()} == {key: run.info.run_id for key, run in found.items()}
    assert len(client.search_prompt_versions("made")) == 1
