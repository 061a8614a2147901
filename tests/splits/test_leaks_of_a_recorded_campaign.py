"""What a campaign of the command line leaves behind, with a judge that quotes whatever it judges.

Held-out text may be in the corpus, in the raw answers of held-out judgements and in the call cache (see the module on
leaks beside this one); here everything else is looked through: the run directory, the report, MLflow and the screen.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from lineage.ledger import read_events
from splits import Corpus, SplitLock, commit_lock, load_lock, plan_lock, save_corpus

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"zq(g\d{3})marker|A fact of (g\d{3})\.")
QUOTING = {"baseline.jsonl", "confirm.jsonl"}
"""How the judgements end that may quote."""


def marked(text: str) -> set[str]:
    """Groups whose texts are quoted."""
    return {first or second for first, second in MARK.findall(text)}


def bodies(run: Path, kind: str) -> list[Mapping[str, Any]]:
    return [event.body for event in read_events(run / "ledger.jsonl") if event.type == kind]


class QuotingJudge:
    """A real endpoint whose judge quotes whatever it judges, also where it says no score, and whose writer improves."""

    def __init__(self, mute: str) -> None:
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                self._send(json.dumps({"data": [{"id": "judge"}, {"id": "writer"}]}))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text = outer.answer(body, mute)
                usage = {"prompt_tokens": 100, "completion_tokens": 50}
                message = {"role": "assistant", "content": text}
                choice = {"finish_reason": "stop", "message": message}
                self._send(json.dumps({"model": body["model"], "choices": [choice], "usage": usage}))

            def _send(self, text: str) -> None:
                data = text.encode("utf-8")
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def answer(self, body: Mapping[str, Any], mute: str) -> str:
        said = "\n".join(message["content"] for message in body["messages"])
        self.asked.append(said)
        if body["model"] == "writer":
            words = f"Read the note with care, and then the transcript. Think {len(self.asked)} times."
            return f"<instruction>\n{words}\n</instruction>"
        document = re.search(r"PLAN\nThe (\S+) document .*", said)
        assert document is not None
        if mute in document[0]:
            return f"I cannot give one. The note reads: {document[0]}"
        score = 3 if document[1] != "clean" and "with care" in said else 9
        return f"Score: {score}\n\nThe note reads: {document[0]}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@dataclass(frozen=True)
class Recorded:
    """A campaign that was run by the command line, with all it left behind."""

    place: Path
    lock: SplitLock
    said: str
    mute: str
    asked: tuple[str, ...]

    @property
    def run(self) -> Path:
        return self.place / "runs" / "quoting"

    def quoted(self, path: Path) -> set[str]:
        """Held-out groups that a file quotes."""
        return marked(path.read_bytes().decode("utf-8", "replace")) & set(self.lock.splits["heldout"])


@pytest.fixture(scope="module")
def recorded(grow: Callable[..., Corpus], tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    place = tmp_path_factory.mktemp("quoting")
    corpus = grow([6, 6], lambda number: ("complete", "partial-weak", "add" if number % 2 else "change"))
    save_corpus(corpus, place)
    path = place / "split.lock.json"
    commit_lock(plan_lock(corpus, sizes={"reflect": 4, "accept": 3, "heldout": 5}, seed=2), path)
    lock = load_lock(path, corpus)
    mute = f"zq{lock.splits['heldout'][0]}marker"
    judge = QuotingJudge(mute)
    plan = {
        "name": "quoting",
        "corpus": {"path": "corpus.jsonl", "facts": "facts.jsonl"},
        "splits": {"lock": "split.lock.json"},
        "student": {
            "shape": "whole-note",
            "model": {"endpoint": judge.url, "name": "judge"},
            "budget": {"answer_tokens": 300},
        },
        "baseline": "complete-and-faithful",
        "reflector": {"kind": "llm", "model": {"endpoint": judge.url, "name": "writer"}},
        "objective": {"margin": 2.0},
        "search": {"iterations": 3, "minibatch_groups": 2, "seed": 1},
    }
    (place / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    program = "from experiments.cli import main; main()"
    command = [sys.executable, "-c", program, "run", "plan.yaml", "--out", "runs/quoting"]
    surroundings = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    try:
        done = subprocess.run(
            command,
            cwd=place,
            env={**surroundings, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    finally:
        judge.close()
    assert done.returncode == 0, done.stdout + done.stderr
    return Recorded(place, lock, done.stdout + done.stderr, mute, tuple(judge.asked))


def test_held_out_text_was_quoted_and_is_in_the_judgements_that_may_quote_it(recorded: Recorded) -> None:
    segments = {path.name: recorded.quoted(path) for path in (recorded.run / "judgements").iterdir()}
    heldout = set(recorded.lock.splits["heldout"])
    assert {name.partition("-")[2] for name, found in segments.items() if found} == QUOTING
    assert all(found in (set(), heldout) for found in segments.values())
    assert recorded.quoted(recorded.place / "runs" / "calls.sqlite") == heldout
    assert ["unparseable"] in [body["failures"] for body in bodies(recorded.run, "evaluation")]


def test_no_other_file_that_it_left_quotes_any(recorded: Recorded) -> None:
    left = [path for path in recorded.place.rglob("*") if path.is_file()]
    names = {path.name for path in left}
    assert {"ledger.jsonl", "verdict.json", "report.html", "report.md", "mlflow.db", "instruction.md"} <= names
    allowed = {"corpus.jsonl", "facts.jsonl", "calls.sqlite", "calls.sqlite-wal", "calls.sqlite-shm"}
    quoting = [path for path in left if path.name not in allowed and recorded.quoted(path)]
    assert {path.name.partition("-")[2] for path in quoting} == QUOTING
    assert {path.parent.name for path in quoting} == {"judgements"}


def test_the_screen_quoted_none(recorded: Recorded) -> None:
    assert "held-out" in recorded.said
    assert not marked(recorded.said)


def test_the_reflector_was_told_of_reflect_examples_alone(recorded: Recorded) -> None:
    told = [said for said in recorded.asked if not re.search(r"PLAN\nThe \S+ document", said)]
    told += [json.dumps(body) for body in bodies(recorded.run, "reflection")]
    assert told
    assert set().union(*map(marked, told)) <= set(recorded.lock.splits["reflect"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of MLflow's own imports
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of MLflow's SQLite connections
def test_mlflow_has_none_in_artifacts_tags_parameters_or_names(recorded: Recorded, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{recorded.place / 'runs' / 'mlflow.db'}")
    place = client.get_experiment_by_name("holdgate")
    assert place is not None
    runs = client.search_runs([place.experiment_id])
    assert len(runs) > 2
    texts = [json.dumps(run.to_dictionary()) for run in runs]
    for run in runs:
        there = Path(client.download_artifacts(run.info.run_id, "", str(tmp_path)))
        texts += [path.read_text(encoding="utf-8") for path in there.rglob("*") if path.is_file()]
    assert len(texts) > 2 * len(runs)
    assert not set().union(*map(marked, texts)) & set(recorded.lock.splits["heldout"])
