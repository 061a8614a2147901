"""Ledgers written event by event, an empty store to copy, and what MLflow holds of either."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lineage.canonical import canonical_json, digest
from lineage.ledger import OPERATIONAL, Event, Ledger
from lineage.mirror import sync_directory
from lineage.records import Candidate, Judgement, Usage
from lineage.segments import write_segment

EXPERIMENT = "holdgate test"
SECRET = "the patient has never told anyone of the pain"
NUMBERS = {"value": 0.5, "low": 0.25, "high": 0.75, "wins": 2, "ties": 0, "losses": 2, "pairs": 4, "failed": 0}
USAGE = Usage(1, 400, 3, cost_usd=0.01)


@dataclass
class Recorded:
    """A campaign's run directory that is written an event at a time."""

    directory: Path
    plan: Mapping[str, Any] = field(default_factory=dict)
    marks: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage = USAGE

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.directory / "ledger.jsonl")
        plan = {"name": "made", "student": {"shape": "per-fact"}, "limits": {"usd": 2.5}, **self.plan}
        hashes = {"plan_hash": digest(plan), "lock_hash": "2" * 64, "corpus_hash": "3" * 64, "models_hash": None}
        body = {"plan": plan, **hashes, "simulated": False, "exploratory": None, "replayed": [], **self.marks}
        self.say("plan", body)
        rows = [
            {"id": f"g{n}.{kind}", "group": f"g{n}", "label": kind, "kind": kind, "severity": None, "trace": None}
            for n in range(4)
            for kind in ("clean", "omission")
        ]
        text = "".join(canonical_json(row) + "\n" for row in rows)
        (self.directory / "examples.jsonl").write_text(text, encoding="utf-8")

    @property
    def events(self) -> tuple[Event, ...]:
        return self.ledger.events

    def resume(self) -> None:
        """Go on in another process, where the last one stopped."""
        self.ledger.close()
        self.ledger = Ledger(self.ledger.path)
        for event in self.events:
            if event.type not in OPERATIONAL:
                self.say(event.type, event.body)

    def say(self, kind: str, body: Mapping[str, Any]) -> None:
        self.ledger.perform(kind, body, dict)

    def propose(self, candidate: Candidate, operator: str | None = None, *, prompt: str | None = None) -> Candidate:
        """A candidate, after its reflection where it has a parent."""
        if candidate.parents:
            told = {"text": "x", "operator": operator, "prompt": prompt, "answer": prompt, "problem": None}
            key = {"iteration": candidate.iteration, "call": 1, "parent": candidate.parents[0]}
            self.say("reflection", {**key, "reflection": told})
        body = {"candidate": candidate.id, "texts": dict(candidate.texts), "kind": candidate.kind}
        more = {"parents": list(candidate.parents), "iteration": candidate.iteration, "operator": operator}
        self.say("candidate", body | more)
        return candidate

    def settle(self, candidate: Candidate, outcome: str, reason: str = "because", *, rewards: bool = True) -> None:
        before, after = ({"g0.omission": 0.25}, {"g0.omission": 0.5}) if rewards else ({}, {})
        body = {"iteration": candidate.iteration, "candidate": candidate.id, "parents": list(candidate.parents)}
        rewards_of = {"parent_rewards": before, "child_rewards": after}
        self.say("outcome", {**body, "outcome": outcome, "reason": reason, **rewards_of})

    def judge(self, candidate: Candidate, purpose: str, split: str, *, failed: bool = False) -> str:
        """An evaluation of all examples; the name of its segment."""
        name = f"{len(self.events):04d}-{purpose}"
        judged = [
            Judgement(
                f"g{n}.{kind}",
                candidate.id,
                "4" * 64,
                "failed" if failed and not n else "scored",
                None if failed and not n else n / 4,
                reason=f"unparseable: {SECRET}" if failed and not n else None,
                usage=USAGE,
                raw=(SECRET,),
                seed=1,
            )
            for n in range(4)
            for kind in ("clean", "omission")
        ]
        key = {"purpose": purpose, "split": split, "candidates": [candidate.id], "student": "4" * 64, "iteration": None}
        segment = write_segment(self.directory / "judgements", name, judged)
        self.say("evaluation", {**key, "segment": segment, "failed": 0})
        return name

    def measure(self, candidate: Candidate, purpose: str) -> None:
        measures = {"omissions": NUMBERS, "commissions": {**NUMBERS, "value": None}, "by_trace": {"complete": NUMBERS}}
        self.say("measured", {"purpose": purpose, "candidate": candidate.id, "measures": measures})

    def decide(self, winner: Candidate, decision: str, *, confirmatory: bool = True) -> dict[str, Any]:
        """A verdict; the body of its event."""
        verdict = {
            "decision": decision,
            "reason": "so it is",
            "words": ["In words."],
            "confirmatory": confirmatory,
            "exploratory": None if confirmatory else "a test",
            "simulated": False,
            "winner": winner.id,
            "accept": {"gain": 0.1, "optimism": None, "winner": {"threshold": 0.625}},
            "heldout": {"omissions": {"difference": 0.2, "low": 0.1, "high": 0.3, "level": 0.95, "sign_flip_p": 0.01}},
            "hashes": {"plan": "1" * 64, "lock": "2" * 64, "corpus": "3" * 64, "student": "4" * 64},
        }
        body = {"verdict": verdict, "verdict_hash": digest(verdict), "prompt": "5" * 64 if decision == "emit" else None}
        self.say("verdict", body)
        return body

    def finish(self, decision: str = "refuse", paid: Sequence[Mapping[str, Any]] = ()) -> None:
        record = {"paid": {"student accept": USAGE.row(), "reflector reflect": USAGE.row()}, "candidates": list(paid)}
        self.say("spend", {"volatile": {**record, "limits": {"usd": 2.5}, "prices": {}}})
        self.say("finished", {"decision": decision})
        self.ledger.close()


