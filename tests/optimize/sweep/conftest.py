"""Small studies on a simulated judge, and databases for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import yaml

from experiments.sweep.loading import LoadedStudy, load_study
from optimize.sweep import (
    Space,
    Study,
    StudyResult,
    StudyStorage,
    default_storage,
    fingerprint,
    parse_study,
    read_result,
)
from optimize.sweep.storage import WORKERS
from optimize.sweep.trials import register_study

BASE: dict[str, Any] = {
    "name": "base",
    "corpus": {"bundled": "consults"},
    "splits": {"lock": "lock.json"},
    "student": {"shape": "per-fact", "model": {"simulated": {"noise": 2.0}}, "max_facts": 5},
    "baseline": "stated-in-note",
    "search": {"iterations": 2},
}


def named_space(**dimensions: Any) -> Space:
    """A space over a plan of the simulated judge; of its dimensions' names two low lines stand for a point."""
    named = {path.replace("__", "."): found for path, found in dimensions.items()}
    plan = parse_study({"name": "s", "base": BASE, "space": named, "trials": 1}, where="test")
    return Space(plan.space, BASE, "test")


@pytest.fixture(scope="session")
def space_of() -> Callable[..., Space]:
    """See `named_space`."""
    return named_space


@pytest.fixture(scope="session")
def mixed() -> Space:
    """A space with an end of its points, of choices, whole numbers, numbers, and one dimension that depends."""
    return named_space(
        student__aggregator=["soft", "share"],
        search__minibatch_groups={"low": 1, "high": 4, "step": 2},
        objective__margin={"low": 0.1, "high": 0.35, "step": 0.1},
        objective__clean_weight={"choices": [0.0, 0.5], "when": {"student.aggregator": "share"}},
    )


@pytest.fixture
def make_study(make_plan: Callable[..., Path], tmp_path: Path) -> Callable[..., Path]:
    """Writes a study file over the small plan; keyword arguments replace parts of the study, ``base`` of its plan."""

    def make(name: str = "study", *, base: dict[str, Any] | None = None, **changes: Any) -> Path:
        small = {"search": {"iterations": 1, "minibatch_groups": 1, "seed": 1}} | (base or {})
        plan = make_plan(f"{name}-base", **small)
        study: dict[str, Any] = {
            "name": name,
            "base": str(plan),
            "space": {"student.aggregator": ["soft", "share"], "search.minibatch_groups": {"low": 1, "high": 2}},
            "objectives": ["paired", "tokens"],
            "sampler": {"kind": "tpe", "seed": 1, "startup": 2},
            "trials": 3,
        }
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump(study | changes), encoding="utf-8")
        return path

    return make


@pytest.fixture
def work() -> Callable[..., StudyResult]:
    """Runs a worker of a study to its end, and reads the result."""

    def run(path: Path, out: Path, **options: Any) -> StudyResult:
        loaded = load_study(str(path))
        study = Study(loaded.inputs, loaded.corpus, loaded.lock, out, **options)
        study.work()
        return result_of(loaded, out)

    return run


def result_of(loaded: LoadedStudy, out: Path) -> StudyResult:
    storage = StudyStorage(default_storage(out), loaded.plan.name)
    try:
        known = fingerprint(loaded.inputs, loaded.corpus, loaded.lock)
        return read_result(loaded.inputs, storage, directory=out, fingerprint=known, simulated=loaded.simulated)
    finally:
        storage.close()


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[StudyStorage]:
    """The database of a study, on a file of its own."""
    opened = StudyStorage(f"sqlite:///{tmp_path / 'database.sqlite'}", "study")
    assert register_study(opened, "f" * 64)
    yield opened
    opened.close()


@pytest.fixture
def age(storage: StudyStorage) -> Callable[[str], None]:
    """Moves the last sign of life of a worker back by longer than any grace."""

    def moved(worker: str) -> None:
        with storage.begin() as connection:
            connection.execute(sa.update(WORKERS).where(WORKERS.c.worker == worker).values(beat=WORKERS.c.beat - 100))

    return moved
