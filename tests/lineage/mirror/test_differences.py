"""Differences word by word."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from lineage.mirror.differences import differences

TEXTS = st.lists(st.sampled_from(["one", "two", "three", " ", "\n", "é."])).map("".join)


def side(shown: str, *, kept: str, dropped: str) -> str:
    """One of both texts, read from their difference."""
    body = shown.removeprefix("## text\n")[:-1]
    return re.sub(kept, r"\1", re.sub(dropped, "", body, flags=re.DOTALL), flags=re.DOTALL)


@given(before=TEXTS, after=TEXTS)
def test_both_texts_can_be_read_from_their_difference(before: str, after: str) -> None:
    shown = differences({"text": before}, {"text": after})
    if before == after:
        assert shown == "nothing is different\n"
        return
    removed, added = r"\[-(.*?)-\]", r"\{\+(.*?)\+\}"
    assert side(shown, kept=removed, dropped=added) == before
    assert side(shown, kept=added, dropped=removed) == after


def test_only_the_texts_that_differ_are_shown() -> None:
    assert differences({"a": "x", "b": "y z"}, {"a": "x", "b": "y w", "c": "new"}) == (
        "## b\ny [-z-]{+w+}\n\n## c\n{+new+}\n"
    )
