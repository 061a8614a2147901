"""Controlled rounding: whole numbers for a table of proportional shares, with exact sums in both directions."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence


def rounded_shares(
    rows: Sequence[int], columns: Sequence[int], fixed: Sequence[Sequence[int]] | None = None
) -> list[list[int]]:
    """Round ``row * column / total`` so that each cell is rounded up or down and all sums stay exact.

    Cells start rounded down. Each row then gives its missing units to cells with a remainder, the largest first; where
    a column is full already, units given before make room along an augmenting path. As the unrounded table has the
    same margins, there always is one (Cox 1987 on controlled rounding).

    ``fixed`` units are in their cells already, and no cell gets below them. Where no table of rounded shares holds
    them, every cell may lie one unit further off its share, then two, and so on, until one does.

    Args:
        rows: units of each row.
        columns: units of each column; they add up to those of the rows.
        fixed: units of each cell that are placed already, in sum at most those of each row and column; none by default.

    Returns:
        Units of each cell, the fixed ones among them.
    """
    if sum(rows) != sum(columns):
        raise AssertionError(f"rows {list(rows)} and columns {list(columns)} must have one sum")
    held = [[0] * len(columns) for _ in rows] if fixed is None else [list(row) for row in fixed]
    for slack in range(max([*rows, 0]) + 1):
        if (table := _Table(rows, columns, held, slack).filled()) is not None:
            return table
    raise AssertionError(f"no rounding of {list(rows)} over {list(columns)} that holds {held}")


class _Table:
    """Cells between a lowest and a highest number of units, filled row by row along augmenting paths."""

    def __init__(self, rows: Sequence[int], columns: Sequence[int], held: Sequence[Sequence[int]], slack: int) -> None:
        total = max(sum(rows), 1)
        self._rows = rows
        self._order: list[list[int]] = []
        self._low: list[list[int]] = []
        self._room: list[list[int]] = []
        for row, units in enumerate(rows):
            floors = [units * column // total for column in columns]
            remainders = [units * column % total for column in columns]
            low = [max(floor - slack, mine) for floor, mine in zip(floors, held[row], strict=True)]
            high = [floor + (remainder > 0) + slack for floor, remainder in zip(floors, remainders, strict=True)]
            self._low.append(low)
            self._room.append([max(top - bottom, 0) for top, bottom in zip(high, low, strict=True)])
            self._order.append(sorted(range(len(columns)), key=lambda column: (-remainders[column], column)))
        self._open = [column - sum(low[index] for low in self._low) for index, column in enumerate(columns)]
        self._given = [[0] * len(columns) for _ in rows]
        self._givers: list[list[int]] = [[] for _ in columns]

    def filled(self) -> list[list[int]] | None:
        """The filled table, or None where these bounds allow none."""
        missing = [units - sum(low) for units, low in zip(self._rows, self._low, strict=True)]
        if min([*missing, *self._open, 0]) < 0:
            return None
        for row, units in enumerate(missing):
            for _ in range(units):
                if not self._give(row, set()):
                    return None
        cells = zip(self._low, self._given, strict=True)
        return [[least + more for least, more in zip(low, given, strict=True)] for low, given in cells]

    def _give(self, row: int, tried: set[int]) -> bool:
        """Give one unit of a row to a column, moving other rows' units where that makes room."""
        for column in self._order[row]:
            if self._given[row][column] >= self._room[row][column] or column in tried:
                continue
            tried.add(column)
            if self._open[column]:
                self._open[column] -= 1
                self._put(row, column)
                return True
            for other in list(self._givers[column]):
                if other == row:
                    continue
                self._take(other, column)
                if self._give(other, tried):
                    self._put(row, column)
                    return True
                self._put(other, column)
        return False

    def _put(self, row: int, column: int) -> None:
        if not self._given[row][column]:
            insort(self._givers[column], row)
        self._given[row][column] += 1

    def _take(self, row: int, column: int) -> None:
        self._given[row][column] -= 1
        if not self._given[row][column]:
            self._givers[column].pop(bisect_left(self._givers[column], row))
