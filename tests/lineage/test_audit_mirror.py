"""MLflow against the ledger: what a store lacks, what it says otherwise, and where there is none to ask."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lineage.audit.mirror import check_mirror
from lineage.audit.record import Finding, RunRecord
from lineage.canonical import pretty_json
from lineage.ledger import read_events
from lineage.mirror import MlflowMirror, sync

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def mirrored(finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mirrored")
    shutil.copytree(finished_run, root / "run")
    sync(root / "run" / "ledger.jsonl", tracking_uri=f"sqlite:///{root}/mlflow.db", experiment="audits")
    return root


@pytest.fixture
def root(mirrored: Path, tmp_path: Path) -> Path:
    """The run, its store and its artifacts, moved as a whole."""
    return Path(shutil.copytree(mirrored, tmp_path / "moved"))


def found(root: Path, *, events: int | None = None) -> list[Finding]:
    return list(check_mirror(RunRecord(root / "run", read_events(root / "run" / "ledger.jsonl")[:events])))


def changed(root: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(root / "mlflow.db")) as store, store:
        assert store.execute(statement, values).rowcount


def state(root: Path, **more: object) -> None:
    kept = json.loads((root / "run" / "mlflow.json").read_text())
    (root / "run" / "mlflow.json").write_text(pretty_json({**kept, **more}))


def test_a_mirror_that_was_moved_with_its_run_is_whole(root: Path, mirrored: Path) -> None:
    assert found(mirrored) == []
    assert found(root) == []


def test_a_run_without_a_mirror_is_a_remark(root: Path, finished_run: Path) -> None:
    (root / "mlflow.db").unlink()
    (root / "run" / "mlflow.json").unlink()
    (one,) = found(root)
    assert (one.severity, one.place) == ("info", "mlflow.json")


def test_a_server_is_not_asked(root: Path) -> None:
    state(root, tracking_uri="http://mlflow.example:5000")
    (one,) = found(root)
    assert one.severity == "info"
    assert "a server, which an audit does not ask" in one.words


def test_a_mirror_that_is_behind_is_a_warning(finished_run: Path, tmp_path: Path) -> None:
    shutil.copytree(finished_run, tmp_path / "run")
    events = read_events(tmp_path / "run" / "ledger.jsonl")
    mirror = MlflowMirror(f"sqlite:///{tmp_path}/mlflow.db", experiment="behind", directory=tmp_path / "run")
    mirror.events(events[:20])
    mirror.send()
    (one,) = found(tmp_path)
    assert (one.severity, one.remedy) == ("warning", "holdgate lineage sync RUN")
    assert f"lacks the last {len(events) - 20} events" in one.words


def test_a_mirror_whose_process_was_killed_before_it_sent_is_a_warning(finished_run: Path, tmp_path: Path) -> None:
    shutil.copytree(finished_run, tmp_path / "run")
    events = read_events(tmp_path / "run" / "ledger.jsonl")
    mirror = MlflowMirror(f"sqlite:///{tmp_path}/mlflow.db", experiment="killed", directory=tmp_path / "run")
    mirror.events(events[:10])
    mirror.send()
    mirror.events(events[10:19])
    assert {one.severity for one in found(tmp_path)} == {"warning"}


def test_a_mirror_that_is_ahead_of_its_ledger_is_an_error(root: Path) -> None:
    assert any("the ledger has no event before that" in one.words for one in found(root, events=-1))


def test_a_lost_memory_is_a_warning_and_the_store_is_compared_all_the_same(root: Path) -> None:
    (root / "run" / "mlflow.json").unlink()
    assert [one.severity for one in found(root)] == ["warning"]
    changed(root, "UPDATE params SET value = 'x' WHERE key = 'name'")
    assert [one.severity for one in found(root)] == ["warning", "error"]


@pytest.mark.parametrize(
    "more", [{"runs": 1}, {"mirrored": 3}, {"run": "x"}, {"status": "FAILED"}, {"experiment": "x"}, {"campaign": "x"}]
)
def test_what_the_run_remembers_of_another_mirror_is_an_error(root: Path, more: dict[str, object]) -> None:
    state(root, **more)
    assert [(one.severity, one.place) for one in found(root)] == [("error", "mlflow.json")]


def test_a_refused_prompt_in_the_registry_is_an_error(root: Path) -> None:
    changed(root, "UPDATE model_version_tags SET name = 'another' WHERE key = 'holdgate.campaign'")
    said = [one.words for one in found(root)]
    assert "a prompt of this campaign, which emitted none" in said
    assert any("0 versions of the prompt" in words for words in said)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "UPDATE tags SET value = 'invalid' WHERE key = 'holdgate.outcome' AND value = 'seed'",
            "holdgate.outcome",
        ),
        ("DELETE FROM params WHERE key = 'name'", "lacks the parameter name"),
        ("UPDATE metrics SET value = value + 1 WHERE key = 'accept.paired'", "the metric accept.paired at step"),
        ("DELETE FROM runs WHERE name = 'seed'", "lacks the run of candidate"),
        ("UPDATE runs SET lifecycle_stage = 'deleted' WHERE name = 'seed'", "is deleted"),
    ],
)
def test_a_store_that_says_otherwise_is_an_error(root: Path, statement: str, words: str) -> None:
    changed(root, statement)
    assert any(words in one.words and one.severity == "error" for one in found(root))


def test_a_tag_of_somebody_else_is_theirs(root: Path) -> None:
    changed(root, "INSERT INTO tags SELECT 'reviewed', 'yes', run_uuid FROM runs")
    assert found(root) == []
    changed(root, "INSERT INTO tags SELECT 'holdgate.reviewed', 'yes', run_uuid FROM runs")
    assert any("holdgate.reviewed that the ledger does not give it" in one.words for one in found(root))


def test_a_store_that_is_damaged_is_an_error(root: Path) -> None:
    (root / "mlflow.db").write_bytes(b"nothing" * 5_000)
    (one,) = found(root)
    assert (one.severity, one.place) == ("error", "../mlflow.db")


def test_the_audit_of_a_mirror_writes_nothing(root: Path, holdgate: Callable[..., tuple[int, str, str]]) -> None:
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    assert holdgate("audit", root / "run")[0] == 0
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()} == before
