"""MLflow's local store read as what it is, a SQLite file, without MLflow and without changing it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from lineage.mirror.layout import PREFIX

SMALL: Final = 64 * 2**20
"""Bytes up to which the whole file is checked for damage."""
ARTIFACTS: Final = "mlflow-artifacts"


@dataclass(slots=True)
class StoredRun:
    """One run as the store has it; ``latest`` are the metrics that MLflow shows, with step and time."""

    id: str
    name: str
    status: str
    start: int | None
    end: int | None
    stage: str
    artifacts: str
    experiment: str
    tags: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    metrics: dict[tuple[str, int], list[tuple[float, int]]] = field(default_factory=dict)
    latest: dict[str, tuple[float, int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version in the prompt registry as the store has it."""

    name: str
    version: int
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Stored:
    """What a store has of one campaign."""

    path: Path
    runs: Sequence[StoredRun]
    versions: Sequence[StoredVersion]
    experiments: Mapping[str, str]
    locations: Mapping[str, str]

    def artifact(self, run: StoredRun, file: str) -> Path:
        """Where a file of a run lies: beside the store, if its artifacts do, as the whole may have been moved."""
        beside = self.path.parent / ARTIFACTS / run.id / "artifacts"
        there = Path(run.artifacts.removeprefix("file://"))
        return (beside if beside.is_dir() else there) / file


def read_store(path: Path, campaign: str) -> Stored:
    """What a store has of a campaign.

    Raises:
        sqlite3.Error: it is damaged, or no store of MLflow's.
    """
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        if path.stat().st_size <= SMALL:
            (said,) = database.execute("PRAGMA integrity_check(1)").fetchone()
            if said != "ok":
                raise sqlite3.DatabaseError(said)
        ours = "SELECT run_uuid FROM tags WHERE key = ? AND value = ?"
        mark = (f"{PREFIX}campaign", campaign)
        columns = "run_uuid, name, status, start_time, end_time, lifecycle_stage, artifact_uri, experiment_id"
        query = f"SELECT {columns} FROM runs WHERE run_uuid IN ({ours}) ORDER BY start_time, run_uuid"  # noqa: S608 - no input
        runs = {row[0]: _run(row) for row in database.execute(query, mark)}

        def rows(columns: str, table: str) -> Iterator[tuple[Any, ...]]:
            chosen = f"SELECT {columns} FROM {table} WHERE run_uuid IN ({ours})"  # noqa: S608 - no input
            return iter(database.execute(chosen, mark))

        for run, key, value in rows("run_uuid, key, value", "tags"):
            if run in runs:
                runs[run].tags[key] = value
        for run, key, value in rows("run_uuid, key, value", "params"):
            if run in runs:
                runs[run].params[key] = value
        for run, key, step, value, at, undefined in rows("run_uuid, key, step, value, timestamp, is_nan", "metrics"):
            if run in runs:
                number = float("nan") if undefined else value
                runs[run].metrics.setdefault((key, step), []).append((number, at))
        for run, key, step, value, at, undefined in rows(
            "run_uuid, key, step, value, timestamp, is_nan", "latest_metrics"
        ):
            if run in runs:
                runs[run].latest[key] = (float("nan") if undefined else value, step, at)
        experiments = database.execute("SELECT experiment_id, name, artifact_location FROM experiments").fetchall()
        return Stored(
            path,
            tuple(runs.values()),
            tuple(_versions(database, campaign)),
            {str(number): name for number, name, _ in experiments},
            {str(number): location for number, _, location in experiments},
        )


def _run(row: Sequence[Any]) -> StoredRun:
    run, name, status, start, end, stage, artifacts, experiment = row
    return StoredRun(run, name, status, start, end, stage, artifacts, str(experiment))


def _versions(database: sqlite3.Connection, campaign: str) -> Iterator[StoredVersion]:
    marked = "SELECT name, version FROM model_version_tags WHERE key = ? AND value = ?"
    for name, version in database.execute(marked, (f"{PREFIX}campaign", campaign)).fetchall():
        query = "SELECT key, value FROM model_version_tags WHERE name = ? AND version = ?"
        yield StoredVersion(name, version, dict(database.execute(query, (name, version))))
