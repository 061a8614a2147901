"""The MLflow mirror, with a real SQLite store: whole texts, the same runs on resumption, and no duplicates."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import HoldgateError, LedgerError
from lineage.ledger import Event, read_events
from lineage.mirror import MirrorError, MlflowMirror, sync
from optimize import Campaign, parse_plan
from splits import Corpus, SplitLock, load_lock
from students import load_instruction

pytestmark = pytest.mark.integration
EXPERIMENT = "holdgate test"


class Follower:
    """A campaign's watcher that passes events on, and stops the campaign after some."""

    def __init__(self, take: Callable[[Event], None], stop_after: int | None = None) -> None:
        self.take, self.stop_after = take, stop_after

    def phase(self, name: str) -> None:
        pass

    def judged(self, progress: Any) -> None:
        pass

    def event(self, event: Event) -> None:
        self.take(event)
        if event.seq == self.stop_after:
            raise KeyboardInterrupt


@pytest.fixture(scope="session")
def lock(consults: Corpus, finished_run: Path) -> SplitLock:
    return load_lock(finished_run.parent / "lock.json", consults)


@pytest.fixture(scope="session")
def campaign(consults: Corpus, lock: SplitLock) -> Callable[[Path, Follower], Any]:
    plan = {
        "name": "tiny",
        "corpus": {"bundled": "consults"},
        "splits": {"lock": "lock.json"},
        "student": {"shape": "per-fact", "model": {"simulated": {}}, "budget": {"answer_tokens": 1}, "max_facts": 5},
        "baseline": "stated-in-note",
        "search": {"iterations": 6, "seed": 4},
        "gate": {"rule": "point"},
    }

    def run(directory: Path, follower: Follower) -> Any:
        return Campaign(
            parse_plan(plan, where="test"),
            consults,
            lock,
            directory,
            baseline=load_instruction("stated-in-note"),
            exploratory="a test",
            watcher=follower,
        ).run()

    return run


