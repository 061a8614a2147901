"""Fixtures of the crossed experiment, and a few finished campaigns that can be compared."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from experiments.crossing.planted import planted_corpus
from experiments.loading import LoadedPlan, load_plan
from splits import commit_lock, plan_lock
from splits.loaders import save_corpus
from tests.optimize.crossing.conftest import crossed_run, invented, invented_lock, make_experiment

__all__ = ["crossed_run", "invented", "invented_lock", "make_experiment", "planted_plan"]


@pytest.fixture(scope="session")
def planted_plan(tmp_path_factory: pytest.TempPathFactory) -> LoadedPlan:
    """A small simulated campaign on invented words."""
    place = tmp_path_factory.mktemp("planted")
    corpus = planted_corpus(16)
    save_corpus(corpus, place)
    commit_lock(plan_lock(corpus, sizes={"reflect": 4, "accept": 4, "heldout": 8}, seed=3), place / "split.lock.json")
    plan = {
        "name": "small",
        "corpus": {"path": "corpus.jsonl", "facts": "facts.jsonl"},
        "splits": {"lock": "split.lock.json"},
        "student": {
            "shape": "per-fact",
            "model": {"simulated": {"noise": 1.0, "planted": {"effect": 4.0}}},
            "budget": {"effort": "low", "answer_tokens": 1},
        },
        "baseline": "stated-in-note",
        "reflector": {"kind": "simulated-diagnosis"},
        "search": {"iterations": 4, "minibatch_groups": 2, "seed": 1, "budget": {"calls": 400}},
    }
    path = Path(place / "plan.yaml")
    path.write_text("# A small one.\n" + yaml.safe_dump(plan), encoding="utf-8")
    return load_plan(str(path))
