"""``holdgate cache`` on the cache of a real campaign."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage import read_events
from students.transport import RecordedAnswers

Holdgate = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cache(finished_run: Path, tmp_path: Path) -> Path:
    """A copy of a finished campaign's cache, beside a copy of its run directory."""
    shutil.copytree(finished_run, tmp_path / "runs" / "one")
    return Path(shutil.copy(finished_run.parent / "calls.sqlite", tmp_path / "runs" / "calls.sqlite"))


def campaign(finished_run: Path) -> str:
    return read_events(finished_run / "ledger.jsonl")[0].hash


def test_stats_say_who_paid_for_what(holdgate: Holdgate, cache: Path, finished_run: Path) -> None:
    status, said, _ = holdgate("cache", "stats", cache)
    assert status == 0
    assert campaign(finished_run)[:12] in said
    status, said, _ = holdgate("cache", "stats", cache, "--json")
    numbers = json.loads(said)
    assert numbers["answers"] == sum(row["usage"]["calls"] for row in numbers["paid"]) > 0


def test_verify_passes_a_sound_cache_and_fails_an_edited_one(holdgate: Holdgate, cache: Path) -> None:
    status, said, _ = holdgate("cache", "verify", cache)
    assert status == 0
    assert "each as its key says" in said
    data = cache.read_bytes()
    place = data.index(b'"sample":0')
    cache.write_bytes(data[:place] + b'"sample":7' + data[place + 10 :])
    status, said, _ = holdgate("cache", "verify", cache)
    assert status == 1
    assert "was edited" in said
    assert "1 flaws" in said
    assert "removed 1 answers" in holdgate("cache", "prune", cache, "--damaged")[1]
    assert holdgate("cache", "verify", cache)[0] == 0


def test_prune_keeps_campaigns_with_a_run_directory_and_removes_the_rest(
    holdgate: Holdgate, cache: Path, finished_run: Path
) -> None:
    runs = cache.parent
    status, said, _ = holdgate("cache", "prune", cache, "--runs", runs)
    assert status == 0
    assert "removed 0 answers and 0 notes of payment of 0 campaigns" in said
    shutil.rmtree(runs / "one")
    status, said, _ = holdgate("cache", "prune", cache, "--runs", runs, "--dry-run")
    assert campaign(finished_run) in said
    assert "would remove" in said
    size = cache.stat().st_size
    assert "removed" in holdgate("cache", "prune", cache, "--runs", runs)[1]
    assert cache.stat().st_size < size
    assert "0 answers" in holdgate("cache", "stats", cache)[1]


def test_prune_asks_what_to_remove(holdgate: Holdgate, cache: Path) -> None:
    status, _, error = holdgate("cache", "prune", cache)
    assert status == 2
    assert "--older-than AGE, --runs DIRECTORY or --damaged" in error
    assert "such as 30d or 12h" in holdgate("cache", "prune", cache, "--older-than", "soon")[2]
    assert "removed 0 answers" in holdgate("cache", "prune", cache, "--older-than", "30d")[1]


def test_an_export_can_be_replayed_and_overwrites_nothing(
    holdgate: Holdgate, cache: Path, finished_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "calls.jsonl"
    status, said, _ = holdgate("cache", "export", cache, "--out", out, "--campaign", campaign(finished_run)[:10])
    assert status == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert f"{len(rows)} answers, with texts" in said
    recorded = RecordedAnswers(out)
    assert all(recorded.find(row["key"]) is not None for row in rows)
    status, _, error = holdgate("cache", "export", cache, "--out", out)
    assert status == 2
    assert "overwrites nothing" in error
    assert "NOTE:" in out.read_text()
    assert "NOTE:" not in holdgate("cache", "export", cache, "--hashes-only")[1]


def test_a_foreign_file_is_a_one_line_error(holdgate: Holdgate, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("hello")
    for command in ("stats", "verify", "export"):
        status, _, error = holdgate("cache", command, tmp_path / "x.txt")
        assert status == 2
        assert error == f"error: {tmp_path / 'x.txt'}: is no call cache; name the calls.sqlite beside a run directory\n"
