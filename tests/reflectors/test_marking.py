"""The instruction of an answer: whole, marked once, and without the fence around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflectors.marking import BEGIN, END, fenced, read_marked


@given(st.text(), st.text(), st.text())
def test_what_is_marked_once_is_read_and_nothing_around_it(before: str, text: str, after: str) -> None:
    found = read_marked(f"{before}{BEGIN}{text}{END}{after}")
    if not any(mark in part for mark in (BEGIN, END) for part in (before, text, after)):
        assert found.problem == (None if found.instruction else "empty instruction")
        assert found.instruction in text
    else:
        assert found.problem is not None


@given(st.text() | st.text(alphabet="</instruction>`\n a"))
def test_any_answer_is_an_instruction_or_a_problem(text: str) -> None:
    found = read_marked(text)
    assert bool(found.instruction) == (found.problem is None)


@pytest.mark.parametrize(
    ("text", "around"),
    [("```\nA.\n```", True), ("```md\nA.\n```\n", True), ("```\nA.\n```\nB.\n```\nC.\n```", False), ("A.", False)],
)
def test_a_fence_around_the_whole_is_told_from_fences_inside(text: str, around: bool) -> None:
    assert fenced(text) is around
