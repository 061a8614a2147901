"""``holdgate bundle``, ``audit`` of a bundle, and ``replay``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from splits import Corpus, save_corpus

Holdgate = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, finished_run: Path) -> Path:
    shutil.copytree(finished_run, tmp_path / "runs" / "one")
    shutil.copyfile(finished_run.parent / "calls.sqlite", tmp_path / "runs" / "calls.sqlite")
    return tmp_path / "runs" / "one"


def test_a_run_is_bundled_audited_and_replayed(holdgate: Holdgate, run: Path, tmp_path: Path) -> None:
    status, out, _ = holdgate("bundle", run)
    assert status == 0
    assert "to an equal canonical replay" in out
    bundle = tmp_path / "moved.zip"
    shutil.move(run.with_name("one.bundle.zip"), bundle)
    shutil.rmtree(run.parent)
    status, out, _ = holdgate("audit", bundle)
    assert (status, "0 errors" in out) == (0, True)
    status, out, _ = holdgate("replay", bundle, "--out", tmp_path / "again")
    assert status == 0
    assert "equal: both canonical replays are" in out
    assert (tmp_path / "again" / "run" / "verdict.json").is_file()
    status, out, _ = holdgate("audit", tmp_path / "again" / "run", "--json")
    assert status == 0
    assert not any(finding["severity"] == "error" for finding in json.loads(out))


def test_a_bundle_without_texts_is_audited_and_not_replayed(holdgate: Holdgate, run: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "a.zip"
    status, out, _ = holdgate("bundle", run, "--withhold", "vendor", "--out", bundle)
    assert status == 0
    assert "no run of them is left in any file" in out
    status, out, _ = holdgate("audit", bundle)
    assert status == 0
    assert "cannot be verified" in out
    status, _, error = holdgate("replay", bundle)
    assert status == 2
    assert "withholds the texts" in error


def test_a_damaged_bundle_fails_its_audit_by_the_name_of_the_file(
    holdgate: Holdgate, run: Path, tmp_path: Path
) -> None:
    bundle = tmp_path / "a.zip"
    holdgate("bundle", run, "--out", bundle)
    data = bundle.read_bytes()
    bundle.write_bytes(data[: len(data) // 2] + b"\0" * 20 + data[len(data) // 2 + 20 :])
    status, out, _ = holdgate("audit", bundle)
    assert status == 1
    assert "error" in out


def test_nothing_is_written_over(holdgate: Holdgate, run: Path, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_text("mine")
    status, _, error = holdgate("bundle", run, "--out", tmp_path / "a.zip")
    assert (status, "is there already" in error) == (2, True)
    assert (tmp_path / "a.zip").read_text() == "mine"
    status, _, error = holdgate("bundle", tmp_path)
    assert (status, "holds no campaign" in error) == (2, True)


def test_a_corpus_of_files_is_found_by_the_plan(
    holdgate: Holdgate, run: Path, tmp_path: Path, consults: Corpus, tiny_plan: Callable[..., dict[str, object]]
) -> None:
    from experiments.cli.bundling import _corpus

    place = tmp_path / "plan"
    save_corpus(consults, place)
    plan = tiny_plan(corpus={"path": "corpus.jsonl", "facts": "facts.jsonl"})
    (place / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    found = _corpus(run, str(place / "plan.yaml"))
    assert found is not None
    assert found.hash == consults.hash
    status, out, _ = holdgate("bundle", run, "--plan", place / "plan.yaml", "--out", tmp_path / "a.zip")
    assert (status, "equal canonical replay" in out) == (0, True)
    status, out, _ = holdgate("bundle", run, "--corpus-hash-only", "--out", tmp_path / "b.zip")
    assert (status, "only the hash of it" in out) == (0, True)
