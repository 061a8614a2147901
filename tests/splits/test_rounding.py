"""Controlled rounding, against every table there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splits.rounding import rounded_shares

Table = list[list[int]]


@st.composite
def margins(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Rows, and three columns with the same sum."""
    rows = draw(st.lists(st.integers(0, 9), min_size=1, max_size=4).filter(any))
    one, two = sorted((draw(st.integers(0, sum(rows))), draw(st.integers(0, sum(rows)))))
    return rows, [one, two - one, sum(rows) - two]


def tables(rows: Sequence[int], columns: Sequence[int], fixed: Table, slack: int) -> Iterator[Table]:
    """Every table with these sums that holds the fixed units, no cell more than ``slack`` off its rounded share."""
    total = sum(rows)

    def cells(row: int) -> Iterator[tuple[int, ...]]:
        bounds = []
        for column, size in enumerate(columns):
            low = max(rows[row] * size // total - slack, fixed[row][column])
            high = max(-(-rows[row] * size // total) + slack, fixed[row][column])
            bounds.append(range(low, high + 1))
        return (found for found in product(*bounds) if sum(found) == rows[row])

    for table in product(*(list(cells(row)) for row in range(len(rows)))):
        if [sum(column) for column in zip(*table, strict=True)] == list(columns):
            yield [list(row) for row in table]


@given(margins())
@settings(max_examples=60, deadline=None)
def test_each_cell_is_its_share_rounded_up_or_down_and_all_sums_are_exact(found: tuple[list[int], list[int]]) -> None:
    rows, columns = found
    table = rounded_shares(rows, columns)
    assert [sum(row) for row in table] == rows
    assert [sum(column) for column in zip(*table, strict=True)] == columns
    for units, row in zip(rows, table, strict=True):
        for size, cell in zip(columns, row, strict=True):
            assert units * size // sum(rows) <= cell <= -(-units * size // sum(rows))


@given(found=margins(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_fixed_units_stay_and_nothing_is_further_off_than_it_must_be(
    found: tuple[list[int], list[int]], data: st.DataObject
) -> None:
    rows, columns = found
    fixed = [[0, 0, 0] for _ in rows]
    for row, units in enumerate(rows):
        for column in data.draw(st.lists(st.integers(0, 2), max_size=min(units, 4))):
            if sum(cells[column] for cells in fixed) < columns[column]:
                fixed[row][column] += 1
    table = rounded_shares(rows, columns, fixed)
    off = next(
        slack
        for slack in range(sum(rows) + 1)
        if next((held for held in tables(rows, columns, fixed, slack)), None) is not None
    )
    assert table in list(tables(rows, columns, fixed, off))


def test_rows_that_all_want_the_same_column_make_room_for_each_other() -> None:
    table = rounded_shares([1, 1, 1, 1], [2, 1, 1])
    assert sorted(table) == [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 0]]


def test_margins_that_differ_are_our_own_mistake() -> None:
    with pytest.raises(AssertionError, match="must have one sum"):
        rounded_shares([1, 2], [1, 1, 2])
