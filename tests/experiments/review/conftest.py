"""A judging run of several designs, a pack drawn from it, and people who answer it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.review import Key, Pack, PackSizes, ReviewedRun, draw_items, make_pack, read_reviewed
from experiments.review.answers import FORMAT
from optimize.judging import JudgingRun, parse_judging_plan
from splits import Corpus
from tests.conftest import JUDGES

SALT = "5" * 64
PLAN: dict[str, Any] = JUDGES | {
    "name": "reviewed",
    "selection": {"groups": 10, "flawed_per_group": 3, "seed": 2},
    "students": [
        {"name": "whole", "shape": "whole-note"},
        {"name": "facts", "shape": "per-fact", "budget": {"answer_tokens": 1}, "max_facts": 3},
        {"name": "pipeline", "shape": "three-stage"},
    ],
}

Answered = Callable[..., Path]


@pytest.fixture(scope="session")
def reviewed_directory(tmp_path_factory: pytest.TempPathFactory, consults: Corpus) -> Path:
    """A finished judging run of three designs on ten groups."""
    directory = tmp_path_factory.mktemp("reviewed") / "run"
    JudgingRun(parse_judging_plan(PLAN, where="test"), consults, directory, texts={}).run()
    return directory


@pytest.fixture(scope="session")
def reviewed(reviewed_directory: Path, consults: Corpus) -> ReviewedRun:
    """That run, for people to look at."""
    return read_reviewed(reviewed_directory, consults)


@pytest.fixture(scope="session")
def pack(reviewed: ReviewedRun) -> Pack:
    """A pack of all three sections."""
    draw = draw_items(reviewed, sizes=PackSizes(8, 9, 10), rng=np.random.default_rng(1))
    return make_pack(reviewed, draw, seed=1, salt=SALT)


@pytest.fixture
def answered(pack: Pack, tmp_path: Path) -> Answered:
    """Write a file of answers: by default the truth as the key has it."""

    def make(
        answers: Mapping[str, Any] | None = None, *, reviewer: str = "A. N.", key: Key = pack.key, **changes: Any
    ) -> Path:
        given = {name: {"answer": truth_of(item), "note": ""} for name, item in key.items.items()}
        for name, answer in (answers or {}).items():
            given[name] = answer if isinstance(answer, dict) else {"answer": answer, "note": ""}
        row = {"format": FORMAT, "pack": key.pack, "key": key.commitment, "reviewer": reviewer, "answers": given}
        path = tmp_path / f"answers-{reviewer}.json"
        path.write_text(json.dumps(row | changes), encoding="utf-8")
        return path

    return make


def truth_of(item: Mapping[str, Any]) -> str:
    """The answer of who agrees with everything on record."""
    if item["section"] == "documents":
        return str(item["label"])
    if item["section"] == "severity":
        return str(item["grade"])
    return "right" if item["fired"] else "wrong"
