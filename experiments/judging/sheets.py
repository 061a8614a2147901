"""The table of a judging run as sheets of text, for the screen and for Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lineage.records import VOLATILE
from optimize.judging.flags import NO_RULE, NOT_SWEPT

Row = Mapping[str, Any]

NOTHING: Final = "-"
"""What stands where a number has no meaning; the reason is in the JSON form."""
_BY: Final = {"trace": "trace {}", "severity": "{}", "kind": "kind {}"}
"""What the parts of each breakdown are called; trace is of omissions alone."""
_BRIEF: Final = {NO_RULE: "no rule", NOT_SWEPT: "not swept"}


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table of text; the first column names the rows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def sheets(table: Row) -> tuple[Sheet, ...]:
    """The sheets that a screen shows: discrimination, flags, breakdowns, and what was not scored and what it cost."""
    judges = table["judges"]
    return (
        _discrimination(table, judges),
        _flags(table, judges, "own", "what each judge's own rule flags"),
        _flags(table, judges, "swept", f"what a threshold swept for {table['cap']:.0%} of clean documents flags"),
        _breakdown(judges, "paired", "paired discrimination by part of the flawed documents (pairs)"),
        _costs(judges),
    )


def further_sheets(table: Row) -> Iterator[Sheet]:
    """The sheets that the files have besides."""
    judges = table["judges"]
    for source, rule in (("own", "at each judge's own rule"), ("swept", "at the swept threshold")):
        sheet = _breakdown(judges, source, f"detection {rule} by part of the flawed documents (documents)")
        if any(set(row[1:]) != {NOTHING} for row in sheet.rows):
            yield sheet
    beside = [judge for judge in judges if judge["beside"]]
    if beside:
        yield Sheet(
            "named numbers beside the scores, means over what was scored",
            ("judge", "numbers"),
            tuple((judge["name"], ", ".join(f"{k} {v:.3g}" for k, v in judge["beside"].items())) for judge in beside),
        )


def interval(row: Row | None, *, digits: int = 3, signed: bool = False) -> str:
    """A value with its interval by group; nothing where it is undefined."""
    if row is None or row.get("value") is None:
        return NOTHING
    sign = "+" if signed else ""
    value = f"{row['value']:{sign}.{digits}f}"
    return value if row["low"] is None else f"{value} [{row['low']:{sign}.2f}, {row['high']:{sign}.2f}]"


def _discrimination(table: Row, judges: Sequence[Row]) -> Sheet:
    rows = tuple(
        (
            judge["name"],
            interval(judge["paired"]["omission"]),
            interval(judge["paired"]["commission"]),
            _plain(judge["paired_in_common"]["omission"]),
            interval(judge["auc"]["all"]),
            NOTHING if judge["ties"]["value"] is None else f"{judge['ties']['value']:.0%}",
            f"{judge['scored']}/{judge['judgements']}",
        )
        for judge in judges
    )
    common = table["examples"]["scored_by_all"]
    return Sheet(
        f"paired discrimination (0.5 is a coin flip) and AUC, with {table['level']:.0%} intervals by group",
        ("judge", "omissions", "commissions", f"omissions, on {common} that all scored", "AUC", "ties", "scored"),
        rows,
    )


def _flags(table: Row, judges: Sequence[Row], source: str, title: str) -> Sheet:
    clean = table["examples"]["clean"]
    alarms = "false alarms" if not clean["candidates"] else "flags on clean documents"

    def cells(flags: Row) -> tuple[str, ...]:
        if "detection" not in flags:
            reason = str(flags["reason"])
            return (_BRIEF.get(reason, reason), *[NOTHING] * 4)
        labels = flags["by_label"]
        rates = (flags["detection"], labels["omission"], labels["commission"], flags["false_alarms"])
        return (flags["rule"], *(_rate(rate) for rate in rates))

    return Sheet(
        title,
        ("judge", "flags where", "all flaws", "omissions", "commissions", alarms),
        tuple((judge["name"], *cells(judge[source])) for judge in judges),
    )


def _breakdown(judges: Sequence[Row], measure: str, title: str) -> Sheet:
    """One measure by trace, severity and kind; every judge has the same parts, as they are of the examples."""
    parts = [(by, name) for by in _BY for name in judges[0]["parts"][by] if name != "omit"]  # a label by itself
    return Sheet(
        title,
        ("judge", *(_BY[by].format(name) for by, name in parts)),
        tuple(
            (judge["name"], *(_counted(judge["parts"][by][name].get(measure)) for by, name in parts))
            for judge in judges
        ),
    )


def _costs(judges: Sequence[Row]) -> Sheet:
    priced = any(judge["cost"]["alone"]["usd"] for judge in judges)
    return Sheet(
        "what has no score and why, and what judging one document cost",
        (
            "judge",
            "no score",
            "tokens, amortised",
            "tokens, one document per group",
            "tokens once a group",
            "US dollars, amortised",
            "US dollars, one document per group",
            "calls",
            "latency",
        ),
        tuple(
            (
                judge["name"],
                ", ".join(f"{count} {why}" for why, count in judge["unscored"].items()) or "0",
                f"{judge['cost']['amortised']['tokens']:.0f}",
                f"{judge['cost']['alone']['tokens']:.0f}",
                f"{judge['cost']['group']['tokens']:.0f}",
                *(_money(judge["cost"][way]["usd"]) if priced else NOTHING for way in ("amortised", "alone")),
                f"{judge['cost']['amortised']['calls']:.1f}",
                _latency(judge.get(VOLATILE, {}).get("latency", {})),
            )
            for judge in judges
        ),
    )


def _plain(row: Row) -> str:
    return NOTHING if row["value"] is None else f"{row['value']:.3f} ({row['n']})"


def _counted(row: Row | None) -> str:
    return NOTHING if row is None or row["value"] is None else f"{row['value']:.2f} ({row['n']})"


def _rate(row: Row) -> str:
    if row["value"] is None:
        return NOTHING
    ends = "" if row["low"] is None else f" [{row['low']:.2f}, {row['high']:.2f}]"
    return f"{row['value']:.0%} ({row['flagged']}/{row['n']}){ends}"


def _money(value: float | None) -> str:
    return "no price" if value is None else f"{value:.6f}" if value else "0"


def _latency(row: Row) -> str:
    return NOTHING if row.get("median_s") is None else f"{row['median_s']:.2f} s"
