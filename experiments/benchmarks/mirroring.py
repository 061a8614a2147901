"""What the MLflow mirror costs a candidate, beside plain calls of MLflow that log the same content.

A campaign of simulated numbers is written as a ledger with its judgements first, and then mirrored into a new SQLite
store. Plain logging takes what the mirror stored, and logs it again into another store with the calls that MLflow's
own guides show: a nested run a candidate, ``set_tag``, ``log_metric``, ``log_text`` and ``log_dict``. A campaign waits
for neither: it takes the time of the third row, which is that of telling the mirror's process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from rich.console import Console
from rich.table import Table

from lineage.ledger import Event, Ledger, read_events
from lineage.mirror import MirrorProcess, MlflowMirror
from lineage.mirror.layout import TOP
from lineage.mirror.quiet import quiet
from lineage.records import Candidate, Judgement, Usage
from lineage.segments import write_segment

CANDIDATES: Final = 100
ACCEPT: Final = 200
"""Judgements of a candidate on accept."""
MINIBATCH: Final = 8
MOST_S: Final = 0.1
"""Most seconds a candidate that are wanted on a local store."""
EXPERIMENT: Final = "mirroring"
STUDENT: Final = "0" * 64


@dataclass(frozen=True, slots=True)
class MirrorCost:
    """Seconds a candidate: of the mirror, of plain logging of the same content, and of the campaign that tells it."""

    mirror_s: float
    plain_s: float
    told_s: float

    @property
    def ratio(self) -> float:
        """Of the mirror to plain logging."""
        return self.mirror_s / self.plain_s


def campaign(directory: Path, candidates: int, accept: int = ACCEPT) -> tuple[Event, ...]:
    """A ledger with so many proposals, every second of which is accepted, and their judgements."""
    examples = [f"g{place:04}.{'clean' if place % 4 == 0 else 'omit'}" for place in range(accept)]
    with Ledger(directory / "ledger.jsonl") as ledger:
        plan = {"name": "mirroring", "search": {"iterations": candidates}, "student": {"shape": "per-fact"}}
        body = {"plan": plan, "plan_hash": "1" * 64, "lock_hash": "2" * 64, "corpus_hash": "3" * 64}
        ledger.perform("plan", {**body, "simulated": True, "exploratory": "a benchmark"}, dict)
        parent = Candidate({"instruction": _text(0)}, "seed")
        _propose(ledger, parent)
        _judge(ledger, directory, parent, examples, "accept", 0)
        for iteration in range(1, candidates):
            child = Candidate({"instruction": _text(iteration)}, "mutation", (parent.id,), iteration)
            prompt = "A note and what was said in the consultation, with what the judge made of it. " * 60
            said = {"text": child.texts["instruction"], "prompt": prompt, "answer": _text(iteration), "problem": None}
            ledger.perform("reflection", {"iteration": iteration, "call": 1, "reflection": said}, dict)
            _propose(ledger, child)
            few = examples[:MINIBATCH]
            _judge(ledger, directory, child, few, "minibatch", iteration)
            accepted = iteration % 2 == 0
            if accepted:
                _judge(ledger, directory, child, examples, "accept", iteration)
            _settle(ledger, child, few, accepted=accepted)
            parent = child if accepted else parent
    return read_events(directory / "ledger.jsonl")


def _text(number: int) -> str:
    lines = (f"Rule {line}.{number % (line + 1)}: read every line of the note before deciding." for line in range(20))
    return "\n".join(lines) + f"\nThis is text {number}.\n"


def _propose(ledger: Ledger, candidate: Candidate) -> None:
    row = {"candidate": candidate.id, "texts": dict(candidate.texts), "kind": candidate.kind}
    more = {"parents": list(candidate.parents), "iteration": candidate.iteration, "operator": "edit"}
    ledger.perform("candidate", row | more, dict)


def _judge(
    ledger: Ledger, directory: Path, candidate: Candidate, examples: Sequence[str], purpose: str, iteration: int
) -> None:
    judged = [
        Judgement(
            name, candidate.id, STUDENT, "scored", (place * 7 + iteration) % 100 / 100, usage=Usage(1, 400, 1), seed=7
        )
        for place, name in enumerate(examples)
    ]
    split = "reflect" if purpose == "minibatch" else "accept"
    segment = write_segment(directory / "judgements", f"{len(ledger.events):05d}-{purpose}", judged)
    key = {"purpose": purpose, "split": split, "candidates": [candidate.id], "iteration": iteration}
    ledger.perform("evaluation", {**key, "segment": segment, "failed": 0}, dict)
    if purpose == "accept":
        one = {"value": 0.6, "low": 0.5, "high": 0.7, "wins": 90, "ties": 0, "losses": 60, "pairs": 150, "failed": 0}
        traces = dict.fromkeys(("complete", "partial-weak", "partial-strong"), one)
        measures = {"omissions": one, "commissions": one, "by_trace": traces}
        ledger.perform("measured", {"purpose": purpose, "candidate": candidate.id, "measures": measures}, dict)


def _settle(ledger: Ledger, child: Candidate, few: Sequence[str], *, accepted: bool) -> None:
    rewards = {"parent_rewards": dict.fromkeys(few, 0.5), "child_rewards": dict.fromkeys(few, 0.6 if accepted else 0.4)}
    word = "accepted" if accepted else "rejected"
    came = {"outcome": word, "reason": "minibatch reward", "parents": list(child.parents)}
    ledger.perform("outcome", {"iteration": child.iteration, "candidate": child.id, **came, **rewards}, dict)


def measure(candidates: int = CANDIDATES, accept: int = ACCEPT, *, directory: Path | None = None) -> MirrorCost:
    """Mirror a campaign event by event, log the same content plainly, and tell a process of it."""
    with tempfile.TemporaryDirectory(dir=directory) as name:
        place = Path(name)
        events = campaign(place / "run", candidates, accept)
        uri, other, third = (f"sqlite:///{place / part}/mlflow.db" for part in ("mirror", "plain", "told"))
        for address in (uri, other, third):
            Path(address.removeprefix("sqlite:///")).parent.mkdir()
            with quiet():
                _client(address).search_experiments()  # making the tables of a store takes seconds
        mirror = MlflowMirror(uri, experiment=EXPERIMENT, directory=place / "run")
        mirror.event(events[0])
        start = time.perf_counter()
        for event in events[1:]:
            mirror.event(event)
        mirror.send()
        mirrored = time.perf_counter() - start
        plain = _in_own_process(uri, other, place / "plain")
        process = MirrorProcess(third, experiment=EXPERIMENT, directory=place / "run")
        start = time.perf_counter()
        for event in events:
            process.event(event)
        told = time.perf_counter() - start
        process.close("FINISHED")
    return MirrorCost(mirrored / candidates, plain / candidates, told / candidates)


def _client(uri: str) -> Any:
    from mlflow import MlflowClient

    return MlflowClient(uri)


def _stored(uri: str) -> Iterator[tuple[Any, dict[str, str]]]:
    """Every candidate's run that the mirror made, with its artifacts."""
    with quiet():
        client = _client(uri)
        place = client.get_experiment_by_name(EXPERIMENT).experiment_id
        runs = client.search_runs([place], max_results=50_000)
    for run in runs:
        if run.data.tags["holdgate.key"] != TOP:
            root = Path(unquote(urlsplit(run.info.artifact_uri).path))
            files = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}
            yield run, files


