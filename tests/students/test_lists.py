"""Reading lists: items, and nothing that may not be one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from students.lists import parse_list
from students.parsing import Abstained, Unread

WORDS = st.from_regex(r"[a-z]{2,8}( [a-z]{2,8}){0,4}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("1. Cough for two weeks.\n2. No fever.", ("Cough for two weeks.", "No fever.")),
        ("1) a\n\n(2) b\n3: c", ("a", "b", "c")),
        ("- a\n* b\n\u2022 c", ("a", "b", "c")),
        ("Here are the items:\n1. a\n2. b", ("a", "b")),
        ("**Items**\n1. a", ("a",)),
        ("## Items\n1. a\n---\n2. b", ("a", "b")),
        ('["a", "b"]', ("a", "b")),
        ('```json\n["a", "b"]\n```', ("a", "b")),
        ("1. Takes 1.5 mg  daily", ("Takes 1.5 mg daily",)),
        ("1. No fever.\n2. no  fever\n3. NO FEVER", ("No fever.",)),
        ("1. a\n2. b\n1. c", ("a", "b", "c")),
        ("NONE", ()),
        ("- none.", ()),
    ],
)
def test_items_are_read_in_order_and_once(text: str, items: tuple[str, ...]) -> None:
    assert parse_list(text, most=10) == items


@pytest.mark.parametrize(
    "text",
    [
        "1. a\nand another thing",
        "I cannot find any statement.",
        "1.5 mg given daily",
        '["a", 1]',
        '["a", ',
        '{"a": 1}',
        "[]",
        "Items:",
        "[" * 100_000,
    ],
)
def test_what_may_be_an_item_or_a_remark_is_not_read(text: str) -> None:
    found = parse_list(text, most=10)
    assert isinstance(found, Unread)
    assert found.reason == "unparseable"
    assert len(found.seen) <= 200


def test_nothing_is_empty_and_an_abstention_is_none() -> None:
    assert parse_list(None, most=1) == parse_list(" \n", most=1) == Unread("empty", "")
    assert isinstance(parse_list("ABSTAIN", most=1), Abstained)


@given(st.lists(WORDS, min_size=1, max_size=12, unique=True), st.integers(1, 12))
def test_numbered_lines_and_json_are_read_alike_and_the_first_are_kept(items: list[str], most: int) -> None:
    numbered = "\n".join(f"{number}. {item}" for number, item in enumerate(items, start=1))
    assert parse_list(numbered, most=most) == parse_list(json.dumps(items), most=most) == tuple(items[:most])
