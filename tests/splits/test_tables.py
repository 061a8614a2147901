"""Tables with mapped columns: the same rows are the same corpus in any form; what is wrong is named by its place."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage.errors import CorpusError
from splits import Columns, Corpus, corpus_from_frame, load_corpus, load_table
from splits.corpus import example_row

CLEAN = {"note": "n1", "consult": 7, "kind_of": "gp", "talk": "Talk.", "text": "PLAN\nRest.", "bad": 0, "origin": None}
FLAWED = {**CLEAN, "note": "n2", "text": "PLAN", "bad": 1, "origin": "n1"}
NAMES = {
    "id": "note",
    "group": "consult",
    "stratum": "kind_of",
    "source": "talk",
    "document": "text",
    "label": "bad",
    "twin": "origin",
}
COLUMNS = Columns(NAMES, labels={0: "clean", 1: "omission"})


def as_csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def as_jsonl(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    from pyarrow import BufferOutputStream, Table
    from pyarrow.parquet import write_table

    sink = BufferOutputStream()
    write_table(Table.from_pylist(list(rows)), sink)
    return bytes(sink.getvalue())


WRITERS: Mapping[str, Callable[[Sequence[Mapping[str, Any]]], bytes]] = {
    "csv": as_csv,
    "jsonl": as_jsonl,
    "parquet": as_parquet,
}


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    def written(rows: Sequence[Mapping[str, Any]] | bytes, kind: str = "csv") -> Path:
        path = tmp_path / f"table.{kind}"
        path.write_bytes(rows if isinstance(rows, bytes) else WRITERS[kind](rows))
        return path

    return written


def the_corpus(rows: Sequence[Mapping[str, Any]], kind: str, path: Path, columns: Columns) -> Corpus:
    if kind == "frame":
        return corpus_from_frame(pd.DataFrame(rows), columns=columns)
    path.write_bytes(WRITERS[kind](rows))
    return load_table(path, columns=columns, file_format=kind)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "frame"])
def test_the_same_rows_are_the_same_corpus_in_every_form(kind: str, tmp_path: Path) -> None:
    corpus = the_corpus([CLEAN, FLAWED], kind, tmp_path / "table", COLUMNS)
    clean, flawed = corpus.examples
    assert (clean.id, clean.group, clean.label, clean.twin, clean.meta) == ("n1", "7", "clean", None, {})
    assert (flawed.label, flawed.kind, flawed.twin, flawed.source) == ("omission", "omit", "n1", "Talk.")


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30)
words = st.from_regex(r"[A-Za-z0-9_.|-]{1,6}", fullmatch=True)


@st.composite
def rows_of_a_corpus(draw: st.DrawFn) -> list[dict[str, Any]]:
    rows = []
    for group in draw(st.lists(words, min_size=1, max_size=3, unique=True)):
        shared = {"group": group, "stratum": draw(words), "source": draw(texts)}
        for number in range(draw(st.integers(1, 3))):
            flawed = {"label": "omission", "trace": draw(st.sampled_from(["complete", None])), "twin": f"{group}:0"}
            row = {"id": f"{group}:{number}", **shared, "document": draw(texts) + "x", "label": "clean"}
            rows.append({**row, "trace": None, "twin": None, **(flawed if number else {})})
    return rows


@given(rows=rows_of_a_corpus(), kind=st.sampled_from(["csv", "jsonl", "parquet", "frame"]))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_corpus_comes_back_from_any_form_of_table(rows: list[dict[str, Any]], kind: str, tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_bytes(as_jsonl(rows))
    kept = load_corpus(tmp_path / "corpus.jsonl")
    assert the_corpus(rows, kind, tmp_path / "table", Columns()).hash == kept.hash


def test_a_frame_with_gaps_has_nulls_and_never_the_text_nan() -> None:
    rows = [
        {**CLEAN, "origin": np.nan, "grade": pd.NA, "n": np.int64(3), "when": pd.NaT, "x": np.float64("nan")},
        {**FLAWED, "origin": "n1", "grade": "critical", "n": np.int64(4), "when": pd.Timestamp("2026-01-02"), "x": 0.5},
    ]
    columns = Columns({**NAMES, "severity": "grade"}, labels={0: "clean", 1: "omission"}, meta=["n", "when", "x"])
    corpus = corpus_from_frame(pd.DataFrame(rows), columns=columns)
    assert corpus.examples[0].severity is corpus.examples[0].twin is None
    assert corpus.examples[0].meta == {"n": 3, "when": None, "x": None}
    assert corpus.examples[1].meta == {"n": 4, "when": "2026-01-02T00:00:00", "x": 0.5}
    assert not [row for row in map(example_row, corpus.examples) if "nan" in repr(row).lower()]


@pytest.mark.parametrize("column", ["text", "site"])
def test_a_frame_with_half_a_surrogate_pair_is_refused_with_its_row(column: str) -> None:
    rows = [{**CLEAN, "site": "a"}, {**FLAWED, "site": "b", column: "cut \ud83d off"}]
    with pytest.raises(CorpusError, match=r"frame, row 2, field '(document|meta)': cannot be kept: .*broken character"):
        corpus_from_frame(
            pd.DataFrame(rows, dtype=object), columns=Columns(NAMES, labels=COLUMNS.labels, meta=["site"])
        )


def test_numbered_twins_in_a_column_with_gaps_keep_their_names() -> None:
    frame = pd.DataFrame([{**CLEAN, "note": 1, "origin": None}, {**FLAWED, "note": 2, "origin": 1}])
    assert frame["origin"].dtype == np.float64
    assert [example.twin for example in corpus_from_frame(frame, columns=COLUMNS).examples] == [None, "1"]


def test_nothing_is_kept_in_meta_unasked_and_all_of_the_rest_where_asked(tmp_path: Path) -> None:
    rows = [{**CLEAN, "title": "A", "site": "x"}, {**FLAWED, "title": "B", "site": None}]
    for meta, expected in (((), {}), (["title"], {"title": "A"}), ("all", {"title": "A", "site": "x"})):
        columns = Columns(NAMES, labels=COLUMNS.labels, meta=meta)
        corpus = the_corpus(rows, "jsonl", tmp_path / "table", columns)
        assert corpus.examples[0].meta == expected


def test_one_value_may_stand_for_a_field_in_every_row(table: Callable[..., Path]) -> None:
    rows = [{"id": "a", "document": "Text.", "label": "clean"}, {"id": "b", "document": "Text.", "label": "commission"}]
    columns = Columns({"group": "id"}, {"stratum": "all", "source": ""})
    corpus = load_table(table(rows), columns=columns)
    assert [(e.group, e.stratum, e.source, e.kind) for e in corpus.examples] == [
        ("a", "all", "", "clean"),
        ("b", "all", "", "add"),
    ]


def test_labels_of_any_kind_of_cell_are_translated(table: Callable[..., Path]) -> None:
    columns = Columns(NAMES, labels={True: "omission", "false": "clean", 2.0: "commission"})
    meant = ((True, "omission"), (False, "clean"), (2, "commission"), (2.0, "commission"), ("2", "commission"))
    for value, label in meant:
        assert corpus_from_frame(pd.DataFrame([{**CLEAN, "bad": value}]), columns=columns).examples[0].label == label
    with pytest.raises(CorpusError, match=r"table\.csv:2, field 'label': '0' is made no label; labels has 'true', 'f"):
        load_table(table([CLEAN]), columns=columns)


def test_mentions_may_be_json_text_or_nested(table: Callable[..., Path]) -> None:
    mentions = [{"offset": 0, "heading": "PLAN", "strength": "partial"}]
    nested, text = {**FLAWED, "residual": mentions}, {**FLAWED, "residual": json.dumps(mentions)}
    for rows, kind in (([CLEAN, nested], "jsonl"), ([{**CLEAN, "residual": []}, nested], "parquet")):
        assert load_table(table(rows, kind), columns=COLUMNS).examples[1].residual[0].heading == "PLAN"
    flat = table([{**CLEAN, "residual": ""}, text])
    assert load_table(flat, columns=COLUMNS).examples[1].residual[0].strength == "partial"
    with pytest.raises(CorpusError, match=r"table\.csv:4, field 'residual': is not JSON"):  # a cell holds a line end
        load_table(table([{**CLEAN, "residual": ""}, {**text, "residual": "[{"}]), columns=COLUMNS)


def test_facts_stand_in_a_file_beside(table: Callable[..., Path], tmp_path: Path) -> None:
    fact = {"id": "f1", "group": "7", "fact": "Rest.", "evidence": [], "severity": "critical", "core": True}
    (tmp_path / "facts.jsonl").write_bytes(as_jsonl([fact]))
    corpus = load_table(table([CLEAN, FLAWED]), columns=COLUMNS, facts=tmp_path / "facts.jsonl")
    assert corpus.facts["7"][0].fact == "Rest."
    (tmp_path / "facts.jsonl").write_bytes(as_jsonl([{**fact, "group": "8"}]))
    with pytest.raises(CorpusError, match=r"facts\.jsonl:1, field 'group': group '8' has no example"):
        load_table(tmp_path / "table.csv", columns=COLUMNS, facts=tmp_path / "facts.jsonl")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"docment": "text"}, r"columns: 'docment' is not a field of an example; did you mean 'document'\?"),
        ({"meta": "title"}, r"columns: 'meta' is not a field of an example"),
        ({**NAMES, "id": "notes"}, r"table\.csv, field 'id': there is no column 'notes'; did you mean 'note'\?"),
        (
            {**NAMES, "cohort": "zzz"},
            r"table\.csv, field 'cohort': there is no column 'zzz'; there are 'note', 'consult'",
        ),
        (
            {"id": "note"},
            r"table\.csv, field 'group': no column fills it; .*map a column to group, or give it one value",
        ),
    ],
)
def test_a_column_that_is_not_there_is_named_with_the_near_one(
    columns: dict[str, str], message: str, table: Callable[..., Path]
) -> None:
    with pytest.raises(CorpusError, match=message):
        load_table(table([CLEAN]), columns=Columns(columns))


def test_a_field_given_twice_or_a_label_that_is_none_is_refused() -> None:
    with pytest.raises(CorpusError, match="'stratum' has a column and a value for all rows; give one"):
        Columns({"stratum": "s"}, {"stratum": "all"})
    with pytest.raises(CorpusError, match="labels: 0 is made 'cleen', which is no label; did you mean 'clean'"):
        Columns(labels={0: "cleen"})
    with pytest.raises(CorpusError, match=r"field 'meta': there is no column 'titel'; did you mean 'title'"):
        corpus_from_frame(pd.DataFrame([{**CLEAN, "title": "A"}]), columns=Columns(NAMES, meta=["titel"]))


@pytest.mark.parametrize(
    ("kind", "place"),
    [("csv", r"table:4"), ("jsonl", r"table:2"), ("parquet", r"table, row 2"), ("frame", "frame, row 2")],
)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": None}, "field 'document': must be a non-empty text"),
        ({"note": "n1"}, r"field 'id': id 'n1' also stands on (line 2|line 1|row 1); ids must be unique"),
        ({"origin": "n9"}, "field 'twin': twin 'n9' is not in the corpus"),
        ({"consult": 8}, "field 'twin': twin 'n1' is in group '7', this example in '8'"),
        ({"bad": 3}, "field 'label': '?3'? is made no label"),
    ],
)
def test_a_broken_row_is_named_by_its_place(
    kind: str, place: str, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(CorpusError, match=f"{place}, {message}"):
        the_corpus([CLEAN, {**FLAWED, **changes}], kind, tmp_path / "table", COLUMNS)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"table\.csv: is empty; the first line names the columns"),
        (as_csv([CLEAN])[:-12], r"table\.csv:2: (has \d cells, and the header 7|is not CSV)"),
        (
            as_csv([CLEAN, FLAWED]).rpartition(b'"')[0],
            r"table\.csv:2: is not CSV \(unexpected end of data\); it may be cut",
        ),
        (as_csv([CLEAN]).replace(b"gp", b"gp,x"), r"table\.csv:2: has 8 cells, and the header 7"),
        (as_csv([CLEAN]).replace(b"gp", b"\xe9"), r"table\.csv:2: is not UTF-8 \(.*\); save it as UTF-8"),
        (as_csv([CLEAN]).replace(b"kind_of", b"note"), r"table\.csv: has two columns 'note'; rename one"),
        (as_csv([CLEAN]).splitlines(keepends=True)[0], r"table\.csv: holds no row"),
    ],
)
def test_a_broken_csv_is_refused_with_its_place(data: bytes, message: str, table: Callable[..., Path]) -> None:
    with pytest.raises(CorpusError, match=message):
        load_table(table(data), columns=Columns({**NAMES, "stratum": "note"}, labels=COLUMNS.labels))


def test_a_csv_may_have_a_byte_order_mark_blank_lines_and_long_cells(table: Callable[..., Path]) -> None:
    long = "word " * 40_000
    data = b"\xef\xbb\xbf" + as_csv([CLEAN, {**FLAWED, "talk": long}]) + b"\n\r\n"
    assert load_table(table(data), columns=COLUMNS).examples[1].source == long


@pytest.mark.parametrize("keep", [0, 3, 200, -1, -9])
def test_a_parquet_file_that_is_cut_off_is_refused(keep: int, table: Callable[..., Path]) -> None:
    whole = as_parquet([CLEAN, FLAWED])
    with pytest.raises(CorpusError, match=r"table\.parquet: is not Parquet .*it may be cut off"):
        load_table(table(whole[:keep], "parquet"), columns=COLUMNS)


def test_a_parquet_file_that_is_damaged_inside_is_refused(table: Callable[..., Path]) -> None:
    whole = bytearray(as_parquet([CLEAN, FLAWED]))
    whole[4:60] = bytes(56)
    with pytest.raises(CorpusError, match=r"table\.parquet: cannot be read to its end"):
        load_table(table(bytes(whole), "parquet"), columns=COLUMNS)


def test_half_a_last_line_of_jsonl_is_refused(table: Callable[..., Path]) -> None:
    with pytest.raises(CorpusError, match=r"table\.jsonl:2: is not JSON .*may be cut off"):
        load_table(table(as_jsonl([CLEAN, FLAWED])[:-30], "jsonl"), columns=COLUMNS)


def test_the_format_is_known_by_the_name_or_named(table: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"format 'tsv' is not one of csv, jsonl, parquet; name one"):
        load_table(table([CLEAN]).rename(tmp_path / "table.tsv"))
    assert load_table(tmp_path / "table.tsv", columns=COLUMNS, file_format="csv").examples[0].id == "n1"
    with pytest.raises(CorpusError, match=r"none\.csv: there is no such table"):
        load_table(tmp_path / "none.csv")


def test_what_meta_cannot_hold_is_refused() -> None:
    for value, message in ((object(), "a object cannot be kept"), (float("inf"), "an infinity cannot be kept")):
        frame = pd.DataFrame([{**CLEAN, "extra": value}])
        with pytest.raises(CorpusError, match=rf"frame, row 1, field 'meta': {message}"):
            corpus_from_frame(frame, columns=Columns(NAMES, labels=COLUMNS.labels, meta=["extra"]))