def _plainly(uri: str, directory: Path, content: Sequence[tuple[Any, dict[str, str]]]) -> None:
    """The same tags, metrics and artifacts, one call each."""
    import mlflow

    mlflow.set_tracking_uri(uri)
    made = mlflow.create_experiment(EXPERIMENT, (directory / "artifacts").as_uri())
    with mlflow.start_run(experiment_id=made):
        for run, files in content:
            with mlflow.start_run(experiment_id=made, nested=True):
                for name, value in run.data.tags.items():
                    if not name.startswith("mlflow."):
                        mlflow.set_tag(name, value)
                for name, number in run.data.metrics.items():
                    mlflow.log_metric(name, number)
                for file, text in files.items():
                    if file.endswith(".json"):
                        mlflow.log_dict(json.loads(text), file)
                    else:
                        mlflow.log_text(text, file)


def _in_own_process(source: str, uri: str, directory: Path) -> float:
    """Seconds of plain logging of what a store has; it sets MLflow's global address, and is kept out of this process.

    Raises:
        RuntimeError: with the end of what it said, where it did not succeed.
    """
    command = [sys.executable, __file__, "--plain", json.dumps([source, uri, str(directory)])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no output"])[-1])
    return float(done.stdout.strip().splitlines()[-1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=CANDIDATES)
    parser.add_argument("--accept", type=int, default=ACCEPT, help="judgements of a candidate on accept")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--directory", type=Path, help="where stores are made, for the speed of its disk")
    parser.add_argument("--plain", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.plain is not None:
        source, uri, directory = json.loads(asked.plain)
        content = list(_stored(source))
        with quiet():
            start = time.perf_counter()
            _plainly(uri, Path(directory), content)
            sys.stdout.write(f"{time.perf_counter() - start}\n")
        return
    found = [measure(asked.candidates, asked.accept, directory=asked.directory) for _ in range(asked.repeats)]
    title = f"{asked.candidates} candidates, {asked.accept} accept judgements: milliseconds a candidate"
    table = Table("", "median", "most", title=title, min_width=len(title) + 4)
    for name, values in (
        ("mirror, local SQLite store", [one.mirror_s for one in found]),
        ("plain MLflow calls, same content", [one.plain_s for one in found]),
        ("what the campaign waits for", [one.told_s for one in found]),
    ):
        table.add_row(name, f"{1000 * statistics.median(values):.2f}", f"{1000 * max(values):.2f}")
    ratio = statistics.median(one.ratio for one in found)
    table.caption = f"mirror to plain: {ratio:.2f}; wanted: under {1000 * MOST_S:g} ms a candidate on a local store"
    Console().print(table)


if __name__ == "__main__":
    main()
