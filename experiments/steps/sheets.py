"""The tables of a steps evaluation, for the screen and for Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from experiments.judging.sheets import NOTHING, Sheet, interval

Row = Mapping[str, Any]


def report_sheets(report: Row, *, brief: bool = False) -> tuple[Sheet, ...]:
    """The sheets of a report.

    Args:
        report: as in ``steps.json``.
        brief: only those that a screen shows: the verifier's own aggregation, and no reliability bins.
    """
    found: list[Sheet] = [sheet for sheet in (_transfer(report),) if sheet.rows]
    for verifier in report["verifiers"]:
        for source in verifier["sources"]:
            title = f"{verifier['name']} on {source['name']} ({verifier['read']})"
            found += _of_source(title, source, brief=brief)
    return tuple(found)


def _transfer(report: Row) -> Sheet:
    rows = tuple(
        (
            f"{verifier['name']}: {gap['measure']}",
            gap["to"],
            interval(gap["injected"]),
            interval(gap["independent"]),
            interval(gap["gap"], signed=True),
        )
        for verifier in report["verifiers"]
        for gap in verifier["transfer"]
    )
    return Sheet(
        f"transfer from injected to independently made errors, {report['level']:.0%} intervals by group",
        ("verifier and measure", "to", "injected", "independent", "gap"),
        rows,
    )


def _of_source(title: str, source: Row, *, brief: bool) -> Iterator[Sheet]:
    own = source["aggregation"]
    names = [own] if brief else [own, *(name for name in source["aggregations"] if name != own)]
    yield from (
        sheet
        for sheet in (
            _verification(title, source, names),
            _preference(title, source, names),
            _selection(title, source, names),
            _localisation(title, source),
            _calibration(title, source),
            *(() if brief else (_bins(title, source),)),
            _sizes(title, source, names),
        )
        if sheet.rows
    )


def _verification(title: str, source: Row, names: list[str]) -> Sheet:
    rows = []
    for name in names:
        found = source["aggregations"][name]["verification"]
        for label, part in (("all errors", found), *found["by_error"].items()):
            if part["value"] is not None:
                rows.append(
                    (
                        f"{name}, {label}",
                        interval(part),
                        _strict(part),
                        _plain(part["chance"]),
                        f"{part['ties']}",
                        f"{part['left_out']}",
                        _plain(part["worst"]),
                    )
                )
    return Sheet(
        f"{title}: verification accuracy, the clean note among its flawed twins",
        (
            "aggregation, twins",
            "accuracy",
            "alone on top (Wilson)",
            "chance",
            "ties",
            "left out",
            "with those wrong",
        ),
        tuple(rows),
    )


def _preference(title: str, source: Row, names: list[str]) -> Sheet:
    rows = tuple(
        (
            f"{name}, by {part['by']}",
            interval(part),
            _strict(part),
            _plain(part["chance"]),
            NOTHING if part["p"] is None else f"{part['p']:.4f}",
            f"{part['n']}",
            f"{part['ties']}",
            f"{part['left_out']}",
        )
        for name in names
        for part in source["aggregations"][name]["preference"]
        if part["value"] is not None
    )
    return Sheet(
        f"{title}: preference accuracy, ties one half",
        (
            "aggregation, known by",
            "accuracy",
            "better alone (Wilson)",
            "chance",
            "p above chance",
            "pairs",
            "ties",
            "left out",
        ),
        rows,
    )


def _selection(title: str, source: Row, names: list[str]) -> Sheet:
    rows = tuple(
        (
            f"{name}, N = {point['n']}",
            interval(point["verifier"]),
            interval(point["gain"], signed=True),
            _plain(point["drawn"]),
            _plain(point["best"]),
        )
        for name in names
        for point in source["aggregations"][name]["selection"]["points"]
    )
    found = source["aggregations"][names[0]]["selection"]
    return Sheet(
        f"{title}: best of N, {found['quality']} ({found['left_out']} groups with fewer notes left out)",
        ("aggregation", "taken by the verifier", "gain on drawing", "drawn", "best of N"),
        rows,
    )


def _localisation(title: str, source: Row) -> Sheet:
    found = source["localisation"]
    below = f"P(+) < {found['threshold']:g}"
    rows = [
        (f"first bad step ({below}) is the first wrong one", _rate(found["first"]), f"{found['first']['n']} notes"),
        (
            f"lowest step is wrong (drawing one: {_plain(found['lowest_chance'])})",
            interval(found["lowest"]),
            f"{found['lowest']['n']} notes",
        ),
        ("clean note without a bad step", _rate(found["unflagged"]), f"{found['unflagged']['n']} notes"),
    ]
    for part in found["steps"]:
        if part["wrong"]:
            rows += [
                (f"wrong steps below the threshold, {part['kinds']}", _rate(part["recall"]), f"{part['wrong']}"),
                (f"right steps below the threshold, {part['kinds']}", _rate(part["alarms"]), f"{part['right']}"),
                (f"AUC of wrong and right steps, {part['kinds']}", interval(part["auc"]), f"{part['auc']['n']}"),
            ]
    kept = tuple(row for row in rows if row[1] != NOTHING)
    return Sheet(f"{title}: localisation", ("", "share", "of"), kept)


def _calibration(title: str, source: Row) -> Sheet:
    rows = tuple(
        (
            kind,
            _plain(part["ece"]),
            _plain(part["ece_by_chance"]),
            interval(part["brier"]),
            _plain(part["base_rate"]),
            f"{part['n']}",
        )
        for kind, part in source["calibration"].items()
        if part["ece"] is not None
    )
    return Sheet(
        f"{title}: calibration of P(+)",
        ("steps", "ECE", "ECE by chance alone", "Brier score", "share right", "steps with a label"),
        rows,
    )


def _bins(title: str, source: Row) -> Sheet:
    found = source["calibration"]["all steps"]
    rows = tuple(
        (
            f"{each['low']:.1f} to {each['high']:.1f}",
            f"{each['n']}",
            f"{each['mean_probability']:.3f}",
            f"{each['rate']:.3f} [{each['wilson']['low']:.2f}, {each['wilson']['high']:.2f}]",
        )
        for each in found["bins"]
    )
    return Sheet(f"{title}: reliability, {found['method']}", ("P(+)", "steps", "mean P(+)", "right (Wilson)"), rows)


def _sizes(title: str, source: Row, names: list[str]) -> Sheet:
    rows = []
    for name in names:
        for part in source["aggregations"][name]["size"]:
            thirds = ", ".join(f"to {each['at_most']}: {_plain(each['value'])}" for each in part["accuracy"])
            correlations = (interval(part["clean"], signed=True), interval(part["flawed"], signed=True))
            if correlations != (NOTHING, NOTHING) or thirds:
                rows.append((f"{name}, {part['size']}", *correlations, thirds or NOTHING))
    return Sheet(
        f"{title}: dependence of the score on size (rank correlation), and preference accuracy by thirds",
        ("aggregation, size", "clean notes", "flawed notes", "accuracy by size of the clean note"),
        tuple(rows),
    )


def _rate(row: Row) -> str:
    """A share with its interval by group, or with Wilson's of as many groups where all agree."""
    if row["value"] is None or row["low"] is not None or row["wilson"] is None:
        return interval(row)
    return f"{row['value']:.3f} [{row['wilson']['low']:.2f}, {row['wilson']['high']:.2f}] (Wilson of groups)"


def _strict(part: Row) -> str:
    """How often it was strictly so, with Wilson's interval."""
    return f"{part['strictly']}/{part['n']} [{part['wilson']['low']:.2f}, {part['wilson']['high']:.2f}]"


def _plain(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"
