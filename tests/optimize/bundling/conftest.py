"""Bundles of the finished campaign, whole and with the corpus's texts withheld."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from optimize.bundling import Packed, pack_run
from splits import Corpus


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory, finished_run: Path, consults: Corpus) -> Packed:
    """The bundle of ``finished_run``."""
    return pack_run(finished_run, tmp_path_factory.mktemp("packed") / "run.zip", corpus=consults)


@pytest.fixture(scope="session")
def withheld(tmp_path_factory: pytest.TempPathFactory, finished_run: Path, consults: Corpus) -> Packed:
    """The bundle of ``finished_run`` without the corpus's texts."""
    path = tmp_path_factory.mktemp("withheld") / "run.zip"
    return pack_run(finished_run, path, corpus=consults, withhold=True)


@pytest.fixture
def run_copy(tmp_path: Path, finished_run: Path) -> Path:
    """A copy of ``finished_run`` beside a copy of its call cache."""
    shutil.copytree(finished_run, tmp_path / "copy" / "run")
    shutil.copyfile(finished_run.parent / "calls.sqlite", tmp_path / "copy" / "calls.sqlite")
    return tmp_path / "copy" / "run"
