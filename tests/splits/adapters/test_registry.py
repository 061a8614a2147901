"""What holds for every adapter: what is whole is read, and what is wrong or cut off is refused with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import CorpusError
from splits.adapters import ADAPTERS, NOT_RUN, Imported, find_adapter, import_corpus
from splits.loaders import load_corpus, save_corpus

Folder = Callable[..., Path]
Read = Callable[..., Imported]
Whole = Callable[[str, str], Any]

REAL = [name for name, adapter in ADAPTERS.items() if not adapter.caveat]
LINES = [(name, file) for name, adapter in ADAPTERS.items() for file in adapter.files if file.endswith(".jsonl")]


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_whole_folder_is_read_and_comes_back_from_our_format(name: str, imported: Read, tmp_path: Path) -> None:
    corpus = imported(name).corpus
    assert corpus.examples
    examples, facts = save_corpus(corpus, tmp_path / "saved")
    assert load_corpus(examples, facts=facts).hash == corpus.hash


@pytest.mark.parametrize("name", REAL)
def test_a_real_corpus_comes_back_from_our_format(name: str, real: Callable[[str], Imported], tmp_path: Path) -> None:
    corpus = real(name).corpus
    examples, facts = save_corpus(corpus, tmp_path)
    assert load_corpus(examples, facts=facts).hash == corpus.hash


@pytest.mark.parametrize("name", REAL)
def test_the_real_files_are_those_that_the_adapter_was_checked_on(name: str, real: Callable[[str], Imported]) -> None:
    assert not [notice for notice in real(name).notices if "byte for byte" in notice.what]


@pytest.mark.parametrize("name", REAL)
def test_a_file_cut_off_between_two_records_is_at_least_noted(name: str, imported: Read) -> None:
    (notice,) = (notice for notice in imported(name).notices if "byte for byte" in notice.what)
    assert set(notice.places) == set(ADAPTERS[name].files)


@pytest.mark.parametrize("name", ADAPTERS)
def test_the_main_file_may_be_given_instead_of_its_folder(name: str, folder: Folder) -> None:
    path = folder(name)
    main = next(iter(ADAPTERS[name].files))
    file = path / main if (path / main).is_file() else path / "pairs" / main
    assert import_corpus(name, file).corpus.hash == import_corpus(name, path).corpus.hash


@pytest.mark.parametrize(("name", "file"), LINES)
def test_half_a_last_line_is_refused_with_its_place(name: str, file: str, folder: Folder, whole: Whole) -> None:
    lines = [json.dumps(record) for record in whole(name, file)]
    cut = "\n".join([*lines[:-1], lines[-1][: len(lines[-1]) // 2]])
    with pytest.raises(CorpusError, match=rf"{re.escape(file)}:{len(lines)}: is not JSON .*may be cut off"):
        import_corpus(name, folder(name, {file: cut}))


@pytest.mark.parametrize(("name", "file"), LINES)
def test_an_empty_file_is_refused(name: str, file: str, folder: Folder) -> None:
    with pytest.raises(CorpusError, match=rf"{re.escape(file)}: holds no record; fetch the file again"):
        import_corpus(name, folder(name, {file: ""}))


@pytest.mark.parametrize(("name", "file"), LINES)
def test_a_missing_file_is_named(name: str, file: str, folder: Folder) -> None:
    with pytest.raises(CorpusError, match=rf"there is no {re.escape(file)} in this folder"):
        import_corpus(name, folder(name, {file: None}))


@pytest.mark.parametrize(("name", "file"), LINES)
def test_a_record_that_stands_twice_is_refused_with_both_places(
    name: str, file: str, folder: Folder, whole: Whole
) -> None:
    records = whole(name, file)
    field = "encounter_id" if file == "dialogue_variants.jsonl" else "id"
    doubled = [*records, records[0]]
    with pytest.raises(CorpusError, match=rf"{re.escape(file)}:{len(doubled)}, field '(id|{field})': .* on line 1"):
        import_corpus(name, folder(name, {file: doubled}))


@pytest.mark.parametrize(("name", "file"), LINES)
def test_the_file_of_another_corpus_is_refused_with_what_it_has(name: str, file: str, folder: Folder) -> None:
    stranger = [{"id": "a", "notes": "A text.", "titel": "b"}]
    with pytest.raises(
        CorpusError, match=rf"{re.escape(file)}:1, field '\w+': is missing \(there (is|are) .*adapter reads"
    ):
        import_corpus(name, folder(name, {file: stranger}))


@pytest.mark.parametrize(
    ("name", "file", "place", "field"),
    [
        ("primock57", "consultations.jsonl", (0,), "note"),
        ("primock57", "consultations.jsonl", (0,), "presenting_complaint"),
        ("primock57", "consultations.jsonl", (0, "transcript", 1), "text"),
        ("primock57", "consultations.jsonl", (0, "transcript", 1), "speaker"),
        ("primock57", "checklists.jsonl", (0,), "clinician"),
        ("primock57", "checklists.jsonl", (0, "items", 1), "severity"),
        ("primock57", "checklists.jsonl", (0, "items", 1), "text"),
        ("primock57", "checklists.jsonl", (0, "model_notes", 0), "statements"),
        ("primock57", "checklists.jsonl", (0, "model_notes", 0, "statements", 0), "judgement"),
        ("aci-bench", "encounters.jsonl", (1,), "dialogue"),
        ("aci-bench", "encounters.jsonl", (1,), "note"),
        ("aci-bench", "encounters.jsonl", (1,), "dataset"),
        ("aci-bench", "encounters.jsonl", (1,), "metadata"),
        ("aci-bench-variants", "dialogue_variants.jsonl", (0,), "version"),
        ("medec", "records.jsonl", (0,), "Text"),
        ("medec", "records.jsonl", (0,), "Corrected Text"),
        ("medec", "records.jsonl", (0,), "Error Flag"),
        ("medec", "records.jsonl", (0,), "group_id"),
        ("medec", "records.jsonl", (1,), "twin_id"),
        ("mts-dialog", "correlation_study.jsonl", (0,), "reference_summary"),
        ("mts-dialog", "correlation_study.jsonl", (0, "summaries", 2), "automatic_summary"),
        ("mts-dialog", "correlation_study.jsonl", (0, "summaries", 2, "scores"), "OmissionRate"),
        ("summedits", "documents.jsonl", (0,), "doc"),
        ("summedits", "summaries.jsonl", (2,), "summary"),
        ("summedits", "summaries.jsonl", (2,), "label"),
        ("summedits", "summaries.jsonl", (2,), "seed_summary_id"),
        ("llmbar", "instances.jsonl", (1,), "input"),
        ("llmbar", "instances.jsonl", (1,), "output_2"),
        ("llmbar", "instances.jsonl", (1,), "label"),
    ],
)
@pytest.mark.parametrize("value", ["missing", 7.5, [7]])
def test_a_field_that_is_missing_or_of_another_type_is_named(
    name: str, file: str, place: tuple[Any, ...], field: str, value: Any, folder: Folder, whole: Whole
) -> None:
    records = whole(name, file)
    record = records
    for step in place:
        record = record[step]
    if value == "missing":
        del record[field]
    else:
        record[field] = value
    with pytest.raises(
        CorpusError, match=rf"{re.escape(file)}:{place[0] + 1}, field '[\w\[\].]*{field}': (is missing|must)"
    ):
        import_corpus(name, folder(name, {file: records}))


def test_an_unknown_adapter_is_refused_with_the_near_name() -> None:
    with pytest.raises(CorpusError, match="there is no adapter 'primok57'; did you mean 'primock57'"):
        find_adapter("primok57")
    with pytest.raises(CorpusError, match=r"there is no adapter 'x'; there are 'omissionbench', 'primock57'"):
        find_adapter("x")


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"nowhere: there is no such file or folder"):
        import_corpus("medec", tmp_path / "nowhere")


def test_an_adapter_that_never_saw_the_real_file_says_so_everywhere() -> None:
    unseen = [adapter for adapter in ADAPTERS.values() if None in adapter.files.values()]
    assert [adapter.name for adapter in unseen] == ["omissionbench"]
    assert all(NOT_RUN in adapter.caveat and NOT_RUN in adapter.summary for adapter in unseen)


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=list(ADAPTERS))
def test_every_adapter_names_licence_and_attribution(adapter: Any) -> None:
    assert adapter.licence
    assert "https://github.com/" in adapter.attribution


def test_a_notice_says_what_how_often_and_where(imported: Read) -> None:
    said = [str(notice) for notice in imported("primock57").notices]
    assert (
        "noted: clinicians' notes are clean candidates, not verified (2: day1_consultation01, day1_consultation02)"
        in said
    )
