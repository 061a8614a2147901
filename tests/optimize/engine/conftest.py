"""A search on invented notes: who judges, who reflects and who samples is a function of the test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lineage import Candidate, Judgement, Ledger, read_events
from lineage.records import Usage
from optimize.contamination import ContaminationRecord
from optimize.engine import ParentSampling, run_search
from optimize.evaluation import Evaluator
from optimize.search import SearchResult, SearchSpace, candidate_row
from optimize.search_plan import SearchPlan
from reflectors import Reflection, ReflectionRequest, Reflector
from splits import Corpus, Example
from splits.contamination import ContaminationCheck, NgramIndex
from students import PerFactChecker, Student
from students.student import student_hash

Score = Callable[[Candidate, Example, str], float | None]
Write = Callable[[ReflectionRequest], str]

INSTRUCTION = "instruction"
TRACES = ("complete", "partial-weak", "partial-strong")


def notes(prefix: str, groups: int, *, omissions: int = 1, traces: Sequence[str | None] = TRACES) -> Corpus:
    """Groups of one clean note and some omissions, whose traces take turns."""
    examples = []
    for group in range(groups):
        name = f"{prefix}{group:02d}"
        examples.append(Example(f"{name}.clean", name, "s", "source", f"{name} all", "clean", "clean"))
        for place in range(omissions):
            examples.append(
                Example(
                    f"{name}.omit{place}",
                    name,
                    "s",
                    "source",
                    f"{name} without {place}",
                    "omission",
                    "omit",
                    trace=traces[(group + place) % len(traces)],
                    twin=f"{name}.clean",
                )
            )
    return Corpus(tuple(examples), {})


class Judges:
    """A bench that answers at once, by a function of candidate, example and phase; None is a failed judgement."""

    def __init__(self, score: Score) -> None:
        self.score = score
        self.judged: list[tuple[str, str, int]] = []

    def judge(
        self,
        student: Student,
        corpus: Corpus,
        candidates: Sequence[Candidate],
        *,
        phase: str,
        replicates: Sequence[int] = (0,),
    ) -> tuple[Judgement, ...]:
        found = []
        settings = student_hash(student)
        for candidate in candidates:
            self.judged.append((phase, candidate.id, len(corpus.examples)))
            words = sum(len(text.split()) for text in candidate.texts.values())
            for example in corpus.examples:
                score = self.score(candidate, example, phase)
                status, reason = ("scored", None) if score is not None else ("failed", "transport")
                found += [
                    Judgement(
                        example.id,
                        candidate.id,
                        settings,
                        status,  # type: ignore[arg-type]  # one of the two above
                        score,
                        replicate=replicate,
                        reason=reason,
                        usage=Usage(1, words, 1),
                    )
                    for replicate in replicates
                ]
        return tuple(sorted(found, key=lambda judgement: judgement.key))


class Writes(Reflector):
    """A reflector that writes what a function of the request says, and keeps every request."""

    name = "scripted"

    def __init__(self, write: Write) -> None:
        self.write = write
        self.requests: list[ReflectionRequest] = []

    def settings(self) -> dict[str, Any]:
        return {"reflector": self.name}

    def reflect(self, request: ReflectionRequest) -> Reflection:
        self.requests.append(request)
        return Reflection(self.write(request), "scripted", "as the test says")


class Lab:
    """Runs searches in one directory, and reads back what they recorded."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.judges = Judges(lambda candidate, example, phase: 0.5)
        self.reflector = Writes(lambda request: f"{request.parent} and {request.iteration}.{request.call}")

    def search(
        self,
        *,
        score: Score | None = None,
        write: Write | None = None,
        sampling: ParentSampling | None = None,
        student: Student | None = None,
        baseline: Mapping[str, str] | None = None,
        seeds: Sequence[Mapping[str, str]] = (),
        reflect: Corpus | None = None,
        accept: Corpus | None = None,
        coverage: float = 0.98,
        margin: float = 0.1,
        clean_weight: float = 0.25,
        **settings: Any,
    ) -> SearchResult:
        """One search; settings are those of the plan's search."""
        self.judges = Judges(score) if score else self.judges
        self.reflector = Writes(write) if write else self.reflector
        reflect, accept = reflect or notes("r", 6), accept or notes("a", 4)
        student = student or PerFactChecker(model={"model": "none"})
        with Ledger(self.directory / "ledger.jsonl") as ledger:
            ledger.perform("plan", {"plan": {"name": "lab"}}, dict)
            evaluator = Evaluator(ledger, self.directory / "judgements", self.judges)  # type: ignore[arg-type]
            seed = Candidate(dict(baseline or {INSTRUCTION: "Seed"}), "seed")
            ledger.perform("candidate", candidate_row(seed, None), dict)
            (evaluation,) = evaluator.evaluate(student, [seed], accept, purpose="accept", split="accept", iteration=0)
            space = SearchSpace(
                student=student,
                seed_candidate=seed,
                reflect=reflect,
                accept=accept,
                reflector=self.reflector,
                forbidden=NgramIndex(8, frozenset()),
                contamination=ContaminationRecord(ledger, ContaminationCheck(reflect, [])),
                settings=SearchPlan.model_validate({"iterations": 4, **settings}),
                margin=margin,
                clean_weight=clean_weight,
                coverage=coverage,
                seeds=tuple(Candidate(dict(texts), "seed") for texts in seeds),
            )
            return run_search(space, evaluator=evaluator, ledger=ledger, seed_evaluation=evaluation, sampling=sampling)

    def events(self, kind: str) -> list[Mapping[str, Any]]:
        """Bodies of the events of one type."""
        return [event.body for event in read_events(self.directory / "ledger.jsonl") if event.type == kind]


@pytest.fixture(scope="module", autouse=True)
def nothing_is_lost_in_a_crash() -> Iterator[None]:
    """Writes need not outlive the machine where nobody is killed, and waiting for the disk takes most of the time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A directory in which searches run."""
    return Lab(tmp_path / "lab")


@pytest.fixture(scope="module")
def make_lab(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Lab]:
    """Directories that tests of one module share."""
    return lambda name: Lab(tmp_path_factory.mktemp(name))


@pytest.fixture
def make_notes() -> Callable[..., Corpus]:
    """See `notes`."""
    return notes
