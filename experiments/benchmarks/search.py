"""What a search costs beside its student: time of an iteration, with a student and a reflector that answer at once.

Ours is the whole engine on disk: gepa's loop with everything in it, the ledger with its head, the judgement segments,
measures on accept and the look for copied text. Plain gepa is ``gepa.optimize`` with an adapter that returns the same
scores, which keeps no record and cannot be resumed. Each is measured in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import gepa
from gepa.core.adapter import EvaluationBatch
from rich.console import Console
from rich.table import Table

from lineage.ledger import Ledger
from lineage.records import Candidate, Judgement, Usage
from optimize.contamination import ContaminationRecord
from optimize.engine import run_search
from optimize.evaluation import Evaluator
from optimize.gepa_parts import Instance, Silent
from optimize.search import SearchSpace
from optimize.search_plan import SearchPlan
from reflectors import Reflection, ReflectionRequest, Reflector
from splits.contamination import ContaminationCheck, NgramIndex, SplitSignatures
from splits.corpus import Corpus, Example
from students import Bench, PerFactChecker, Student, student_hash

SIZES: Final = ((50, 300), (1_000, 200))
"""Iterations and accept examples of the measurements."""
WANTED_MS: Final = {(50, 300): 60.0}
"""Most milliseconds an iteration that are wanted of ours."""
REFLECT_GROUPS: Final = 20
MINIBATCH_GROUPS: Final = 2
GROUP: Final = 4
"""Notes a group: one clean, three flawed."""
_SENTENCE: Final = "The patient says in words number {} that the pain began last week and is worse at night. "


@dataclass(frozen=True, slots=True)
class SearchCost:
    """One search: iterations, candidates in its pool, and seconds.

    ``wall_s`` and ``cpu_s`` are without the student; ``sync_s`` is the part of the wall time that the disk took to make
    writes durable, in ``syncs`` of them.
    """

    iterations: int
    pool: int
    wall_s: float
    cpu_s: float
    sync_s: float = 0.0
    syncs: int = 0


def notes(prefix: str, groups: int) -> Corpus:
    """Invented notes of about 150 words in groups of one clean and three flawed."""
    made = []
    for number in range(groups):
        group = f"{prefix}{number:05}"
        for place in range(GROUP):
            text = "".join(_SENTENCE.format(f"{group} {line}") for line in range(8) if line != place or not place)
            kind = "omission" if place else "clean"
            twin = f"{group}.0" if place else None
            source = "".join(_SENTENCE.format(f"{group} {line}") for line in range(17))
            trace = ("complete", "partial-weak", "partial-strong")[place - 1] if place else None
            made.append(
                Example(
                    f"{group}.{place}",
                    group,
                    "s",
                    source,
                    text,
                    kind,
                    "omit" if place else "clean",
                    trace=trace,
                    twin=twin,
                )
            )
    return Corpus(tuple(made), {})


def score(text: str, example: str) -> float:
    """A score that is the same in every process, about even between parent and child."""
    place = (sum(text.encode()) * 2_654_435_761 + sum(example.encode()) * 40_503 + len(text) * 97) % 1_000
    return place / 1_000 if not example.endswith(".0") else 0.5 + place / 2_000


def rewarded(text: str, example: str) -> float:
    """About the reward of an example: plain gepa's own score, so that it accepts about as much as ours."""
    mine, twins = score(text, example), score(text, f"{example.rpartition('.')[0]}.0")
    if example.endswith(".0"):
        return 0.25 * mine
    return 0.5 * (mine < twins) + 0.5 * min(max((twins - mine) / 0.1, 0.0), 1.0)


class InstantBench(Bench):
    """A bench whose student answers at once; it keeps the time that even that takes."""

    def __init__(self) -> None:
        self.seconds = self.cpu = 0.0

    def judge(
        self,
        student: Student,
        corpus: Corpus,
        candidates: Sequence[Candidate],
        *,
        phase: str,
        replicates: Sequence[int] = (0,),
    ) -> tuple[Judgement, ...]:
        """One judgement an example and candidate."""
        del phase
        wall, cpu = time.perf_counter(), time.process_time()
        settings, usage = student_hash(student), Usage(1, 400, 1)
        found = [
            Judgement(
                example.id,
                candidate.id,
                settings,
                "scored",
                score(candidate.texts["instruction"], example.id),
                seed=7,
                replicate=replicate,
                usage=usage,
                finish=("stop",),
                raw=("Yes",),
            )
            for candidate in candidates
            for example in corpus.examples
            for replicate in replicates
        ]
        self.seconds += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu
        return tuple(sorted(found, key=lambda judgement: judgement.key))


class InstantReflector(Reflector):
    """Changes one of a dozen sentences of its parent, each time to another."""

    name = "instant"

    def settings(self) -> dict[str, Any]:
        """Its name."""
        return {"reflector": self.name}

    def reflect(self, request: ReflectionRequest) -> Reflection:
        """A text that was never there."""
        return Reflection(edited(request.parent, request.iteration), self.name, "one sentence changed")


def edited(parent: str, iteration: int) -> str:
    """The parent with one sentence changed."""
    lines = parent.split(". ")
    lines[iteration % len(lines)] = f"Rule {iteration} is to read every line of the note before anything is decided"
    return ". ".join(lines)


def seed_text() -> str:
    """A dozen sentences."""
    return ". ".join(f"Sentence {line} says what is to be read and how an answer is to be given" for line in range(12))


@contextmanager
def counted_syncs() -> Iterator[list[float]]:
    """Durations of all ``os.fsync`` calls."""
    found: list[float] = []
    durable = os.fsync

    def fsync(fd: Any) -> None:
        start = time.perf_counter()
        durable(fd)
        found.append(time.perf_counter() - start)

    os.fsync = fsync
    try:
        yield found
    finally:
        os.fsync = durable


