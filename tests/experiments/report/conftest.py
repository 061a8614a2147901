"""Run directories that there are reports of: finished, cut short, judging, and an imported lineage."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lineage.canonical import pretty_json
from optimize.importing import import_lineage

BENCH = Path(__file__).parents[3].parent / "shared" / "omissionbench"


@pytest.fixture
def finished(finished_run: Path, tmp_path: Path) -> Path:
    """A copy of the run directory of a campaign that emitted a prompt."""
    return Path(shutil.copytree(finished_run, tmp_path / "finished"))


@pytest.fixture
def cut(finished: Path) -> Path:
    """A campaign whose ledger ends in its search."""
    path = finished / "ledger.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line)["type"] for line in lines]
    kept = lines[: kinds.index("outcome") + 2]
    path.write_bytes(b"".join(kept))
    head = {"count": len(kept), "hash": json.loads(kept[-1])["hash"]}
    (finished / "ledger.head.json").write_text(pretty_json(head), encoding="utf-8")
    return finished


@pytest.fixture
def judged(finished_judging: Path, tmp_path: Path) -> Path:
    """A copy of a finished judging run of two judges."""
    return Path(shutil.copytree(finished_judging, tmp_path / "judged"))


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """The published campaign as a read-only one."""
    if not BENCH.exists():
        pytest.skip(f"the published records are not at {BENCH}")
    import_lineage("omissionbench", BENCH, tmp_path / "published", name="published")
    return tmp_path / "published"