@pytest.fixture(scope="session")
def store(campaign: Callable[[Path, Follower], Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a finished campaign, mirrored as it ran."""
    directory = tmp_path_factory.mktemp("store")
    mirror = MlflowMirror(f"sqlite:///{directory}/mlflow.db", experiment=EXPERIMENT, directory=directory / "run")
    campaign(directory / "run", Follower(mirror.event))
    mirror.close("FINISHED")
    return directory


@pytest.fixture(scope="session")
def blank(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store, to copy: making its tables takes seconds."""
    path = tmp_path_factory.mktemp("blank") / "mlflow.db"
    client(path.parent).search_experiments()
    return path


@pytest.fixture
def place(blank: Path, tmp_path: Path) -> Path:
    """A directory with an empty store."""
    shutil.copy(blank, tmp_path / "mlflow.db")
    return tmp_path


@pytest.fixture
def empty(place: Path, store: Path) -> Path:
    """A directory with an empty store and a copy of the finished campaign that was never mirrored."""
    shutil.copytree(store / "run", place / "run")
    (place / "run" / "mlflow.json").unlink()
    return place


def uri(directory: Path) -> str:
    return f"sqlite:///{directory}/mlflow.db"


def mirror_of(directory: Path) -> MlflowMirror:
    return MlflowMirror(uri(directory), experiment=EXPERIMENT, directory=directory / "run")


def client(directory: Path) -> Any:
    from mlflow import MlflowClient

    return MlflowClient(uri(directory))


def runs_of(directory: Path) -> list[Any]:
    found = client(directory)
    experiment = found.get_experiment_by_name(EXPERIMENT)
    return list(found.search_runs([experiment.experiment_id], order_by=["attributes.start_time ASC"]))


def children(directory: Path) -> dict[str, Any]:
    return {run.info.run_name: run for run in runs_of(directory) if "mlflow.parentRunId" in run.data.tags}


def parent(directory: Path) -> Any:
    (run,) = [run for run in runs_of(directory) if "mlflow.parentRunId" not in run.data.tags]
    return run


def artifact(run: Any, name: str) -> str:
    return (Path(run.info.artifact_uri.removeprefix("file://")) / name).read_text(encoding="utf-8")


def events_of(directory: Path) -> tuple[Event, ...]:
    return read_events(directory / "run" / "ledger.jsonl")


def test_the_campaign_is_a_finished_run_with_its_hashes(store: Path) -> None:
    run, events = parent(store), events_of(store)
    tags = run.data.tags
    assert run.info.status == "FINISHED"
    assert tags["holdgate.campaign"] == events[0].hash
    assert tags["holdgate.plan_hash"] == events[0].body["plan_hash"]
    assert tags["holdgate.lock_hash"] == events[0].body["lock_hash"]
    assert (tags["holdgate.simulated"], tags["holdgate.exploratory"]) == ("true", "a test")
    assert tags["holdgate.decision"] == events[-1].body["decision"]
    assert (tags["holdgate.ledger.count"], tags["holdgate.ledger.hash"]) == (str(len(events)), events[-1].hash)
    assert run.data.params["student.shape"] == "per-fact"
    assert json.loads(artifact(run, "plan.json")) == events[0].body["plan"]


def test_every_candidate_is_a_finished_child_with_its_whole_text(store: Path) -> None:
    found = {run.data.tags["holdgate.key"]: run for run in children(store).values()}
    proposed = [event for event in events_of(store) if event.type == "candidate"]
    assert found.keys() == {str(event.seq) for event in proposed}
    for event in proposed:
        run = found[str(event.seq)]
        assert run.info.status == "FINISHED"
        assert run.data.tags["mlflow.parentRunId"] == parent(store).info.run_id
        assert run.data.tags["holdgate.candidate"] == event.body["candidate"]
        assert artifact(run, "instruction.md") == event.body["texts"]["instruction"]


def test_outcomes_parents_and_scores_are_on_the_children(store: Path) -> None:
    found, events = children(store), events_of(store)
    outcomes = [event.body for event in events if event.type == "outcome"]
    assert {body["outcome"] for body in outcomes} >= {"accepted", "rejected"}
    for body in outcomes:
        run = found[f"c{body['iteration']:02d}"]
        assert run.data.tags["holdgate.outcome"] == body["outcome"]
        assert run.data.tags["holdgate.reason"] == body["reason"]
        assert run.data.tags["holdgate.parents"] == ",".join(body["parents"])
        above = next(other for other in found.values() if other.info.run_id == run.data.tags["holdgate.parent_runs"])
        assert above.data.tags["holdgate.candidate"] == body["parents"][0]
        rewards = json.loads(artifact(run, "scores/minibatch.json"))
        assert rewards["columns"] == ["example", "parent", "child"]
        assert {example: parent for example, parent, _ in rewards["data"]} == body["parent_rewards"]
        assert {example: child for example, _, child in rewards["data"]} == body["child_rewards"]
        assert json.loads(artifact(run, "reflection/reflection.json"))["iteration"] == body["iteration"]
    scores = json.loads(artifact(found["seed"], "scores/accept.json"))
    accept = next(e.body for e in events if e.type == "evaluation" and e.body["purpose"] == "accept")
    assert len(scores["data"]) == accept["examples"]["count"]


def test_measures_are_metrics(store: Path) -> None:
    found, events = children(store), events_of(store)
    choice = next(event.body for event in events if event.type == "choice")
    for place in choice["ranking"]:
        metrics = found[place["name"]].data.metrics
        assert (metrics["accept.paired"], metrics["accept.detection"]) == (place["paired"], place["detection"])
    (winner,) = [run for run in found.values() if run.data.tags.get("holdgate.winner") == "true"]
    assert winner.data.tags["holdgate.candidate"] == choice["winner"]
    for event in (event for event in events if event.type == "measured"):
        value = event.body["measures"]["omissions"]["value"]
        run = next(r for r in found.values() if r.data.tags["holdgate.candidate"] == event.body["candidate"])
        if event.body["purpose"] == "accept":
            assert run.data.metrics["accept.omissions"] == value
            continue
        name = f"heldout.{event.body['purpose']}"
        assert run.data.metrics[f"{name}.omissions"] == value
        arm = "baseline" if run.info.run_name == "seed" else "winner"
        assert parent(store).data.metrics[f"{name}.{arm}.omissions"] == value
    assert not any(name.startswith("heldout.accept") for run in runs_of(store) for name in run.data.metrics)


def test_no_heldout_or_accept_text_is_in_the_store(store: Path, consults: Corpus, lock: SplitLock) -> None:
    hidden = {group for split in ("accept", "heldout") for group in lock.splits[split]}
    texts = [example.document[:200] for example in consults.examples if example.group in hidden]
    written = "\n".join(path.read_text() for path in (store / "mlflow-artifacts").rglob("*") if path.is_file())
    assert written
    assert not any(text in written for text in texts)


def test_artifacts_lie_beside_a_local_store(store: Path) -> None:
    assert (store / "mlflow-artifacts").is_dir()
    assert not (Path.cwd() / "mlruns").exists()


def test_a_long_text_and_a_model_s_reflection_are_kept_whole(empty: Path) -> None:
    events = list(events_of(empty))
    place = next(index for index, event in enumerate(events) if event.type == "candidate" and event.body["parents"])
    long = "Is it stated? é\n" * 5000
    reflection = {**events[place - 1].body["reflection"], "prompt": "P " * 9000, "answer": "A " * 9000}
    told = {
        place - 1: {**events[place - 1].body, "reflection": reflection},
        place: {**events[place].body, "texts": {"instruction": long}},
    }
    mirror = mirror_of(empty)
    for index, event in enumerate(events[: place + 1]):
        mirror.event(Event(event.seq, event.at, event.type, told.get(index, event.body), event.prev, event.hash))
    mirror.send()
    run = children(empty)["c01"]
    assert artifact(run, "instruction.md") == long
    assert artifact(run, "reflection/prompt.md") == "P " * 9000
    assert artifact(run, "reflection/answer.md") == "A " * 9000


@pytest.mark.parametrize("status", ["KILLED", "FAILED"])
def test_a_resumed_campaign_goes_on_in_the_same_runs(
    status: Any, campaign: Callable[[Path, Follower], Any], place: Path
) -> None:
    mirror = mirror_of(place)
    with pytest.raises(KeyboardInterrupt):
        campaign(place / "run", Follower(mirror.event, stop_after=18))
    assert parent(place).info.status == "RUNNING"
    mirror.close(status)
    before = {run.info.run_id for run in runs_of(place)}
    assert {run.info.status for run in runs_of(place)} == {"FINISHED", status}
    assert parent(place).info.status == status

    campaign(place / "run", Follower(mirror_of(place).event))
    after = {run.info.run_id for run in runs_of(place)}
    assert before < after
    assert len(children(place)) == len(after) - 1
    assert {run.info.status for run in runs_of(place)} == {"FINISHED"}


def test_a_crash_leaves_the_run_running_and_the_next_process_goes_on(
    campaign: Callable[[Path, Follower], Any], place: Path
) -> None:
    with pytest.raises(KeyboardInterrupt):
        campaign(place / "run", Follower(mirror_of(place).event, stop_after=9))
    assert parent(place).info.status == "RUNNING"
    campaign(place / "run", Follower(mirror_of(place).event))
    assert parent(place).info.status == "FINISHED"


def snapshot(directory: Path) -> dict[str, Any]:
    found = {}
    history = client(directory)
    for run in runs_of(directory):
        metrics = {
            name: [(m.value, m.step, m.timestamp) for m in history.get_metric_history(run.info.run_id, name)]
            for name in run.data.metrics
        }
        state = (run.info.status, run.info.start_time, run.info.end_time)
        found[run.info.run_id] = (state, run.data.tags, run.data.params, metrics)
    return found


@pytest.mark.parametrize("state", ["lost", "damaged", "stale"])
def test_mirroring_again_without_its_state_changes_nothing(empty: Path, state: str) -> None:
    kept = empty / "run" / "mlflow.json"
    run_id = sync(empty / "run" / "ledger.jsonl", tracking_uri=uri(empty), experiment=EXPERIMENT)
    before = snapshot(empty)
    if state == "lost":
        kept.unlink()
    elif state == "damaged":
        kept.write_text("{")
    else:
        known = json.loads(kept.read_text())
        kept.write_text(json.dumps({**known, "mirrored": 12, "runs": 1, "status": "RUNNING"}))
    assert sync(empty / "run" / "ledger.jsonl", tracking_uri=uri(empty), experiment=EXPERIMENT) == run_id
    assert snapshot(empty) == before


def test_a_store_that_lost_its_runs_is_filled_again(empty: Path) -> None:
    sync(empty / "run" / "ledger.jsonl", tracking_uri=uri(empty), experiment=EXPERIMENT)
    kept = empty / "run" / "mlflow.json"
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "mirrored": 40}))
    count = len(runs_of(empty))
    found = client(empty)
    for run in runs_of(empty):
        found.delete_run(run.info.run_id)
    sync(empty / "run" / "ledger.jsonl", tracking_uri=uri(empty), experiment=EXPERIMENT)
    assert len(runs_of(empty)) == count