def ours(iterations: int, accept_examples: int, directory: Path) -> SearchCost:
    """A search through our engine."""
    reflect, accept = notes("r", REFLECT_GROUPS), notes("a", accept_examples // GROUP)
    student, bench = PerFactChecker(model={"name": "instant"}), InstantBench()
    seed = Candidate({"instruction": seed_text()}, "seed")
    with Ledger(directory / "ledger.jsonl") as ledger:
        ledger.perform("plan", {}, dict)
        evaluator = Evaluator(ledger, directory / "judgements", bench)
        (evaluation,) = evaluator.evaluate(student, [seed], accept, purpose="accept", split="accept", iteration=0)
        check = ContaminationCheck(reflect, [SplitSignatures(accept, split="accept")])
        space = SearchSpace(
            student=student,
            seed_candidate=seed,
            reflect=reflect,
            accept=accept,
            reflector=InstantReflector(),
            forbidden=NgramIndex.of({example.document for example in accept.examples}),
            contamination=ContaminationRecord(ledger, check),
            settings=SearchPlan(iterations=iterations, minibatch_groups=MINIBATCH_GROUPS, seed=1),
            margin=0.1,
            clean_weight=0.25,
            coverage=0.98,
        )
        bench.seconds = bench.cpu = 0.0
        with counted_syncs() as syncs:
            wall, cpu = time.perf_counter(), time.process_time()
            result = run_search(space, evaluator=evaluator, ledger=ledger, seed_evaluation=evaluation)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return SearchCost(iterations, len(result.pool), wall - bench.seconds, cpu - bench.cpu, sum(syncs), len(syncs))


class _Plain:
    """The least adapter that gepa runs on."""

    def __init__(self) -> None:
        self.iteration = 0

    def evaluate(
        self, batch: Sequence[Instance], candidate: Mapping[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Any, Any]:
        del capture_traces
        found = [rewarded(candidate["instruction"], instance.id) for instance in batch]
        return EvaluationBatch(outputs=found, scores=found, trajectories=list(batch))

    def make_reflective_dataset(
        self, candidate: Mapping[str, str], eval_batch: Any, components_to_update: Sequence[str]
    ) -> dict[str, list[dict[str, Any]]]:
        del candidate, eval_batch
        return {name: [{"Feedback": "none"}] for name in components_to_update}

    def propose_new_texts(
        self, candidate: Mapping[str, str], reflective_dataset: Any, components_to_update: Sequence[str]
    ) -> dict[str, str]:
        del reflective_dataset
        self.iteration += 1
        return {name: edited(candidate[name], self.iteration) for name in components_to_update}


def plain(iterations: int, accept_examples: int, directory: Path) -> SearchCost:
    """The same search through ``gepa.optimize`` alone."""
    del directory
    reflect, accept = notes("r", REFLECT_GROUPS), notes("a", accept_examples // GROUP)
    wall, cpu = time.perf_counter(), time.process_time()
    result = gepa.optimize(
        seed_candidate={"instruction": seed_text()},
        trainset=[Instance(example.id, "reflect") for example in reflect.examples],
        valset=[Instance(example.id, "accept") for example in accept.examples],
        adapter=_Plain(),
        reflection_minibatch_size=MINIBATCH_GROUPS * GROUP,
        skip_perfect_score=False,
        stop_callbacks=lambda state: state.i + 1 >= iterations,
        logger=Silent(),
        track_best_outputs=False,
        seed=1,
    )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return SearchCost(iterations, len(result.candidates), wall, cpu)


CONTENDERS: Final[dict[str, Callable[[int, int, Path], SearchCost]]] = {"holdgate": ours, "plain gepa": plain}


def in_own_process(name: str, iterations: int, accept_examples: int, directory: Path | None) -> SearchCost:
    """A measurement in a process of its own.

    Raises:
        RuntimeError: with the end of what it said, where it did not succeed.
    """
    with tempfile.TemporaryDirectory(dir=directory) as place:
        asked = json.dumps([name, iterations, accept_examples, place])
        command = [sys.executable, __file__, "--measure", asked]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no output"])[-1])
    return SearchCost(**json.loads(done.stdout.strip().splitlines()[-1]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="share of the iterations, for a quick look")
    parser.add_argument("--directory", type=Path, help="where run directories are made, for the speed of its disk")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.measure is not None:
        name, iterations, examples, place = json.loads(asked.measure)
        sys.stdout.write(json.dumps(asdict(CONTENDERS[name](iterations, examples, Path(place)))) + "\n")
        return
    console = Console()
    for most, examples in SIZES:
        iterations = max(1, round(most * asked.share))
        title = f"{iterations:,} iterations, {examples} accept examples: milliseconds an iteration"
        table = Table("", "wall", "of it syncs", "CPU", "syncs", "pool", "load", title=title)
        for name in CONTENDERS:
            found = in_own_process(name, iterations, examples, asked.directory)
            shares = [1000 * seconds / iterations for seconds in (found.wall_s, found.sync_s, found.cpu_s)]
            table.add_row(
                name,
                *(f"{share:.1f}" for share in shares),
                f"{found.syncs / iterations:.1f}",
                f"{found.pool}",
                f"{os.getloadavg()[0]:.1f}",
            )
        if (wanted := WANTED_MS.get((most, examples))) is not None:
            table.caption = f"wanted of ours: under {wanted:g} ms an iteration, the student left out"
        console.print(table)


if __name__ == "__main__":
    main()
