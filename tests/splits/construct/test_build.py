"""Building a corpus from its sources gives the same bytes every time."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from splits.bundled import bundled_directory
from splits.construct import build_files
from splits.loaders import load_corpus


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("consults")
    shutil.copytree(bundled_directory("consults") / "sources", directory / "sources")
    build_files(directory)
    return directory


@pytest.mark.parametrize("name", ["corpus.jsonl", "facts.jsonl", "sites.jsonl"])
def test_the_bundled_files_are_rebuilt_byte_for_byte(name: str, built: Path) -> None:
    assert (built / name).read_bytes() == (bundled_directory("consults") / name).read_bytes()


def test_what_is_built_is_what_is_loaded(built: Path) -> None:
    corpus = build_files(built)
    loaded = load_corpus(built / "corpus.jsonl", facts=built / "facts.jsonl")
    assert loaded.hash == corpus.hash
    assert (loaded.examples, dict(loaded.facts)) == (corpus.examples, dict(corpus.facts))


def test_every_site_line_gives_its_span_of_the_clean_note(built: Path) -> None:
    corpus = load_corpus(built / "corpus.jsonl")
    rows = [json.loads(line) for line in (built / "sites.jsonl").read_text(encoding="utf-8").split("\n") if line]
    assert len(rows) == 628
    for row in rows:
        assert corpus.by_id[f"{row['group']}.clean"].document[row["start"] : row["end"]] == row["text"]