def test_another_store_gets_a_mirror_of_its_own(empty: Path, blank: Path) -> None:
    other = empty / "other"
    other.mkdir()
    shutil.copy(blank, other)
    first = sync(empty / "run" / "ledger.jsonl", tracking_uri=uri(empty), experiment=EXPERIMENT)
    second = sync(empty / "run" / "ledger.jsonl", tracking_uri=uri(other), experiment=EXPERIMENT)
    assert first != second
    assert len(runs_of(empty)) == len(runs_of(other))


def test_two_campaigns_of_one_experiment_are_two_runs(
    campaign: Callable[[Path, Follower], Any], store: Path, place: Path
) -> None:
    mirror = MlflowMirror(uri(place), experiment=EXPERIMENT, directory=place / "one")
    campaign(place / "one", Follower(mirror.event))
    sync(shutil.copytree(store / "run", place / "two") / "ledger.jsonl", tracking_uri=uri(place), experiment=EXPERIMENT)
    tops = [run for run in runs_of(place) if "mlflow.parentRunId" not in run.data.tags]
    assert len({run.data.tags["holdgate.campaign"] for run in tops}) == 2


def test_an_interrupted_campaign_is_synced_as_killed(campaign: Callable[[Path, Follower], Any], place: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        campaign(place / "run", Follower(lambda event: None, stop_after=18))
    sync(place / "run" / "ledger.jsonl", tracking_uri=uri(place), experiment=EXPERIMENT)
    assert parent(place).info.status == "KILLED"
    campaign(place / "run", Follower(lambda event: None))
    sync(place / "run" / "ledger.jsonl", tracking_uri=uri(place), experiment=EXPERIMENT)
    assert {run.info.status for run in runs_of(place)} == {"FINISHED"}


def test_a_running_campaign_is_not_synced(campaign: Callable[[Path, Follower], Any], place: Path) -> None:
    def meddle(event: Event) -> None:
        sync(place / "run" / "ledger.jsonl", tracking_uri=uri(place), experiment=EXPERIMENT)

    with pytest.raises(MirrorError, match="is running"):
        campaign(place / "run", Follower(meddle))


def test_a_replay_of_mirrored_events_does_not_load_mlflow(store: Path) -> None:
    code = (
        "import sys\n"
        f"sys.path[:0] = {[str(Path(__file__).parents[2]), *sys.path]!r}\n"
        "from pathlib import Path\n"
        "from lineage.mirror import MlflowMirror\n"
        "from lineage.ledger import read_events\n"
        f"mirror = MlflowMirror({uri(store)!r}, experiment={EXPERIMENT!r}, directory=Path({str(store / 'run')!r}))\n"
        f"for event in read_events(Path({str(store / 'run' / 'ledger.jsonl')!r})):\n"
        "    mirror.event(event)\n"
        "mirror.close('KILLED')\n"
        "print(mirror.run_id, 'mlflow' in sys.modules, 'sqlalchemy' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.decode().split() == [parent(store).info.run_id, "False", "False"]
    assert parent(store).info.status == "FINISHED"


def test_nothing_global_is_changed(empty: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import mlflow

    def state() -> tuple[Any, ...]:
        levels = [logging.getLogger(name).level for name in ("", "mlflow", "alembic")]
        return mlflow.get_tracking_uri(), mlflow.active_run(), dict(os.environ), levels

    before = state()
    (empty / "mlflow.db").unlink()
    sync(empty / "run" / "ledger.jsonl", tracking_uri=uri(empty), experiment=EXPERIMENT)
    assert state() == before
    assert capfd.readouterr() == ("", "")


def test_a_store_that_cannot_be_opened_is_an_error_with_a_remedy(empty: Path) -> None:
    (empty / "file").write_text("in the way")
    with pytest.raises(MirrorError, match="without a mirror") as caught:
        sync(empty / "run" / "ledger.jsonl", tracking_uri=f"sqlite:///{empty}/file/mlflow.db", experiment=EXPERIMENT)
    assert isinstance(caught.value, HoldgateError)


def test_a_server_that_is_gone_is_an_error_without_its_password(empty: Path) -> None:
    gone = "http://me:secret@127.0.0.1:9"
    with pytest.raises(MirrorError, match="cannot be written") as caught:
        sync(empty / "run" / "ledger.jsonl", tracking_uri=gone, experiment=EXPERIMENT)
    assert "secret" not in str(caught.value)


def test_no_password_is_kept_in_the_run_directory(empty: Path) -> None:
    events = events_of(empty)
    mirror = MlflowMirror("http://me:secret@127.0.0.1:9", experiment=EXPERIMENT, directory=empty / "run")
    mirror._store.state["mirrored"] = len(events)
    mirror._store.keep()
    assert "secret" not in (empty / "run" / "mlflow.json").read_text()


def test_a_damaged_segment_is_not_mirrored(empty: Path) -> None:
    path = next(path for path in sorted((empty / "run" / "judgements").iterdir()) if "accept" in path.name)
    path.write_text("")
    with pytest.raises(LedgerError, match="were edited"):
        sync(empty / "run" / "ledger.jsonl", tracking_uri=uri(empty), experiment=EXPERIMENT)


def test_an_unknown_status_is_refused(place: Path) -> None:
    with pytest.raises(ValueError, match="must be FINISHED, FAILED or KILLED"):
        mirror_of(place).close("DONE")  # type: ignore[arg-type]  # what a caller may not pass
