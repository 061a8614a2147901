"""Quotes: what counts as verbatim, and reading a quote a key."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from students.keyed import Keyed
from students.parsing import Unread
from students.pipeline import parse_quotes, stands_in

NOTE = "HISTORY\nSore throat,  three days.\nManaging to drink water and squash."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("Managing to drink water", True),
        ("managing TO drink WATER", True),
        ("Sore throat, three\ndays", True),
        ('"Sore throat, three days."', True),
        ("\u201cthree days\u201d", True),
        ("Sore throat three days", False),
        ("able to drink water", False),
        ("squash.", False),  # seven characters prove nothing
        ("squash. ", False),
        ("", False),
    ],
)
def test_a_quote_may_differ_by_case_and_white_space_and_by_nothing_else(quote: str, found: bool) -> None:
    assert stands_in(quote, NOTE) is found


@given(st.text(), st.integers(0, 40), st.integers(8, 20))
def test_every_run_of_eight_characters_of_a_text_stands_in_it(text: str, start: int, length: int) -> None:
    run = " ".join(text[start : start + length].split())
    if len(run.casefold().strip("\"'`*\u201c\u201d\u2018\u2019 ")) >= 8:
        assert stands_in(run, text)


@pytest.mark.parametrize(
    "text",
    [
        'f1: "drink water"\nf2: NONE',
        "F1: drink water\nf2: none.",
        '- **f1**: "drink water"\n- **f2**: absent',
        '{"f1": "drink water", "f2": null}',
        '```json\n{"f1": "drink water", "f2": ""}\n```',
    ],
)
def test_a_quote_and_its_absence_are_read_from_lines_and_json(text: str) -> None:
    assert parse_quotes(text, ("f1", "f2")) == Keyed({"f1": "drink water", "f2": ""}, ())


def test_a_key_that_is_left_out_is_missing_and_not_absent() -> None:
    assert parse_quotes("f2: NONE", ("f1", "f2")) == Keyed({"f2": ""}, ("f1",))


@pytest.mark.parametrize(
    "text", ["f9: x", 'f1: "a"\nf1: "b"', "nothing here", '{"f1": 3}', '{"f1": "a", "f1": "b"}', "{", '["f1"]']
)
def test_what_is_not_clear_is_not_read(text: str) -> None:
    found = parse_quotes(text, ("f1", "f2"))
    assert isinstance(found, Unread)
    assert found.reason == "unparseable"


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_an_empty_answer_is_empty(text: str | None) -> None:
    assert parse_quotes(text, ("f1",)) == Unread("empty", "")


@given(st.dictionaries(st.sampled_from(["f1", "f2", "f3"]), st.none() | st.just("some words"), min_size=1))
def test_json_is_read_as_it_was_written(said: dict[str, str | None]) -> None:
    found = parse_quotes(json.dumps(said), ("f1", "f2", "f3"))
    assert isinstance(found, Keyed)
    assert found.found == {key: value or "" for key, value in said.items()}
