"""Numbers that know how they were printed, and files that name what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.reproduce.printed import Printed, Record, read_lines, read_record
from lineage.errors import InputError


@given(digits=st.integers(-(10**9), 10**9), places=st.integers(1, 8))
def test_a_number_knows_its_places(digits: int, places: int) -> None:
    text = f"{digits / 10**places:.{places}f}"
    assert Printed(text).places == places
    assert float(Printed(text)) == float(text)


@pytest.mark.parametrize(("text", "places"), [("1.0", 1), ("12", 0), ("1e-3", 3), ("2.5E2", 0)])
def test_places_of_other_notations(text: str, places: int) -> None:
    assert Printed(text).places == places


def record(tmp_path: Path, text: str) -> Record:
    file = tmp_path / "published.json"
    file.write_text(text, encoding="utf-8")
    return read_record(file)


def test_a_missing_key_is_named_with_its_file_and_place(tmp_path: Path) -> None:
    found = record(tmp_path, '{"a": {"b": {"c": 1}}}')
    with pytest.raises(InputError, match=r"published\.json: key 'a\.b\.d' is missing; copy the published file again"):
        found["a"]["b"]["d"]


@pytest.mark.parametrize(
    ("text", "read", "message"),
    [
        ('{"a": "x"}', "number", "key 'a' must be a number, got \"x\""),
        ('{"a": true}', "number", "key 'a' must be a number, got true"),
        ('{"a": 0.50}', "count", "key 'a' must be a whole number of at least 0, got 0.50"),
        ('{"a": -1}', "count", "key 'a' must be a whole number of at least 0, got -1"),
        ('{"a": 1}', "truth", "key 'a' must be true or false, got 1"),
        ('{"a": 1}', "text", "key 'a' must be a text, got 1"),
        ('{"a": 1}', "items", "key 'a' must be a list, got 1"),
        ('{"a": [1.0]}', "pair", "key 'a' must be a list of two numbers"),
        ('{"a": 1}', "keys", "key 'a' must be a mapping, got 1"),
    ],
)
def test_an_altered_value_is_named_with_its_file_and_place(tmp_path: Path, text: str, read: str, message: str) -> None:
    found = record(tmp_path, text)["a"]
    with pytest.raises(InputError, match=rf"published\.json: {message}"):
        getattr(found, read)


@pytest.mark.parametrize("text", ["{", "[1]", '{"a": NaN}', '{"a": Infinity}'])
def test_a_file_that_is_no_json_mapping_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"published\.json: (not JSON|must be one JSON mapping)"):
        record(tmp_path, text)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(InputError, match=r"nowhere\.json: there is no such file; --data names the directory"):
        read_record(Path("nowhere.json"))


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text('{"a": 1}\n{"a": \n', encoding="utf-8")
    with pytest.raises(InputError, match=r"lines\.jsonl:2: not JSON"):
        read_lines(file)
    file.write_text('{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")
    assert [line["a"].count for line in read_lines(file)] == [1, 2]


def test_leaves_are_numbers_truths_and_lists_of_numbers(tmp_path: Path) -> None:
    found = record(tmp_path, '{"a": {"b": 1.5, "c": "words"}, "d": [1, 2], "e": ["x"], "f": false}')
    assert [leaf.key for leaf in found.leaves()] == ["a.b", "d", "f"]
