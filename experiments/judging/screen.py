"""A judging run on the screen: its progress, its table, and the comparison of two judges."""

from __future__ import annotations

import time
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from experiments.judging.sheets import NOTHING, Row, Sheet, sheets
from students import Progress

QUIET_S: Final = 20.0
"""Seconds between lines where the output is not a terminal."""
_PAIRS: Final = (("omission", "omissions"), ("commission", "commissions"))


class JudgingView:
    """Follows a judging run: one status line on a terminal, and otherwise a line now and then."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = console.status("reading the ledger") if console.is_terminal else None
        self._turn, self._last = "", time.monotonic()
        if self._status is not None:
            self._status.start()

    def judge(self, name: str, number: int, of: int) -> None:
        """A judge's turn begins."""
        self._turn = f"{name} ({number} of {of})"
        if self._status is not None:
            self._status.update(self._turn)
        else:
            say(self._console, self._turn)

    def judged(self, progress: Progress) -> None:
        """It has come further."""
        line = (
            f"{self._turn} · judged {progress.done} of {progress.of} · {progress.paid} calls paid, "
            f"{progress.cached} cached"
        )
        if self._status is not None:
            self._status.update(line)
        elif time.monotonic() - self._last > QUIET_S:
            self._last = time.monotonic()
            say(self._console, f"  {line}")

    def close(self) -> None:
        """Take the status line away."""
        if self._status is not None:
            self._status.stop()


def show_table(console: Console, table: Row) -> None:
    """Print the table and what it says of itself."""
    for sheet in sheets(table):
        console.print()
        show_sheet(console, sheet, brief=True)
    console.print()
    for words in table["words"]:
        say(console, words)


def show_sheet(console: Console, sheet: Sheet, *, brief: bool = False) -> None:
    """Print one sheet; with ``brief`` columns in which every row says nothing are left out."""
    shown = [
        place
        for place in range(len(sheet.columns))
        if not brief or place == 0 or any(row[place] not in (NOTHING, "") for row in sheet.rows)
    ]
    table = Table(title=sheet.title, title_justify="left")
    for place in shown:
        table.add_column(sheet.columns[place], justify="right" if place else "left", overflow="fold", no_wrap=not place)
    for row in sheet.rows:
        table.add_row(*(row[place] for place in shown))
    console.print(table, highlight=False)


def show_comparison(console: Console, found: Row) -> None:
    """Print the comparison of two judges."""
    a, b = found["a"], found["b"]
    say(console, f"A = {a['judge']} ({a['run']})")
    say(console, f"B = {b['judge']} ({b['run']})")
    show_sheet(console, _paired_sheet(found))
    flags = found["flags"]
    if not flags["reason"]:
        show_sheet(console, _flag_sheet(flags))
        show_sheet(console, _overlap_sheet(flags))
    if found["union"] is not None:
        for sheet in _union_sheets(found["union"], found["examples"]["clean"]):
            show_sheet(console, sheet)
    for words in found["words"]:
        say(console, words)


def say(console: Console, line: str) -> None:
    """One line, as it is."""
    console.print(line, highlight=False, soft_wrap=True, markup=False)


def _paired_sheet(found: Row) -> Sheet:
    rows = []
    for label, name in _PAIRS:
        row = found["paired"][label]
        if row["difference"] is None:
            rows.append((name, *[NOTHING] * 5, f"{row['pairs']}", NOTHING))
            continue
        counts = f"{row['a_better']}/{row['level_pairs']}/{row['b_better']}"
        p = f"{row['sign_flip_p']:.4f}"
        rows.append(
            (
                name,
                _number(row["a"]),
                _number(row["b"]),
                _difference(row),
                counts,
                p,
                f"{row['pairs']}",
                f"{row['groups']}",
            )
        )
    return Sheet(
        f"paired discrimination, A less B, with {found['level']:.0%} intervals by group",
        ("", "A", "B", "difference", "A better / level / B better", "sign-flip p", "pairs", "groups"),
        tuple(rows),
    )


def _flag_sheet(flags: Row) -> Sheet:
    how = "each one's own rule" if flags["by"] == "own" else "swept thresholds"
    rows = []
    for name in ("flawed", "clean"):
        row = flags[name]
        tests = [NOTHING if row[p] is None else f"{row[p]:.4f}" for p in ("sign_flip_p", "mcnemar_p", "mid_p")]
        rows.append((name, _number(row["a"]), _number(row["b"]), _difference(row), *tests))
    return Sheet(
        f"share flagged by {how}: A {flags['a_rule']}, B {flags['b_rule']}",
        ("", "A", "B", "difference", "sign-flip p (groups)", "McNemar p", "mid-p"),
        tuple(rows),
    )


def _overlap_sheet(flags: Row) -> Sheet:
    names = ("documents", "both", "only_a", "only_b", "neither", "undecided")
    rows = [(name, *(f"{row[key]}" for key in names)) for name, row in flags["overlap"].items()]
    return Sheet(
        "overlap of what they flag",
        ("", "documents", "both", "only A", "only B", "neither", "undecided"),
        tuple(rows),
    )


def _union_sheets(union: Row, clean: Row) -> tuple[Sheet, ...]:
    cost = union["cost"]
    costs = Sheet(
        "cost of one document, amortised",
        ("", "tokens", "US dollars"),
        tuple(
            (name, f"{row['tokens']:.0f}", "no price" if row["usd"] is None else f"{row['usd']:.6f}")
            for name, row in (("A", cost["a"]["amortised"]), ("B", cost["b"]["amortised"]), ("both", cost["amortised"]))
        ),
    )
    if union["reason"]:
        return (costs,)
    alarms = "flags on clean documents" if clean["candidates"] else "false alarms"
    rates = Sheet(
        "running both: flagged if either flags, on the documents that both decide",
        ("", "detection", "of omissions", "of commissions", alarms),
        tuple(
            (
                name,
                *(
                    _rate(row)
                    for row in (
                        union[key]["detection"],
                        union[key]["by_label"]["omission"],
                        union[key]["by_label"]["commission"],
                        union[key]["false_alarms"],
                    )
                ),
            )
            for name, key in (("A", "a"), ("B", "b"), ("either", "either"))
        ),
    )
    return (rates, costs)


def _number(value: Any) -> str:
    return NOTHING if value is None else f"{value:.3f}"


def _difference(row: Row) -> str:
    if row["difference"] is None:
        return NOTHING
    ends = "" if row["low"] is None else f" [{row['low']:+.3f}, {row['high']:+.3f}]"
    return f"{row['difference']:+.3f}{ends}"


def _rate(row: Row) -> str:
    if row["value"] is None:
        return NOTHING
    ends = "" if row["low"] is None else f" [{row['low']:.2f}, {row['high']:.2f}]"
    return f"{row['value']:.0%} ({row['flagged']}/{row['n']}){ends}"