@dataclass(frozen=True)
class Store:
    """A SQLite store in a directory of its own."""

    directory: Path
    experiment: str = EXPERIMENT

    @property
    def uri(self) -> str:
        return f"sqlite:///{self.directory / 'mlflow.db'}"

    @property
    def client(self) -> Any:
        from mlflow import MlflowClient

        return MlflowClient(self.uri, registry_uri=self.uri)

    def sync(self, made: Recorded) -> str | None:
        """Mirror a campaign that no process runs any more."""
        made.ledger.close()
        return self.sync_directory(made.directory)

    def sync_directory(self, directory: Path) -> str | None:
        return sync_directory(directory, tracking_uri=self.uri, experiment=self.experiment)

    def runs(self) -> dict[str, Any]:
        """Every run, by its name."""
        found = self.client
        place = found.get_experiment_by_name(EXPERIMENT)
        runs = [] if place is None else found.search_runs([place.experiment_id], max_results=5000)
        return {run.data.tags["holdgate.key"] if top(run) else run.info.run_name: run for run in runs}

    def written(self) -> str:
        """Everything in the store, artifacts and database, as text."""
        found = (path for path in self.directory.rglob("*") if path.is_file())
        return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in found)

    def snapshot(self) -> dict[str, Any]:
        """Everything that syncing again must not change."""
        client, found = self.client, {}
        for run in self.runs().values():
            metrics = {
                name: [(m.value, m.step, m.timestamp) for m in client.get_metric_history(run.info.run_id, name)]
                for name in run.data.metrics
            }
            files = {
                str(path.relative_to(root(run))): path.read_text() for path in root(run).rglob("*") if path.is_file()
            }
            state = run.info.status, run.info.start_time, run.info.end_time
            found[run.info.run_id] = (state, run.data.tags, run.data.params, metrics, files)
        return found


def top(run: Any) -> bool:
    return bool(run.data.tags["holdgate.key"] == "campaign")


def root(run: Any) -> Path:
    return Path(run.info.artifact_uri.removeprefix("file://"))


@pytest.fixture(scope="session")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store, to copy: making its tables takes seconds."""
    from lineage.mirror.quiet import quiet

    made = Store(tmp_path_factory.mktemp("blank"))
    with quiet():
        made.client.search_experiments()
    return made.directory / "mlflow.db"


@pytest.fixture
def mlflow_store(blank: Path, tmp_path: Path) -> Store:
    (tmp_path / "store").mkdir()
    shutil.copy(blank, tmp_path / "store" / "mlflow.db")
    return Store(tmp_path / "store")


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[Callable[..., Recorded]]:
    """Begin a campaign in ``run``; keyword arguments replace parts of its first event."""
    made: list[Recorded] = []

    def begin(plan: Mapping[str, Any] | None = None, **marks: Any) -> Recorded:
        made.append(Recorded(tmp_path / "run", plan or {}, marks))
        return made[-1]

    yield begin
    for one in made:
        one.ledger.close()


@pytest.fixture
def artifact() -> Callable[[Any, str], str]:
    return lambda run, name: (root(run) / name).read_text(encoding="utf-8")


@pytest.fixture
def table() -> Callable[[Any, str], list[dict[str, Any]]]:
    """Rows of a table."""

    def read(run: Any, name: str) -> list[dict[str, Any]]:
        found = json.loads((root(run) / name).read_text(encoding="utf-8"))
        return [dict(zip(found["columns"], row, strict=True)) for row in found["data"]]

    return read
