"""The mirror in a process of its own: it slows nothing, fails nothing, and says how a campaign ended."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import LedgerError
from lineage.mirror import MirrorError, MirrorProcess
from lineage.mirror.process import _Tail
from lineage.records import Candidate

pytestmark = pytest.mark.integration

SEED = Candidate({"instruction": "Is it there?"}, "seed")


def process(store: Any, made: Any, **more: Any) -> MirrorProcess:
    return MirrorProcess(store.uri, experiment=store.experiment, directory=made.directory, **more)


def until(holds: Callable[[], bool], *, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


def test_a_campaign_is_mirrored_from_another_process(recorded: Callable[..., Any], mlflow_store: Any) -> None:
    made = recorded()
    mirror = process(mlflow_store, made)
    mirror.event(made.events[0])
    made.propose(SEED)
    made.judge(SEED, "accept", "accept")
    made.finish()
    mirror.close("FINISHED")
    runs = mlflow_store.runs()
    assert {name: run.info.status for name, run in runs.items()} == {"campaign": "FINISHED", "seed": "FINISHED"}
    assert mirror.run_id == runs["campaign"].info.run_id
    assert runs["campaign"].data.tags["holdgate.ledger.hash"] == made.events[-1].hash


def test_a_resumed_campaign_runs_again_in_the_same_run_and_finishes(
    recorded: Callable[..., Any], mlflow_store: Any
) -> None:
    made = recorded()
    made.propose(SEED)
    mirror = process(mlflow_store, made)
    mirror.event(made.events[0])
    mirror.close("KILLED")
    first = mlflow_store.runs()["campaign"]
    assert first.info.status == "KILLED"
    made.resume()
    mirror = process(mlflow_store, made)
    mirror.event(made.events[0])  # a replayed event, with nothing to mirror
    until(lambda: bool(mlflow_store.runs()["campaign"].info.status == "RUNNING"))
    made.finish()
    mirror.close("FINISHED")
    last = mlflow_store.runs()["campaign"]
    assert (last.info.run_id, last.info.status) == (first.info.run_id, "FINISHED")


def test_a_finished_campaign_that_is_mirrored_starts_no_process(
    recorded: Callable[..., Any], mlflow_store: Any
) -> None:
    made = recorded()
    made.finish()
    mlflow_store.sync(made)
    mirror = process(mlflow_store, made)
    for event in made.events:
        mirror.event(event)
    assert mirror._process is None
    mirror.close("FINISHED")


def test_a_campaign_whose_process_is_killed_ends_as_killed(recorded: Callable[..., Any], mlflow_store: Any) -> None:
    made = recorded()
    made.propose(SEED)
    made.ledger.close()
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from lineage.ledger import read_events\n"
        "from lineage.mirror import MirrorProcess\n"
        "uri, experiment, directory = sys.argv[1:]\n"
        "mirror = MirrorProcess(uri, experiment=experiment, directory=Path(directory))\n"
        "mirror.event(read_events(Path(directory) / 'ledger.jsonl')[0])\n"
        "time.sleep(600)\n"
    )
    asked = [mlflow_store.uri, mlflow_store.experiment, str(made.directory)]
    with subprocess.Popen([sys.executable, "-c", code, *asked]) as campaign:
        until(lambda: "seed" in mlflow_store.runs())
        assert mlflow_store.runs()["campaign"].info.status == "RUNNING"
        os.kill(campaign.pid, signal.SIGKILL)
    until(lambda: {run.info.status for run in mlflow_store.runs().values()} == {"KILLED"})


def test_a_store_that_cannot_be_opened_is_said_once_and_stops_nothing(
    recorded: Callable[..., Any], tmp_path: Path
) -> None:
    made = recorded()
    made.propose(SEED)
    (tmp_path / "file").write_text("in the way")
    uri = f"sqlite:///{tmp_path}/file/mlflow.db"
    mirror = MirrorProcess(uri, experiment="holdgate test", directory=made.directory)
    mirror.event(made.events[0])
    assert mirror._process is not None
    mirror._process.wait(60)
    with pytest.raises(MirrorError, match=r"cannot be written.*without a mirror"):
        mirror.event(made.events[1])
    mirror.event(made.events[1])
    mirror.close("FINISHED")


@contextmanager
def silent_server() -> Iterator[str]:
    """An address that takes connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_a_store_that_never_answers_holds_up_no_campaign(recorded: Callable[..., Any], mlflow_store: Any) -> None:
    made = recorded()
    with silent_server() as uri:
        mirror = MirrorProcess(uri, experiment="holdgate test", directory=made.directory, patience_s=1.0)
        start = time.perf_counter()
        for number in range(50):
            made.say("note", {"number": number})
            mirror.event(made.events[-1])
        assert time.perf_counter() - start < 10, "an unanswered request takes longer"
        made.finish()
        with pytest.raises(MirrorError, match="took longer than 1 seconds"):
            mirror.close("FINISHED")
        mirror.close("FINISHED")
    mlflow_store.sync(made)
    assert mlflow_store.runs()["campaign"].info.status == "FINISHED"


def test_a_damaged_segment_is_said_and_stops_nothing(recorded: Callable[..., Any], mlflow_store: Any) -> None:
    made = recorded()
    made.propose(SEED)
    name = made.judge(SEED, "accept", "accept")
    (made.directory / "judgements" / f"{name}.jsonl").write_text("")
    mirror = process(mlflow_store, made)
    mirror.event(made.events[0])
    with pytest.raises(MirrorError, match="were edited"):
        mirror.close("FINISHED")


def test_a_ledger_is_read_as_it_grows_and_never_by_half_a_line(recorded: Callable[..., Any], tmp_path: Path) -> None:
    made = recorded()
    made.propose(SEED)
    whole = made.ledger.path.read_bytes()
    path = tmp_path / "growing.jsonl"
    path.write_bytes(whole[:-5])
    tail = _Tail(path)
    assert [event.seq for event in tail.events()] == [0]
    assert tail.events() == []
    path.write_bytes(whole)
    assert tail.events() == [made.events[1]]
    with path.open("a") as file:
        file.write(json.dumps({**made.events[1].row(), "prev": "0" * 64}) + "\n")
    with pytest.raises(LedgerError, match="does not follow"):
        tail.events()
