"""Hugging Face datasets: an optional extra whose absence is said, and a seam to it where it is there."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lineage.errors import CorpusError
from splits import Columns, HubDataset, load_hub_dataset

ROWS = [
    {"id": "a", "group": "g", "stratum": "s", "source": "Talk.", "document": "Note.", "label": 0},
    {"id": "b", "group": "g", "stratum": "s", "source": "Talk.", "document": "Not.", "label": 1},
]
COLUMNS = Columns(labels={0: "clean", 1: "commission"})


class Rows(list[dict[str, Any]]):
    """What a loaded dataset is to us: rows, and the names of its columns."""

    @property
    def column_names(self) -> list[str]:
        return list(self[0])


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A library in place of ``datasets`` that has one dataset, by split."""
    module = ModuleType("datasets")
    asked: list[tuple[Any, ...]] = []

    def load_dataset(name: str, subset: str | None, *, revision: str | None) -> dict[str, Rows]:
        asked.append((name, subset, revision))
        if name == "nowhere":
            raise ValueError("no such dataset")
        return {"train": Rows(ROWS[:1]), "test": Rows(ROWS)}

    vars(module).update(load_dataset=load_dataset, load_from_disk=lambda name: Rows(ROWS), asked=asked)
    monkeypatch.setitem(sys.modules, "datasets", module)
    return module


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(CorpusError, match=r"some/name: .* optional extra; install it \(pip install 'holdgate\[hugging"):
        load_hub_dataset(HubDataset("some/name", "test"))


def test_the_rows_of_one_split_become_the_corpus(library: ModuleType) -> None:
    dataset = HubDataset("some/name", "test", subset="small", revision="abc")
    corpus = load_hub_dataset(dataset, columns=COLUMNS)
    assert [(example.id, example.label) for example in corpus.examples] == [("a", "clean"), ("b", "commission")]
    assert library.asked == [("some/name", "small", "abc")]


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (HubDataset("some/name"), r"some/name: no split is named; name one of train, test"),
        (HubDataset("some/name", "tests"), r"some/name: there is no split 'tests'; name one of train, test"),
        (HubDataset("nowhere", "test"), r"nowhere: cannot be read as a Hugging Face dataset: no such dataset"),
    ],
)
def test_what_is_not_there_is_said(dataset: HubDataset, message: str, library: ModuleType) -> None:
    with pytest.raises(CorpusError, match=message):
        load_hub_dataset(dataset, columns=COLUMNS)


def test_a_broken_row_is_named(library: ModuleType) -> None:
    with pytest.raises(CorpusError, match=r"some/name, row 2, field 'label': 1 is made no label; labels has '0'"):
        load_hub_dataset(HubDataset("some/name", "test"), columns=Columns(labels={0: "clean"}))


def test_a_directory_is_read_from_disk_and_has_no_revision(library: ModuleType, tmp_path: Path) -> None:
    assert len(load_hub_dataset(HubDataset(str(tmp_path)), columns=COLUMNS).examples) == 2
    with pytest.raises(CorpusError, match="a directory has no subset and no revision; leave them out"):
        load_hub_dataset(HubDataset(str(tmp_path), revision="abc"), columns=COLUMNS)


@pytest.mark.integration
@pytest.mark.parametrize("splits", [False, True])
def test_a_dataset_of_the_real_library_is_read_from_disk(splits: bool, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="the extra huggingface is not installed")
    rows = datasets.Dataset.from_list(ROWS)
    (datasets.DatasetDict({"test": rows}) if splits else rows).save_to_disk(str(tmp_path / "kept"))
    corpus = load_hub_dataset(HubDataset(str(tmp_path / "kept"), "test" if splits else None), columns=COLUMNS)
    assert [(example.id, example.document) for example in corpus.examples] == [("a", "Note."), ("b", "Not.")]
    with pytest.raises(CorpusError, match="cannot be read as a Hugging Face dataset"):
        load_hub_dataset(HubDataset(str(tmp_path)), columns=COLUMNS)
