"""A small crossed experiment on the invented corpus, with the simulated judge in which reasoning matters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.crossing.planted import planted_corpus
from optimize.crossing import CrossedExperiment, parse_crossed_plan
from optimize.plan import parse_plan
from splits import Corpus, SplitLock, commit_lock, load_lock, plan_lock
from students import load_instruction

SIZES = {"reflect": 4, "accept": 6, "heldout": 14}
SETTINGS = {"none": {"answer_tokens": 1}, "low": {"effort": "low", "answer_tokens": 1}}

MakeExperiment = Callable[..., CrossedExperiment]


@pytest.fixture(scope="session")
def invented() -> Corpus:
    """A small part of the invented corpus."""
    return planted_corpus(sum(SIZES.values()))


@pytest.fixture(scope="session")
def invented_lock(invented: Corpus, tmp_path_factory: pytest.TempPathFactory) -> SplitLock:
    """Its split lock, of three comparisons."""
    path = tmp_path_factory.mktemp("lock") / "split.lock.json"
    commit_lock(plan_lock(invented, sizes=SIZES, seed=5, comparisons=3), path)
    return load_lock(path, invented)


@pytest.fixture(scope="session")
def make_experiment(invented: Corpus, invented_lock: SplitLock) -> MakeExperiment:
    """Make an experiment in a directory; keyword arguments replace parts of its plan or of its base campaign."""

    def make(
        directory: Path,
        *,
        base: dict[str, Any] | None = None,
        lock: SplitLock | None = None,
        exploratory: str | None = None,
        progress: Callable[[str], None] | None = None,
        **changes: Any,
    ) -> CrossedExperiment:
        campaign: dict[str, Any] = {
            "name": "base",
            "corpus": {"path": "corpus.jsonl", "facts": "facts.jsonl"},
            "splits": {"lock": "split.lock.json"},
            "student": {
                "shape": "per-fact",
                "model": {"simulated": {"noise": 0.4, "planted": {"effect": 4.0}}},
                "budget": {"effort": "low", "answer_tokens": 1},
            },
            "baseline": "stated-in-note",
            "reflector": {"kind": "simulated-diagnosis"},
            "search": {"iterations": 12, "minibatch_groups": 2, "seed": 2},
        } | (base or {})
        plan = {
            "name": "crossed",
            "campaign": "base",
            "settings": SETTINGS,
            "budget": {"calls": 2000},
        } | changes
        return CrossedExperiment(
            parse_crossed_plan(plan, where="test"),
            parse_plan(campaign, where="test"),
            invented,
            lock or invented_lock,
            directory,
            baseline=load_instruction("stated-in-note"),
            exploratory=exploratory,
            progress=progress,
        )

    return make


@pytest.fixture(scope="session")
def crossed_run(make_experiment: MakeExperiment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a finished experiment; tests that write into it work on a copy."""
    place = tmp_path_factory.mktemp("crossed") / "run"
    make_experiment(place).run()
    return place
