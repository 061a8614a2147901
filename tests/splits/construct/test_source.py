"""Consultation files: a sound one is read whole, a malformed one is refused naming its field."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from lineage.errors import CorpusError
from splits.construct.source import Addition, Change, read_source, read_sources

SOUND: dict[str, Any] = {
    "group": "c-1",
    "stratum": "surgery",
    "title": "Cough",
    "transcript": "Doctor: How long?\nPatient: Three days. I smoke.\n",
    "facts": [
        {"id": "f1", "fact": "Cough.", "severity": "critical", "core": True, "evidence": ["Three days."]},
        {"id": "f2", "fact": "Smokes.", "severity": "peripheral", "core": False, "evidence": ["I smoke."]},
    ],
    "note": (
        "HISTORY\n[[f1 explicit: Cough for three days.]] [[f2 explicit: Smokes.]]\nPLAN\n- [[f1 partial: linctus]]\n"
    ),
    "additions": [{"heading": "PLAN", "text": "Refer.", "severity": "supporting"}],
    "changes": [{"fact": "f2", "from": "Smokes", "to": "Does not smoke"}],
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    def written(data: dict[str, Any]) -> Path:
        path = tmp_path / "c-1.yaml"
        path.write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), encoding="utf-8")
        return path

    return written


def test_a_sound_file_is_read_whole(write: Callable[[dict[str, Any]], Path]) -> None:
    source = read_source(write(SOUND))
    assert (source.group, source.stratum, source.title) == ("c-1", "surgery", "Cough")
    assert source.note == "HISTORY\nCough for three days. Smokes.\nPLAN\n- linctus"
    assert source.transcript.endswith("I smoke.")
    assert [site.text for site in source.sites_of("f1")] == ["Cough for three days.", "linctus"]
    assert source.additions == (Addition("PLAN", "Refer.", "supporting"),)
    assert source.changes == (Change("f2", "Smokes", "Does not smoke"),)


def put(*path: Any) -> Callable[[dict[str, Any]], None]:
    """An edit that sets the value at the end of a path."""
    *way, name, value = path

    def edit(data: Any) -> None:
        for step in way:
            data = data[step]
        data[name] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "field", "message"),
    [
        (put("group", "c-2"), "group", "must be lower case and equal the file's name 'c-1'"),
        (put("group", "C-1"), "group", "must be lower case and equal"),
        (put("group", 5), "group", "must be a non-empty text"),
        (put("stratum", ""), "stratum", "must be a non-empty text"),
        (put("title", None), "title", "must be a non-empty text"),
        (put("transcript", ["x"]), "transcript", "must be a non-empty text"),
        (put("note", " \n"), "note", "must be a non-empty text"),
        (put("note", "HISTORY\n[[f1 explicit: Cough"), "note", "is not closed"),
        (put("note", "[[f1 explicit: x.]] [[f2 explicit: y.]] [[f9 partial: z.]]"), "note", "unknown fact 'f9'"),
        (put("note", "HISTORY\n[[f1 explicit: x.]] [[f2 partial: y.]]"), "note", "fact f2 has no explicit site"),
        (put("facts", None), "facts", "must be a list; write \\[\\] for none"),
        (put("facts", {"f1": 1}), "facts", "must be a list"),
        (put("facts", 0, "text"), r"facts\[0\]", "needs exactly id, fact, severity, core, evidence"),
        (put("facts", 1, "more", 1), r"facts\[1\]", "needs exactly id, fact, severity, core, evidence"),
        (put("facts", 1, "core", "yes"), r"facts\[1\]", "core is true or false"),
        (put("facts", 0, "evidence", []), r"facts\[0\]", "evidence a non-empty list"),
        (put("facts", 0, "evidence", "Three days."), r"facts\[0\]", "evidence a non-empty list"),
        (put("facts", 0, "evidence", ["Four days."]), r"facts\[0\]", "'Four days.' is not verbatim in the transcript"),
        (put("facts", 0, "evidence", [""]), r"facts\[0\]", "'' is not verbatim in the transcript"),
        (put("facts", 0, "evidence", [3]), r"facts\[0\]", "3 is not verbatim in the transcript"),
        (put("facts", 0, "severity", "grave"), "severity", "'grave' is not one of critical, supporting, peripheral"),
        (put("facts", 0, "fact", ""), "fact", "must be a non-empty text"),
        (put("facts", 1, "id", "f1"), "facts", "fact ids must be unique"),
        (put("additions", None), "additions", "must be a list; write \\[\\] for none"),
        (put("additions", ["Refer."]), r"additions\[0\]", "needs exactly heading, severity, text"),
        (put("additions", 0, "fact", "f1"), r"additions\[0\]", "needs exactly heading, severity, text"),
        (put("additions", 0, "heading", "ADVICE"), "additions", "heading 'ADVICE' is not in the note"),
        (put("additions", 0, "severity", "low"), "severity", "'low' is not one of"),
        (put("additions", 0, "text", None), "text", "must be a non-empty text"),
        (put("changes", "none"), "changes", "must be a list"),
        (put("changes", [["f2"]]), r"changes\[0\]", "needs exactly fact, from, to"),
        (put("changes", 0, "fact", "f9"), "changes", "the only site of fact 'f9' .it has 0 sites"),
        (put("changes", 0, "fact", "f1"), "changes", "the only site of fact 'f1' .it has 2 sites"),
        (put("changes", 0, "from", "Drinks"), "changes", "'Drinks' must occur once in the only site of fact 'f2'"),
        (put("changes", 0, "to", ""), "to", "must be a non-empty text"),
        (put("author", "me"), "author", r"keys must be exactly .* differs in \['author'\]"),
        (put(7, "me"), "7", r"keys must be exactly .* differs in \['7'\]"),
    ],
)
def test_a_malformed_consultation_is_refused_naming_its_field(
    edit: Callable[[dict[str, Any]], None], field: str, message: str, write: Callable[[dict[str, Any]], Path]
) -> None:
    data = copy.deepcopy(SOUND)
    edit(data)
    path = write(data)
    with pytest.raises(CorpusError, match=rf"c-1\.yaml, field '{field}': .*{message}"):
        read_source(path)


@pytest.mark.parametrize("key", sorted(SOUND))
def test_a_missing_key_is_named(key: str, write: Callable[[dict[str, Any]], Path]) -> None:
    data = {name: value for name, value in SOUND.items() if name != key}
    with pytest.raises(CorpusError, match=rf"field '{key}': keys must be exactly .* differs in \['{key}'\]"):
        read_source(write(data))


def test_a_fact_that_is_changed_twice_is_refused(write: Callable[[dict[str, Any]], Path]) -> None:
    data = copy.deepcopy(SOUND)
    data["changes"].append({"fact": "f2", "from": "Smokes", "to": "Vapes"})
    with pytest.raises(CorpusError, match="field 'changes': a fact is changed twice"):
        read_source(write(data))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"group: [", "is not a readable YAML file"),
        (b"group: \xff", "is not a readable YAML file"),
        (b"a: \x00", "is not a readable YAML file"),
        (b"- a\n- b\n", "must hold one mapping"),
        (b"", "must hold one mapping"),
        (b"!!python/object/apply:os.getcwd []", "is not a readable YAML file"),
    ],
)
def test_a_file_that_is_no_consultation_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c-1.yaml"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=rf"c-1\.yaml: {message}"):
        read_source(path)


def test_a_directory_without_consultations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"holds no consultation \(\*\.yaml\); name a directory of sources"):
        read_sources(tmp_path)
