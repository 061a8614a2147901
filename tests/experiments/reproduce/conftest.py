"""The published records, and a copy of them that a test may alter."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[3].parent / "shared" / "omissionbench"

Alter = Callable[[str, Callable[[Any], None]], None]


@pytest.fixture(scope="session")
def bench() -> Path:
    """Directory of the published records."""
    if not BENCH.exists():
        pytest.skip(f"the published records are not at {BENCH}")
    return BENCH


@pytest.fixture
def copied(bench: Path, tmp_path: Path) -> Path:
    """A copy of the records."""
    place = tmp_path / "records"
    place.mkdir()
    for file in bench.iterdir():
        shutil.copyfile(file, place / file.name)
    return place


@pytest.fixture
def alter(copied: Path) -> Alter:
    """Change a JSON file of the copy."""

    def change(name: str, edit: Callable[[Any], None]) -> None:
        data = json.loads((copied / name).read_text(encoding="utf-8"))
        edit(data)
        (copied / name).write_text(json.dumps(data), encoding="utf-8")

    return change
