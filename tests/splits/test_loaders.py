"""Reading corpora: what is legal comes back, what is not is named by file, line and field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import CorpusError
from splits.corpus import Corpus
from splits.loaders import load_corpus, save_corpus

CLEAN: Mapping[str, Any] = {
    "id": "a.clean",
    "group": "a",
    "stratum": "s",
    "source": "Talk.",
    "document": "PLAN\nRest.",
    "label": "clean",
}
FLAWED: Mapping[str, Any] = {
    **CLEAN,
    "id": "a.omit",
    "label": "omission",
    "kind": "omit",
    "severity": "critical",
    "trace": "complete",
    "twin": "a.clean",
    "fact": "f1",
    "residual": [{"offset": 0, "heading": "PLAN", "strength": "partial"}],
}
FACT: Mapping[str, Any] = {
    "id": "f1",
    "group": "a",
    "fact": "Rest was advised.",
    "evidence": ["Talk."],
    "severity": "critical",
    "core": True,
}


def write(path: Path, *rows: Mapping[str, Any] | bytes) -> Path:
    lines = [row if isinstance(row, bytes) else json.dumps(row, ensure_ascii=False).encode() for row in rows]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def load(tmp_path: Path, *rows: Mapping[str, Any] | bytes) -> Corpus:
    return load_corpus(write(tmp_path / "corpus.jsonl", *rows))


def test_what_is_saved_comes_back_with_the_same_hash_and_bytes(corpus: Corpus, tmp_path: Path) -> None:
    examples, facts = save_corpus(corpus, tmp_path)
    loaded = load_corpus(examples, facts=facts)
    assert (loaded.examples, loaded.facts, loaded.hash) == (corpus.examples, corpus.facts, corpus.hash)
    again = save_corpus(loaded, tmp_path / "again")
    assert [path.read_bytes() for path in again] == [examples.read_bytes(), facts.read_bytes()]


def test_optional_fields_may_be_left_out_or_null(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("severity", "trace", "twin", "fact", "residual", "cohort", "meta", "kind"))
    bare, null = load(tmp_path, CLEAN), load(tmp_path, {**CLEAN, **nothing})
    assert bare.examples == null.examples
    assert bare.hash == null.hash


def test_a_corpus_without_twins_is_legal(tmp_path: Path) -> None:
    loaded = load(tmp_path, CLEAN, {**CLEAN, "id": "a.bad", "label": "commission"})
    assert [(example.kind, example.twin) for example in loaded.examples] == [("clean", None), ("add", None)]


def test_blank_lines_crlf_ends_and_other_line_separators_in_text_are_read(tmp_path: Path) -> None:
    odd = {**CLEAN, "document": "one\u2028two\x85three"}
    loaded = load(tmp_path, b"", json.dumps(odd, ensure_ascii=False).encode() + b"\r", b"  ")
    assert loaded.examples[0].document == "one\u2028two\x85three"


def test_a_file_whose_rows_stand_in_another_order_is_the_same_corpus(corpus: Corpus, tmp_path: Path) -> None:
    examples, facts = save_corpus(corpus, tmp_path)
    for path in (examples, facts):
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[::-1]))
    assert load_corpus(examples, facts=facts).hash == corpus.hash


@pytest.mark.parametrize("field", ["id", "group", "stratum", "document", "label"])
@pytest.mark.parametrize("value", ["", "  \n", None, 5, ["x"]])
def test_an_empty_or_wrong_text_is_named_by_line_and_field(field: str, value: object, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=rf"corpus\.jsonl:2, field '{field}': must be a non-empty text"):
        load(tmp_path, CLEAN, {**FLAWED, field: value})


@pytest.mark.parametrize("field", ["id", "group", "stratum", "source", "document", "label"])
def test_a_missing_field_is_named(field: str, tmp_path: Path) -> None:
    row = {name: value for name, value in FLAWED.items() if name != field}
    with pytest.raises(CorpusError, match=rf"corpus\.jsonl:2, field '{field}': must be a (non-empty )?text"):
        load(tmp_path, CLEAN, row)


def test_a_source_may_be_empty_and_must_be_a_text(tmp_path: Path) -> None:
    assert load(tmp_path, {**CLEAN, "source": ""}).examples[0].source == ""
    with pytest.raises(CorpusError, match=r"corpus\.jsonl:1, field 'source': must be a text$"):
        load(tmp_path, {**CLEAN, "source": None})


def test_a_source_that_a_group_shares_is_held_once(tmp_path: Path) -> None:
    loaded = load(tmp_path, {**CLEAN, "source": "Talk \u00e9 " * 9}, {**FLAWED, "source": "Talk \u00e9 " * 9})
    assert loaded.examples[0].source is loaded.examples[1].source


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"id": "a.clean"}, "id", "id 'a.clean' also stands on line 1; ids must be unique"),
        ({"id": "a/omit"}, "id", "'a/omit' holds a slash"),
        ({"label": "wrong"}, "label", "'wrong' is not one of clean, omission, commission"),
        ({"kind": "add"}, "kind", r"'add' is not a kind of omission \(omit\)"),
        ({"kind": ""}, "kind", "'' is not a kind of omission"),
        ({"kind": ["omit"]}, "kind", r"\['omit'\] is not a kind of omission"),
        ({"severity": "grave"}, "severity", "'grave' is not one of critical, supporting, peripheral, or null"),
        ({"severity": ""}, "severity", "'' is not one of critical"),
        ({"trace": "partial"}, "trace", "'partial' is not one of complete, partial-weak, partial-strong, or null"),
        ({"label": "commission", "kind": "add"}, "trace", "only an omission has a trace, this example is commission"),
        ({"label": "clean", "kind": "clean", "trace": None}, "twin", "a clean example has no twin"),
        ({"twin": 5}, "twin", "must be a text or null"),
        ({"fact": 5}, "fact", "must be a text or null"),
        ({"cohort": ["x"]}, "cohort", "must be a text or null"),
        ({"meta": []}, "meta", "must be an object"),
        ({"meta": "x"}, "meta", "must be an object"),
        ({"twin": "a.none"}, "twin", "twin 'a.none' is not in the corpus"),
        ({"twin": ""}, "twin", "twin '' is not in the corpus"),
        ({"twin": "a.omit"}, "twin", "twin 'a.omit' is omission; a twin is a clean example"),
        ({"group": "b"}, "twin", "twin 'a.clean' is in group 'a', this example in 'b'"),
        ({"stratum": "t"}, "stratum", "group 'a' is in stratum 's' above, here in 't'; a group lies in one stratum"),
        ({"residual": "x"}, "residual", "must be a list"),
        ({"residual": {}}, "residual", "must be a list"),
        ({"residual": [{"offset": 0}]}, "residual", "must be a list of {offset, heading, strength}"),
        ({"residual": [[0, "PLAN", "partial"]]}, "residual", "must be a list of {offset, heading, strength}"),
        ({"tier": 1}, "tier", "is not a field of an example: rename it .*, or put it into meta"),
    ],
)
def test_a_broken_rule_is_named_by_file_line_and_field(
    changes: dict[str, Any], field: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(CorpusError, match=rf"corpus\.jsonl:2, field '{field}': {message}") as caught:
        load(tmp_path, CLEAN, {**FLAWED, **changes})
    assert (caught.value.line, caught.value.field) == (2, field)


@pytest.mark.parametrize(
    ("mention", "message"),
    [
        ({"offset": -1}, "offset -1 lies outside the document"),
        ({"offset": 10}, "offset 10 lies outside the document"),
        ({"offset": 1.5}, "a whole number and two texts"),
        ({"offset": "1"}, "a whole number and two texts"),
        ({"offset": True}, "a whole number and two texts"),
        ({"heading": None}, "a whole number and two texts"),
        ({"strength": "strong"}, "strength 'strong' is not one of explicit, paraphrase, partial"),
        ({"extra": 1}, "must be a list of {offset, heading, strength}"),
    ],
)
def test_a_residual_mention_lies_in_the_document_and_is_complete(
    mention: dict[str, Any], message: str, tmp_path: Path
) -> None:
    residual = [{"offset": 0, "heading": "PLAN", "strength": "partial"} | mention]
    with pytest.raises(CorpusError, match=rf"corpus\.jsonl:2, field 'residual': .*{message}"):
        load(tmp_path, CLEAN, {**FLAWED, "residual": residual})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": "a', r"is not JSON \(Unterminated string.*, column 8\)"),
        (b"nonsense", r"is not JSON"),
        (b'\xef\xbb\xbf{"id": "x"}', r"begins with a byte order mark; save it as UTF-8 without one"),
        ('{"id": "naïve"}'.encode("latin-1"), r"is not UTF-8 \(.*\); save it as UTF-8"),
        (b"[1, 2]", "must be one JSON object"),
        (b'"text"', "must be one JSON object"),
    ],
)
def test_a_line_that_is_not_a_json_object_in_utf8_is_named(line: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=rf"corpus\.jsonl:3: {message}"):
        load(tmp_path, CLEAN, FLAWED, line)


@pytest.mark.parametrize("value", [b"NaN", b"-Infinity", b"1e999", b'["\\ud83d"]'])
def test_what_has_no_hash_is_refused_where_it_stands(value: bytes, tmp_path: Path) -> None:
    line = json.dumps(CLEAN).encode().replace(b"}", b', "meta": {"x": ' + value + b"}}")
    with pytest.raises(CorpusError, match=r"corpus\.jsonl:1, field 'meta': holds (NaN or|what) .*; (give|take)"):
        load(tmp_path, line)


@pytest.mark.parametrize("doubled", [b'"label": "omission"', b'"meta": {"a": 1, "a": 2}'])
def test_a_name_that_stands_twice_is_not_silently_resolved(doubled: bytes, tmp_path: Path) -> None:
    line = json.dumps(CLEAN).encode().replace(b"}", b", " + doubled + b"}")
    with pytest.raises(CorpusError, match=r"corpus\.jsonl:1, field '(label|a)': stands twice in one object"):
        load(tmp_path, line)


def test_an_empty_or_missing_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"corpus\.jsonl: holds no example"):
        load(tmp_path, b"")
    with pytest.raises(CorpusError, match=r"none\.jsonl: there is no such corpus file"):
        load_corpus(tmp_path / "none.jsonl")
    with pytest.raises(CorpusError, match="there is no such facts file"):
        load_corpus(write(tmp_path / "corpus.jsonl", CLEAN), facts=tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"group": "b"}, "group", "group 'b' has no example in the corpus"),
        ({"id": "f0"}, "id", "fact 'f0' occurs twice in group 'a'"),
        ({"id": ""}, "id", "must be a non-empty text"),
        ({"fact": " "}, "fact", "must be a non-empty text"),
        ({"fact": 3}, "fact", "must be a non-empty text"),
        ({"severity": None}, "severity", "None is not one of critical, supporting, peripheral"),
        ({"severity": ["critical"]}, "severity", r"\['critical'\] is not one of critical"),
        ({"core": "yes"}, "core", "must be true or false"),
        ({"core": 1}, "core", "must be true or false"),
        ({"evidence": "Talk."}, "evidence", "must be a list of texts"),
        ({"evidence": [1]}, "evidence", "must be a list of texts"),
        ({"note": 1}, "note", "a fact has exactly the fields"),
    ],
)
def test_a_broken_fact_is_named_by_file_line_and_field(
    changes: dict[str, Any], field: str, message: str, tmp_path: Path
) -> None:
    corpus = write(tmp_path / "corpus.jsonl", CLEAN)
    facts = write(tmp_path / "facts.jsonl", {**FACT, "id": "f0"}, {**FACT, **changes})
    with pytest.raises(CorpusError, match=rf"facts\.jsonl:2, field '{field}': {message}"):
        load_corpus(corpus, facts=facts)


@pytest.mark.parametrize("field", sorted(FACT))
def test_a_fact_that_lacks_a_field_is_refused(field: str, tmp_path: Path) -> None:
    corpus = write(tmp_path / "corpus.jsonl", CLEAN)
    facts = write(tmp_path / "facts.jsonl", {name: value for name, value in FACT.items() if name != field})
    with pytest.raises(CorpusError, match=rf"facts\.jsonl:1, field '{field}': a fact has exactly the fields"):
        load_corpus(corpus, facts=facts)


def test_facts_keep_their_order_within_a_group(tmp_path: Path) -> None:
    corpus = write(tmp_path / "corpus.jsonl", CLEAN)
    facts = write(tmp_path / "facts.jsonl", *({**FACT, "id": name} for name in ("f10", "f2", "f1")))
    assert [fact.id for fact in load_corpus(corpus, facts=facts).facts["a"]] == ["f10", "f2", "f1"]
