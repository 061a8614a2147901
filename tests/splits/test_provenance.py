"""The commit that a lock records, wherever git has one to give."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from splits import provenance
from splits.corpus import Corpus
from splits.draft import plan_lock
from splits.lock_file import commit_lock, load_lock
from splits.provenance import Provenance, provenance_of


def git(directory: Path, *arguments: str) -> str:
    settings = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", directory, *settings, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one committed file."""
    place = tmp_path / "repository"
    place.mkdir()
    git(place, "init", "--quiet")
    (place / "corpus.jsonl").write_text("{}\n")
    git(place, "add", "corpus.jsonl")
    git(place, "commit", "--quiet", "-m", "a corpus")
    return place


def test_a_clean_repository_gives_its_commit(repository: Path) -> None:
    assert provenance_of(repository) == Provenance(git(repository, "rev-parse", "HEAD"), dirty=False)


def test_a_directory_that_is_not_made_yet_lies_in_the_repository_above_it(repository: Path) -> None:
    assert provenance_of(repository / "locks" / "may") == provenance_of(repository)


@pytest.mark.parametrize("name", ["corpus.jsonl", "new.jsonl"])
def test_a_changed_or_a_new_file_makes_it_dirty(name: str, repository: Path) -> None:
    (repository / name).write_text("{} \n")
    found = provenance_of(repository)
    assert found is not None
    assert found.dirty


def test_there_is_none_without_a_repository_or_a_commit(tmp_path: Path) -> None:
    assert provenance_of(tmp_path) is None
    git(tmp_path, "init", "--quiet")
    assert provenance_of(tmp_path) is None


def test_a_machine_without_git_is_no_failure(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    assert provenance_of(repository) is None


def test_a_git_that_does_not_answer_is_no_failure(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "TIMEOUT_S", 0.0)
    assert provenance_of(repository) is None


def test_a_variable_of_a_hook_does_not_name_another_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert provenance_of(repository) is not None


def test_a_lock_records_the_state_in_which_it_was_committed(repository: Path, corpus: Corpus) -> None:
    plan = plan_lock(corpus, sizes={"reflect": 3, "accept": 3, "heldout": 6}, seed=7)
    path = repository / "split.lock.json"
    written = commit_lock(plan, path)
    assert written.git == Provenance(git(repository, "rev-parse", "HEAD"), dirty=False)
    git(repository, "add", path)
    git(repository, "commit", "--quiet", "-m", "a split")
    assert load_lock(path, corpus) == written
