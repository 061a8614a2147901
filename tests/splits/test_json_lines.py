"""Strict JSON: what plain ``json`` lets through is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage.errors import CorpusError
from splits.json_lines import read_json, read_json_lines

texts = st.text(st.characters(codec="utf-8"), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(texts, part, max_size=3),
    max_leaves=8,
)


@given(rows=st.lists(st.dictionaries(texts, values, max_size=4), max_size=4), ascii_only=st.booleans())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read(rows: list[dict[str, object]], ascii_only: bool, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows), encoding="utf-8")
    assert list(read_json_lines(path, "test")) == list(enumerate(rows, start=1))
    path.write_text(json.dumps(rows, ensure_ascii=ascii_only, indent=1), encoding="utf-8")
    assert read_json(path, "test") == rows


@pytest.mark.parametrize("terminated", [True, False])
def test_only_a_last_line_without_its_end_is_said_to_be_cut_off(terminated: bool, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": ' + (b"\n" if terminated else b""))
    with pytest.raises(CorpusError, match=r"rows\.jsonl:2: is not JSON \(Expecting value, column 7\)") as caught:
        list(read_json_lines(path, "test"))
    assert ("cut off" in str(caught.value)) is not terminated


def test_a_last_line_that_is_whole_needs_no_end(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b'{"a": 1}\n{"a": 2}')
    assert len(list(read_json_lines(tmp_path / "rows.jsonl", "test"))) == 2


def test_an_escaped_pair_of_surrogates_is_one_character_and_half_a_pair_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": "\\ud83d\\ude00"}\n{"b": "\\uD83d"}\n')
    rows = read_json_lines(path, "test")
    assert next(rows) == (1, {"a": "\U0001f600"})
    with pytest.raises(CorpusError, match=r"rows\.jsonl:2, field 'b': holds what JSON or UTF-8 cannot"):
        next(rows)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{\n"a": [1,\n', r"a\.json:3: is not JSON \(.*\); it may be cut off"),
        (b'{"a": NaN}', r"a\.json: holds what JSON or UTF-8 cannot: NaN is not JSON"),
        (b'{"a": 1e999}', r"a\.json: holds what JSON or UTF-8 cannot: 1e999 has no finite value"),
        (b'{"a": 1, "a": 2}', r"a\.json: holds what JSON or UTF-8 cannot: a name stands twice"),
        (b'{"a": "\\uDC00"}', r"a\.json: holds what JSON or UTF-8 cannot: .*surrogates not allowed"),
        (b'\xef\xbb\xbf{"a": 1}', r"a\.json: begins with a byte order mark; save it as UTF-8 without one"),
        (b'{"a": "\xe9"}', r"a\.json: holds what JSON or UTF-8 cannot: .*save it as UTF-8"),
    ],
)
def test_a_file_that_is_not_strict_json_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(data)
    with pytest.raises(CorpusError, match=message):
        read_json(tmp_path / "a.json", "test")
    with pytest.raises(CorpusError, match=r"b\.json: there is no such test file"):
        read_json(tmp_path / "b.json", "test")
