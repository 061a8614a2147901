"""What counts as a match: the rounding of printed numbers allows it, and nothing more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.reproduce.figures import (
    Range,
    compare,
    compare_exactly,
    half_unit,
    share_on_grid,
    undetermined,
)
from experiments.reproduce.printed import Printed, Record
from lineage.errors import InputError

values = st.floats(-10, 10)
places = st.integers(0, 6)


def printed(value: Any) -> Record:
    return Record(value, Path("published.json"), ("a", "key"))


@given(value=values, places=places)
def test_a_number_matches_its_own_rounding_and_no_other(value: float, places: int) -> None:
    text = f"{value:.{places}f}"
    assert compare(printed(Printed(text)), Range.exact(value), "", places=places).status == "match"
    for step in (-1, 1):
        other = Printed(f"{float(text) + step * 10**-places * 1.01:.{places + 2}f}")
        assert compare(printed(other), Range.exact(value), "", places=places).status == "differs" or (
            abs(float(other) - value) <= half_unit(places) * 1.0001
        )


@given(value=values, places=places, reach=st.floats(0.001, 1))
def test_a_reach_allows_just_as_much_more(value: float, places: int, reach: float) -> None:
    near, far = (Printed(f"{value + half_unit(places) + reach * share:.12f}") for share in (0.99, 1.01))
    assert compare(printed(near), Range.exact(value), "", places=places, reach=reach).status == "match"
    assert compare(printed(far), Range.exact(value), "", places=places, reach=reach).status == "differs"


def test_a_number_printed_to_few_places_is_a_range() -> None:
    assert Range.of(Printed("0.022")) == Range(0.022 - 0.0005, 0.022 + 0.0005)
    assert Range.of(Printed("0.1"), places=4).meets(Range.exact(0.10004))
    assert not Range.of(Printed("0.1"), places=4).meets(Range.exact(0.1001))
    assert Range.of(Printed("0.1")).meets(Range.exact(0.1001)), "without its lost zeros it says less"


def test_every_number_of_a_list_must_match() -> None:
    record = printed([Printed("0.20"), Printed("0.40")])
    assert compare(record, [Range.exact(0.2), Range.exact(0.404)], "").status == "match"
    found = compare(record, [Range.exact(0.2), Range.exact(0.41)], "how")
    assert (found.status, found.published, found.ours) == ("differs", "[0.20, 0.40]", "[0.200, 0.410]")
    assert found.row()["how"] == "how"
    with pytest.raises(InputError, match=r"key 'a\.key' must be a list of 1 numbers"):
        compare(record, Range.exact(0.2), "")


@pytest.mark.parametrize(
    ("value", "ours", "status"),
    [(3, 3, "match"), (3, 4, "differs"), (False, False, "match"), (False, True, "differs"), ("a", "a", "match")],
)
def test_counts_names_and_decisions_match_exactly(value: Any, ours: Any, status: str) -> None:
    assert compare_exactly(printed(value), ours, "").status == status


def test_a_count_is_no_decision() -> None:
    with pytest.raises(InputError, match="must be true or false, got 0"):
        compare_exactly(printed(0), False, "")


def test_what_is_not_determined_has_a_reason_and_no_number_of_ours() -> None:
    row = undetermined(printed([Printed("0.1"), Printed("0.2")]), "why").row()
    assert row["ours"] is None
    assert (row["published"], row["status"], row["how"]) == ("[0.1, 0.2]", "not determined", "why")


@given(n=st.integers(1, 400), data=st.data())
def test_a_count_is_found_behind_its_printed_rate(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    share = share_on_grid(Printed(f"{k / n:.4f}"), n)
    assert round(share * n) == k
    halves = data.draw(st.integers(0, 2 * n))
    assert round(2 * n * share_on_grid(Printed(f"{halves / (2 * n):.4f}"), n, halves=True)) == halves
