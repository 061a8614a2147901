"""Granularity: presets, kinds joined by a plus, and what is refused."""

from __future__ import annotations

import pytest

from lineage.errors import InputError
from splits.steps import PRESETS, Granularity


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_preset_is_had_by_its_name_and_says_it(name: str) -> None:
    assert str(Granularity.of(name)) == name


def test_kinds_are_joined_in_one_order_and_the_end_is_always_there() -> None:
    found = Granularity.of("note-complete+sentence")
    assert str(found) == "sentence", "which is the preset of these kinds"
    assert str(Granularity.of("end+problem-complete")) == "problem-complete+end"
    assert "end" in Granularity.of("sentence")


@pytest.mark.parametrize(
    ("name", "said"),
    [("fien", "did you mean 'fine'"), ("sentense+end", "did you mean 'sentence'"), ("", "one of fine")],
)
def test_what_is_neither_is_refused(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Granularity.of(name)


def test_a_granularity_without_the_end_is_refused() -> None:
    with pytest.raises(InputError, match="must hold 'end'"):
        Granularity(frozenset({"sentence"}))
