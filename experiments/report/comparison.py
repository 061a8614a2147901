"""The winner beside the baseline, on accept and on held-out data, and word overlap beside both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from experiments.report.arms import Arm
from experiments.report.blocks import Block, Paragraph, Section, Table
from experiments.report.data import ReportData
from experiments.report.wording import (
    TRACES,
    change,
    flags_label,
    measure,
    overlap_finding,
    points,
    share,
    winner_words,
)


def comparison_section(data: ReportData) -> Section:
    """Every measure of both candidates on both splits, as far as they were judged there."""
    verdict = data.verdict
    held = verdict.get("heldout")
    splits = ("accept", "held-out")
    level = held["omissions"]["level"] if held is not None else None
    winner = winner_words(data).capitalize()
    if held is not None:
        arms = [data.on_accept[verdict["baseline"]], data.on_accept[verdict["winner"]], data.baseline, data.winner]
        head = [f"{label}, {split}" for split in splits for label in ("Baseline", winner)]
        head.append(f"Held-out difference, {100 * held['omissions']['level']:g}% interval")
        title = "Winner against baseline"
    elif data.found:
        arms = [data.on_accept[verdict["baseline"]], data.on_accept[verdict["winner"]], data.baseline]
        head = ["Baseline, accept", f"{winner}, accept", "Baseline, held-out"]
        title = "Winner against baseline on accept; held-out data stayed shut for the winner"
    else:
        arms = [data.on_accept[verdict["baseline"]], data.baseline]
        head = [f"Baseline, {split}" for split in splits]
        title = "The baseline, for want of a better candidate"

    def row(name: str, cells: Sequence[str], difference: str) -> tuple[str, ...]:
        return (name, *cells, *([difference] if held is not None else []))

    def measured(name: str, kind: str) -> tuple[str, ...]:
        cells = [measure(arm.measures[kind]) for arm in arms]
        return row(name, cells, change(held[kind], level=level) if held is not None else "")

    def traced(trace: str) -> tuple[str, ...]:
        cells = [measure(arm.measures["by_trace"].get(trace)) for arm in arms]
        return row(f"Omissions, trace {trace}", cells, _by_trace(data, trace) if held is not None else "")

    seen = {trace for arm in arms for trace in arm.measures["by_trace"]}
    thresholds = ["none" if arm.threshold is None else f"{arm.threshold:g}" for arm in arms]
    false_alarms = change(held["false_alarms"], level=level) if held is not None else ""
    rows = (
        measured("Omissions", "omissions"),
        *(traced(trace) for trace in TRACES if trace in seen),
        measured("Commissions", "commissions"),
        row("Flawed documents flagged", [str(arm.detected) for arm in arms], "not tested"),
        row(flags_label(data), [str(arm.false_alarms) for arm in arms], false_alarms),
        row("Flag below", thresholds, "set on accept"),
    )
    parts: list[Block] = [
        Paragraph(
            "Paired discrimination is the share of flawed documents scored strictly below their own clean twin, ties "
            "counting half; 0.5 is a coin flip. Intervals are linear and are not cut off at 0 or 1. Accept is "
            "optimistic for whichever candidate was chosen on it. Sub-groups are tested only after the gate has passed."
        ),
        Table(
            f"{title}. Paired discrimination with 95% intervals by group; flags at each one's own threshold.",
            ("Measure", *head),
            rows,
        ),
        *_overlap(data),
    ]
    if data.drift is not None:
        first, fresh = data.drift.measures["omissions"], data.baseline.measures["omissions"]
        parts.append(
            Paragraph(
                f"Drift: the baseline measured before the search gives {measure(first)} on held-out omissions, "
                f"measured again beside the winner {measure(fresh)}. The comparison uses the second."
            )
        )
    return Section("comparison", "Winner against baseline", tuple(parts))


def _by_trace(data: ReportData, trace: str) -> str:
    for row in data.verdict["subgroups"].get("rows", ()):
        if (row["field"], row["value"]) == ("trace", trace):
            return f"{change(row, level=0)}, adjusted p = {row['adjusted_p']:.3g}"
    return _untested(data.winner, data.baseline, trace)


def _untested(winner: Arm, baseline: Arm, trace: str) -> str:
    ours: dict[str, Any] | None = winner.measures["by_trace"].get(trace)
    theirs: dict[str, Any] | None = baseline.measures["by_trace"].get(trace)
    if ours is None or theirs is None:
        return "no pairs in both"
    return f"{points(ours['value'] - theirs['value'])} points, not tested"


def _overlap(data: ReportData) -> Iterator[Block]:
    if data.overlap is None:
        yield Paragraph("Word overlap was not measured: the held-out groups have no fact list.")
        return
    arms = (data.winner, data.baseline) if data.confirmed else (data.baseline,)
    plain = {"all": data.overlap["all"], **data.overlap["by_trace"]}
    yield Paragraph(overlap_finding(data))
    yield Table(
        "Plain word overlap between the supplied facts and the document, beside the student; held-out omissions.",
        ("Omissions", "Word overlap", *([winner_words(data).capitalize()] if data.confirmed else []), "Baseline"),
        tuple(
            (
                name,
                "no pairs" if row["value"] is None else f"{share(row['value'])}, n = {row['pairs']}",
                *(
                    measure(arm.measures["omissions"] if name == "all" else arm.measures["by_trace"].get(name))
                    for arm in arms
                ),
            )
            for name, row in ((name, plain[name]) for name in ("all", *TRACES) if name in plain)
        ),
    )
